/** `weir model import` with a list in the shape of models.dev's api.json. */
import { describe, expect, test } from "bun:test";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../../scripts/weir/run.ts";
import { readCatalog } from "../../../src/gateway/models/catalog.ts";
import type { ModelEntry } from "../../../src/gateway/models/schema.ts";
import { stubModel, stubProvider, writeCatalog } from "../../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const priced = { cost: { input: 1, output: 2 } };

function listedModel(id: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id,
    name: `Listed ${id}`,
    attachment: false,
    reasoning: false,
    tool_call: true,
    structured_output: true,
    release_date: "2026-05-04",
    last_updated: "2026-05-04",
    open_weights: false,
    modalities: { input: ["text"], output: ["text"] },
    limit: { context: 200_000, output: 8_192 },
    ...priced,
    ...changes,
  };
}

function listOf(models: Record<string, unknown>[], provider = "stub-dev"): Record<string, unknown> {
  const byId = Object.fromEntries(models.map((model) => [model["id"], model]));
  return {
    [provider]: {
      id: provider,
      name: "Stub",
      npm: "@ai-sdk/openai",
      env: ["STUB_API_KEY"],
      doc: "https://stub.test",
      models: byId,
    },
  };
}

const provider = stubProvider({ models_dev: "stub-dev", terms_checked: true });
const other = stubProvider({ id: "other", name: "Other" });
const kept = stubModel({ source: "https://a.test/1", checked_with: "https://b.test/2" });
const routed = stubModel({
  id: "owner/routed",
  routes: [
    { provider: "stub", upstream_model: "r", prices_per_1m_usd: { input: "3.00", output: "4.00" } },
    { provider: "other", upstream_model: "r", prices_per_1m_usd: { input: "3.00", output: "4.00" } },
  ],
});

interface Imported {
  code: number;
  answer: Record<string, unknown>;
  error: string;
  models: ModelEntry[];
  files: string[];
}

async function importList(
  list: unknown,
  { words = [] as string[], models = [kept, routed] }: { words?: string[]; models?: ModelEntry[] } = {},
): Promise<Imported> {
  await using temporary = await temporaryFolder();
  const folder = join(temporary.path, "catalog");
  await writeCatalog(folder, { providers: [provider, other], models: { stub: models } });
  const path = join(temporary.path, "api.json");
  await writeFile(path, typeof list === "string" ? list : JSON.stringify(list));
  const said = { out: "", error: "" };
  const terminal = { out: (text: string) => void (said.out += text), error: (text: string) => void (said.error += text) };
  const service = () => {
    throw new Error("A service is asked");
  };
  const code = await run(
    ["model", "import", path, ...words, "--json"],
    { service, files: () => ({ catalogDir: folder }) },
    terminal,
  );
  const files = await readdir(join(folder, "models"));
  const text = files.includes("stub.json") ? await readFile(join(folder, "models", "stub.json"), "utf8") : "[]";
  expect(JSON.parse(await readFile(join(folder, "providers.json"), "utf8"))).toEqual([provider, other]);
  if (code === 0) await readCatalog(folder, { sandbox: false });
  return { code, answer: said.out === "" ? {} : JSON.parse(said.out), error: said.error, models: JSON.parse(text), files };
}

const unchanged = [listedModel("stub-model"), listedModel("r", { cost: { input: 3, output: 4 } })];

describe("weir model import", () => {
  test("a list with the same prices changes nothing", async () => {
    const { answer } = await importList(listOf(unchanged));
    expect(answer).toMatchObject({ ok: true, written: false, added: 0, price_changed: 0, gone: 0, changes: [] });
    expect(answer).toMatchObject({ not_listed: ["other"], unknown_providers: 0, same_weights: 0, unusable: 0 });
  });

  test("an added model is printed, and written only with --write, with conservative words and its source", async () => {
    const added = listedModel("Owner/New-Model", {
      reasoning: true,
      temperature: false,
      limit: { context: 1_000, output: 1_000 },
      cost: {
        input: 0.0375,
        output: 2.5,
        cache_read: 0.01,
        tiers: [{ input: 0.075, output: 5, tier: { type: "context", size: 200 } }],
      },
    });
    const list = listOf([...unchanged, added]);
    const printed = await importList(list);
    expect(printed.answer).toMatchObject({
      added: 1,
      written: false,
      changes: [{ kind: "added", id: "owner/new-model", file: "models/stub.json" }],
    });
    expect(printed.models).toEqual([kept, routed]);
    const { models, files } = await importList(list, { words: ["--write"] });
    expect(files).toEqual(["stub.json"]);
    expect(models.slice(0, 2)).toEqual([kept, routed]);
    expect(models.at(2)).toMatchObject({
      id: "owner/new-model",
      upstream_model: "Owner/New-Model",
      context_length: 1_000,
      // A bound of the whole context would be refused with any prompt.
      max_output_tokens: 500,
      prices_per_1m_usd: { input: "0.0375", output: "2.50", cache_read: "0.01" },
      tiers: [{ above_input_tokens: 200, input: "0.075", output: "5.00" }],
      supports: ["tools", "json_object", "json_schema"],
      reasons: true,
      default_only: ["temperature", "top_p"],
      released: "2026-05-04",
      source: "https://models.dev/api.json",
      note: expect.stringContaining("only models.dev prices it"),
      seen: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    });
  });

  test("a changed price replaces the price of its route alone, and the second source of the old price goes", async () => {
    const list = listOf([
      listedModel("stub-model", { cost: { input: 1.5, output: 2 } }),
      listedModel("r", { cost: { input: 3, output: 5 } }),
    ]);
    const { answer, models } = await importList(list, { words: ["--write"] });
    expect(answer).toMatchObject({ price_changed: 2, written: true });
    expect(models[0]).toMatchObject({
      prices_per_1m_usd: { input: "1.50", output: "2.00" },
      source: "https://models.dev/api.json",
    });
    expect(models[0]).not.toHaveProperty("checked_with");
    expect(models[0]?.note).toContain("before: 1.00 and 2.00");
    expect(models[1]?.routes?.map((route) => route.prices_per_1m_usd?.output)).toEqual(["5.00", "4.00"]);
  });

  test("a model that is gone or deprecated loses its route, and an entry without a route goes", async () => {
    const list = listOf([listedModel("r", { cost: { input: 3, output: 4 }, status: "deprecated" })]);
    const { answer, models } = await importList(list, { words: ["--write"] });
    expect(answer["changes"]).toMatchObject([
      { kind: "gone", id: "stub/model", change: "not listed" },
      { kind: "gone", id: "owner/routed", change: "deprecated" },
    ]);
    expect(models.map(({ id, routes }) => [id, routes?.map((route) => route.provider)])).toEqual([["owner/routed", ["other"]]]);
  });

  test("the other names of a model take its new price with it, also those that the list does not have", async () => {
    const names = [
      kept,
      stubModel({ id: "stub/model-20261001", upstream_model: "stub-model-20261001" }),
      stubModel({ id: "stub/newest", upstream_model: "stub-newest", alias_of: "stub/model" }),
      stubModel({ id: "stub/model-20260901", upstream_model: "stub-model-20260901", alias_of: null }),
      routed,
    ];
    const list = listOf([listedModel("stub-newest", { cost: { input: 1.5, output: 2 } })]);
    const { code, models } = await importList(list, { words: ["--changes", "price_changed", "--write"], models: names });
    expect(code).toBe(0);
    expect(models.map(({ id, prices_per_1m_usd }) => [id, prices_per_1m_usd?.input])).toEqual([
      ["stub/model", "1.50"],
      ["stub/model-20261001", "1.50"],
      ["stub/newest", "1.50"],
      ["stub/model-20260901", "1.00"],
      ["owner/routed", undefined],
    ]);
    expect(models[1]).toMatchObject({ source: "https://models.dev/api.json", note: expect.stringContaining("before: 1.00") });
  });

  test("a name whose model is gone stands for itself", async () => {
    const newest = stubModel({ id: "stub/newest", upstream_model: "stub-newest" });
    const names = [kept, { ...newest, alias_of: "stub/model" }];
    const { code, models } = await importList(listOf([listedModel("stub-newest")]), { words: ["--write"], models: names });
    expect([code, models]).toEqual([0, [newest]]);
  });

  test("a provider that the list does not have loses nothing, and an unknown provider adds nothing", async () => {
    const { answer, models } = await importList(listOf([listedModel("m")], "another"), { words: ["--write"] });
    expect(answer).toMatchObject({ added: 0, gone: 0, unknown_providers: 1, not_listed: ["stub", "other"] });
    expect(models).toEqual([kept, routed]);
  });

  test("the same weights under another provider, embeddings, free models and models without bounds are counted, not added", async () => {
    const list = listOf([
      ...unchanged,
      listedModel("owner/routed"),
      listedModel("text-embedding-x"),
      listedModel("free", { cost: { input: 0, output: 0 } }),
      listedModel("endless", { limit: { context: 1_000, output: 0 } }),
      { id: "broken" },
    ]);
    expect((await importList(list)).answer).toMatchObject({ added: 0, same_weights: 1, unusable: 4 });
  });

  test("--provider and --changes narrow the import", async () => {
    const list = listOf([listedModel("stub-model", { cost: { input: 9, output: 9 } }), listedModel("new")]);
    const { answer } = await importList(list, { words: ["--changes", "price_changed"] });
    expect(answer).toMatchObject({ added: 0, price_changed: 1, gone: 0 });
    expect((await importList(list, { words: ["--provider", "other"] })).answer).toMatchObject({
      not_listed: ["other"],
      changes: [],
    });
  });

  test("a price above a tier's bound that changes nothing is no tier", async () => {
    const same = {
      input: 1,
      output: 2,
      tiers: [{ input: 1, output: 2, tier: { size: 9 } }],
      context_over_200k: { input: 7, output: 7 },
    };
    expect(
      (await importList(listOf([listedModel("stub-model", { cost: same }), ...unchanged.slice(1)]))).answer["changes"],
    ).toEqual([]);
  });

  test.each([
    ["no JSON", "{", "Cannot read"],
    ["a list", [], "not an object of providers"],
    ["a provider without models", { stub: {} }, 'provider "stub" has no object "models"'],
  ])("%s is refused by name, and nothing is written", async (_, list, message) => {
    const { code, error, models } = await importList(list, { words: ["--write"] });
    expect(code).toBe(1);
    expect(error).toContain(message);
    expect(models).toEqual([kept, routed]);
  });

  test("an unknown provider and a catalog with problems are refused", async () => {
    expect((await importList(listOf([]), { words: ["--provider", "nobody"] })).error).toContain('There is no provider "nobody"');
    const broken = stubModel({ supports: ["flying"] });
    const { code, error } = await importList(listOf(unchanged), { models: [broken] });
    expect([code, error]).toEqual([
      1,
      expect.stringContaining('models/stub.json: stub/model: supports: "flying" opens no field'),
    ]);
  });
});
