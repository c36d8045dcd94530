/** `weir catalog check` for providers and models: every problem by file, id and field, and the counts. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { run } from "../../../scripts/weir/run.ts";
import { catalogWords } from "../../../src/gateway/api/request/requested-model.ts";
import { judgeModels, formatModelProblem } from "../../../src/gateway/models/catalog-check.ts";
import { modelTallyOf } from "../../../src/gateway/models/catalog-tally.ts";
import { readCatalogFiles } from "../../../src/gateway/models/catalog.ts";
import type { ModelEntry } from "../../../src/gateway/models/schema.ts";
import { repository } from "../../support/processes/process.ts";
import { stubModel, stubProvider, writeCatalog, type CatalogContents } from "../../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const providers = [stubProvider()];

async function problemsOf(contents: CatalogContents): Promise<string[]> {
  await using temporary = await temporaryFolder();
  const { problems } = judgeModels(await readCatalogFiles(await writeCatalog(temporary.path, contents)), catalogWords);
  return problems.map(formatModelProblem);
}

async function weirCheck(catalogDir: string): Promise<{ code: number; answer: Record<string, unknown>; error: string }> {
  const said = { out: "", error: "" };
  const terminal = { out: (text: string) => void (said.out += text), error: (text: string) => void (said.error += `${text}\n`) };
  const service = () => {
    throw new Error("A service is asked");
  };
  const code = await run(["catalog", "check", "--json"], { service, files: () => ({ catalogDir }) }, terminal);
  return { code, answer: JSON.parse(said.out), error: said.error };
}

describe("the check of models", () => {
  test("a catalog without a mistake has no problem", async () => {
    expect(await problemsOf({ providers, models: { stub: [stubModel()] } })).toEqual([]);
  });

  test("every problem of every file is listed, with file, id and field", async () => {
    const colour: object = { colour: "red" };
    const models = {
      stub: [
        stubModel({ prices_per_1m_usd: { input: "free", output: "1.00" }, listed_as: "maybe" as never }),
        stubModel({ id: "stub/two", supports: ["flying"], max_output_tokens: 200_000, upstream_model: "two" }),
        stubModel({ id: "stub/two", upstream_model: "three" }),
        stubModel({ id: "stub/four", upstream_model: "two" }),
        stubModel({
          id: "stub/five",
          upstream_model: "five",
          tiers: [{ above_input_tokens: 9, input: "1.00" } as never],
          ...colour,
        }),
        { name: "without id" } as never,
      ],
      nowhere: [stubModel({ id: "stub/six", upstream_model: "six" })],
    };
    const twice = [...providers, stubProvider({ base_url: "http://[" })];
    const problems = (await problemsOf({ providers: twice, models })).map((line) => line.replace(/(?<=entry 5: ).*/, "…"));
    // An entry without anything has a problem for each field, at most five.
    expect(problems.filter((line) => line.endsWith("…"))).toHaveLength(5);
    expect([...new Set(problems)]).toEqual([
      expect.stringMatching(/^providers\.json: stub: id: occurs twice/),
      expect.stringMatching(/^providers\.json: stub: base_url: /),
      expect.stringMatching(/^models\/nowhere\.json: stub\/six: provider: there is no provider "nowhere"/),
      expect.stringMatching(/^models\/stub\.json: stub\/model: prices_per_1m_usd\.input: /),
      'models/stub.json: stub/model: listed_as: is "maybe": write one of available, request_access, coming_soon',
      "models/stub.json: stub/five: colour: remove it: no such field is known",
      "models/stub.json: stub/five: tiers.0.output: is missing",
      "models/stub.json: entry 5: …",
      expect.stringMatching(/^models\/stub\.json: stub\/two: supports: "flying" opens no field/),
      expect.stringMatching(/^models\/stub\.json: stub\/two: max_output_tokens: is above the context/),
      expect.stringMatching(/^models\/stub\.json: stub\/two: id: is already taken in models\/stub\.json/),
      expect.stringMatching(/^models\/stub\.json: stub\/four: upstream_model: stub serves "two" as stub\/two already/),
    ]);
  });

  const dated = stubModel({ id: "stub/model-20261001", upstream_model: "model-20261001" });

  test("two names of one model tell the same words, bounds and prices, whatever their order, sources and names", async () => {
    const one = stubModel({ supports: ["tools", "reasoning"], released: "2026-10-01", note: "Seen twice" });
    const other = stubModel({
      ...dated,
      name: "Stub of October",
      prices_per_1m_usd: { input: "1.0", output: "2", cache_read: "1.00" },
      supports: ["reasoning", "tools"],
    });
    expect(await problemsOf({ providers, models: { stub: [one, other] } })).toEqual([]);
  });

  test.each<[string, Partial<ModelEntry>, string[]]>([
    ["a word", { supports: ["reasoning"] }, ["supports"]],
    ["whether it thinks", { reasons: true }, ["reasons"]],
    ["a bound", { max_output_tokens: 999 }, ["max_output_tokens"]],
    ["a price", { prices_per_1m_usd: { input: "1.00", output: "2.01" } }, ["prices_per_1m_usd"]],
    ["a tier", { tiers: [{ above_input_tokens: 9, input: "2.00", output: "3.00" }] }, ["prices_per_1m_usd"]],
    ["a field that it does not take", { default_only: ["top_p"] }, ["default_only"]],
    ["the tokens that its provider adds", { hidden_input_tokens: 3 }, ["hidden_input_tokens"]],
  ])("the dated name of a model that differs from the other in %s is a problem", async (_what, change, fields) => {
    const problems = await problemsOf({ providers, models: { stub: [stubModel(), { ...dated, ...change }] } });
    const message = "differs from stub/model, another name of the same model";
    expect(problems.toSorted()).toEqual(
      fields.map((field) => `models/stub.json: stub/model-20261001: ${field}: ${message}`).toSorted(),
    );
  });

  test("alias_of tells which names are one model's where the date does not", async () => {
    const larger = { context_length: 200_000 };
    const entry = (id: string, change: Partial<ModelEntry>): ModelEntry => stubModel({ id, upstream_model: id, ...change });
    const models = {
      stub: [
        stubModel(),
        // A version of its own, although its name is the other one and a date.
        entry("stub/model-2026-10-01", { ...larger, alias_of: null }),
        // Without its year a date does not say that it is the same model.
        entry("stub/model-1001", larger),
        entry("stub/newest", { ...larger, alias_of: "stub/model" }),
        entry("stub/lost", { alias_of: "stub/nobody" }),
      ],
    };
    expect(await problemsOf({ providers, models })).toEqual([
      "models/stub.json: stub/newest: context_length: differs from stub/model, another name of the same model",
      'models/stub.json: stub/lost: alias_of: no model of this provider alone is called "stub/nobody"',
    ]);
  });

  test("a dated name at another provider, or where several providers serve a name, is compared with nothing", async () => {
    const [first, second] = [stubProvider(), stubProvider({ id: "other" })];
    const route = { provider: "stub", upstream_model: "routed", prices_per_1m_usd: { input: "9.00", output: "9.00" } };
    const { upstream_model: _own, prices_per_1m_usd: _price, ...shared } = stubModel({ id: "stub/several" });
    const models = {
      stub: [
        stubModel(),
        { ...shared, routes: [route, { ...route, provider: "other" }] },
        stubModel({ id: "stub/several-20261001", upstream_model: "several" }),
      ],
      other: [{ ...dated, context_length: 200_000 }],
    };
    expect(await problemsOf({ providers: [first, second], models })).toEqual([]);
  });

  test("a file that is no list of entries is one problem", async () => {
    await using temporary = await temporaryFolder();
    const folder = await writeCatalog(temporary.path, { providers, models: { stub: [stubModel()] } });
    writeFileSync(join(folder, "models/stub.json"), "{");
    writeFileSync(join(folder, "models/other.json"), "{}");
    const { problems } = judgeModels(await readCatalogFiles(folder), catalogWords);
    expect(problems.map(formatModelProblem)).toEqual([
      "models/other.json: is not a list of entries",
      expect.stringMatching(/^models\/stub\.json: is not JSON: /),
    ]);
  });
});

describe("the counts of models", () => {
  test("prices are counted by what bears them out, and sources by place", async () => {
    const npm = "https://www.npmjs.com/package/@scope/list/v/1.0.0";
    const models = {
      stub: [
        stubModel({ source: "https://github.com/acme/prices/blob/1/a.toml", checked_with: npm }),
        stubModel({ id: "stub/noted", upstream_model: "b", source: "https://pypi.org/project/list/1.0/", note: "The only one" }),
        stubModel({ id: "stub/alone", upstream_model: "c", source: "https://stub.test/prices" }),
        stubModel({ id: "stub/bare", upstream_model: "d", tiers: [{ above_input_tokens: 9, input: "2.00", output: "3.00" }] }),
        stubModel({ id: "stub/later", upstream_model: "e", listed_as: "coming_soon" }),
      ],
    };
    await using temporary = await temporaryFolder();
    const tally = modelTallyOf(
      judgeModels(await readCatalogFiles(await writeCatalog(temporary.path, { providers, models })), catalogWords),
    );
    expect(tally.models).toEqual({ total: 5, chat: 5, embeddings: 0, callable: 4, several_routes: 0, tiers: 1 });
    expect(tally.providers).toEqual({ total: 1, serving: 1 });
    expect(tally.prices).toEqual({ checked: 1, noted: 1, one_source: 1, no_source: 2 });
    expect(tally.sources.map(({ place }) => place).toSorted()).toEqual([
      "acme/prices",
      "pypi.org list",
      "stub.test",
      "www.npmjs.com @scope/list",
    ]);
  });
});

describe("weir catalog check", () => {
  test("it exits 1 on a broken file of models, and names file, id and field", async () => {
    await using temporary = await temporaryFolder();
    cpSync(join(repository, "catalog-data"), temporary.path, { recursive: true });
    expect((await weirCheck(temporary.path)).code).toBe(0);
    const path = join(temporary.path, "models/openai.json");
    writeFileSync(path, readFileSync(path, "utf8").replace('"context_length": 128000', '"context_length": -1'));
    const { code, answer, error } = await weirCheck(temporary.path);
    expect(code).toBe(1);
    expect(answer).toMatchObject({
      ok: false,
      problems: [{ file: "models/openai.json", id: "openai/gpt-4o", field: "context_length" }],
    });
    expect(error).toContain("models/openai.json: openai/gpt-4o: context_length: ");
  });
});
