/** The pages of models: a workspace sees what it may call, by its own settings and keys. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findModels, nearestModels, type Wanted, modelQuery } from "../../src/console/pages/inference/find-models.ts";
import { shortTokens } from "../../src/console/pages/inference/model-cells.ts";
import { availabilityOf } from "../../src/gateway/models/availability.ts";
import { modelDetails, type ModelDetails } from "../../src/gateway/models/listing.ts";
import type { Model, ProviderRecord } from "../../src/gateway/models/model.ts";
import type { ModelEntry } from "../../src/gateway/models/schema.ts";
import { insertOwnKey } from "../../src/gateway/own-keys/store.ts";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { embeddingModel } from "../support/providers/embedding-answers.ts";
import { aModel } from "../support/providers/models.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

const stub = aModel({ supports: ["tools"] });
const tiers = [{ above_input_tokens: 200_000, input: "2.5", output: "15" }];
const tiered = aModel({
  id: "stub/long:context/v2",
  name: "<i>Long</i>",
  prices_per_1m_usd: { input: "1.25", output: "10" },
  tiers,
});
const closed = aModel({ id: "stub/closed", name: "Closed" }, { key_env: "NOT_SET" });
const vectors = aModel(embeddingModel({ id: "stub/vectors", name: "Vectors" }));
const many = Array.from({ length: 60 }, (_, number) => aModel({ id: `stub/numbered-${number}`, name: `Numbered ${number}` }));

describe.each(oneDatabase)("the pages of models on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let member: Browser;
  let operator: Browser;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme", "10");
    [member, operator] = [await world.signIn("member@acme"), await world.signIn(null)];
    serve([stub, tiered, closed, vectors, ...many]);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  function serve(models: Model[]): void {
    const checks = new Map(models.flatMap(({ routes }) => routes.map(({ entry }) => [entry, { passed: true }])));
    const providerKey = ({ keyEnv }: ProviderRecord) => (keyEnv === "NOT_SET" ? undefined : "key");
    const { parts } = world.control;
    parts.models = {
      ...parts.models,
      list: () => models,
      availability: (model, demands) => availabilityOf(model, { ...demands, providerKey, checks }),
    };
    parts.measure = () => ({ latencyMs: 1_234, uptimePercent: 99.5 });
  }

  const page = "/console/w/acme/models";
  const show = async (path = "", browser = member) => (await world.get(page + path, browser)).text;
  const set = (body: Record<string, unknown>) => world.control.expect("PATCH", "/workspaces/acme", { body });

  test("where early access is off, members read who switches it on, and the operator does", async () => {
    for (const path of ["", "/compare", "/stub/model"]) expect(await show(path)).toContain("The operator can switch it on");
    expect((await world.get(`${page}?as=csv`, member)).status).toBe(403);
    expect((await world.post(page, { action: "switch-on" }, member)).status).toBe(403);
    await set({ early_access: ["routing"] });
    expect((await world.post(page, { action: "switch-on" }, operator)).status).toBe(303);
    const { early_access: on } = await world.control.expect("GET", "/workspaces/acme");
    expect(on).toEqual(["routing", "models_page"]);
    expect(await show()).toContain("1 to 50 of 64 models");
  });

  test("the list shows prices with tiers, context, latency, uptime, and the reason in words", async () => {
    const list = await show("?q=long");
    for (const words of ["&#60;i&#62;Long&#60;/i&#62;", "$1.25", "$2.50", "100K", "1,234 ms", "99.5 %", "callable"])
      expect(list).toContain(words);
    expect(await show("/stub/long:context/v2")).toContain('above <data value="200000" title="200,000 tokens">200K');
    expect(await show("?q=closed")).toContain("needs a key");
    expect(await show("?q=vectors")).toContain("access to it must be requested");
    expect(await show("?q=stub&page=2")).toContain("51 to 64 of 64 models");
    expect(await show("?page=9999")).toContain("51 to 64 of 64 models");
  });

  test("what was typed into the filters stays, escaped, and mistyped words suggest a model", async () => {
    const missed = await show(`?q=${encodeURIComponent('"><script>')}`);
    expect([missed.includes("<script>"), missed.includes("No model is called")]).toEqual([false, true]);
    expect(await show("?q=closde")).toContain(`Did you mean <a href="${page}/stub/closed">`);
  });

  test("the same rows are a file", async () => {
    const { headers, text } = await world.get(`${page}?q=closed&as=csv`, member);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(text.split("\r\n")[1]).toBe(
      "stub/closed,Closed,stub,chat,100000,1000,1.00,2.00,1234,99.5,false,provider_not_configured",
    );
  });

  test("the settings and keys of the workspace decide what it can call", async () => {
    await set({ zero_data_retention: true });
    expect(await show("/stub/model")).toContain("no provider of the model offers it");
    await set({ zero_data_retention: false });
    expect(await show("/stub/model")).toContain('href="/console/w/acme/workbench?model=stub%2Fmodel"');
    const { id: workspace } = await world.control.expect("GET", "/workspaces/acme");
    await database.sql.begin((tx) =>
      insertOwnKey(
        {
          id: "own-1",
          workspace: String(workspace),
          provider: "stub",
          name: "ours",
          lastFour: null,
          sealed: new Uint8Array(8),
          zeroDataRetention: true,
          at: world.control.clock.now(),
          checks: [],
        },
        tx,
      ),
    );
    expect(await show("/stub/closed")).toContain("its provider is not configured");
    await set({ early_access: ["own_keys", "embeddings", "models_page"] });
    expect(await show("/stub/closed")).toContain("the workspace&#39;s own key");
    expect(await show("/stub/vectors")).toContain("embeddings.create");
  });

  test("a model's page is found by its id with slashes, escaped or not, and an unknown id names the nearest", async () => {
    for (const path of ["/stub/long:context/v2", "/stub%2Flong%3Acontext%2Fv2"])
      expect(await show(path)).toContain("&#60;i&#62;Long&#60;/i&#62;");
    const unknown = await world.get(`${page}/stub/modle`, member);
    expect([unknown.status, unknown.text.includes("did you mean &#34;stub/model&#34;")]).toEqual([404, true]);
    expect((await world.get(`${page}/%E0%A4%A`, member)).status).toBe(404);
  });

  test("the page of a model names the fields that it refuses, and auditors are offered no Workbench", async () => {
    const shown = await show("/stub/model", await world.signIn("auditor@acme"));
    expect(shown).toContain("This model does not take <code>top_logprobs</code>");
    expect(shown).not.toContain("Open in Workbench");
  });

  test("four models are compared at most, and a mistyped id gives the nearest and says so", async () => {
    const ids = (...names: string[]) => `/compare?${new URLSearchParams(names.map((name): [string, string] => ["id", name]))}`;
    const five = await show(ids("stub/model", "stub/closed", "stub/vectors", "stub/numbered-1", "stub/numbered-2"));
    expect(five).toContain("Only 4 are compared: 1 of the checked models");
    expect(five).not.toContain("add-model");
    const near = await show(ids("stub/modle", "stub/closed", "acme/<none>"));
    expect(near).toContain("There is no model with the id <bdi>stub/modle</bdi>. The nearest is shown: <bdi>stub/model</bdi>");
    expect(near).toContain("acme/&#60;none&#62;");
    expect(await show("/compare")).toContain("Select two to four models");
  });

  test("without a catalog the page says so", async () => {
    serve([]);
    expect(await show()).toContain("The catalog of models cannot be read");
  });
});

/** Searching, filtering and sorting the list of models. */

function listed(
  entry: Partial<ModelEntry>,
  { ms = null, passed = false }: { ms?: number | null; passed?: boolean } = {},
): ModelDetails {
  const model = aModel(entry);
  const checks = new Map(model.routes.map((route) => [route.entry, { passed }]));
  return modelDetails(model, {
    models: {
      availability: (one, demands) => availabilityOf(one, { ...demands, providerKey: () => "key", checks }),
      checkOf: () => undefined,
    },
    demands: { zeroDataRetention: false, earlyAccess: [] },
    measure: () => ({ latencyMs: ms, uptimePercent: null }),
  });
}

const prices = (input: string, output: string) => ({ prices_per_1m_usd: { input, output } });
const models = [
  listed(
    { id: "a/gpt-5.5", name: "GPT-5.5", context_length: 400_000, supports: ["reasoning"], ...prices("1.25", "10") },
    { ms: 400 },
  ),
  listed({ id: "b/small", name: "Small", supports: ["tools"], ...prices("0.05", "0.4") }, { passed: true }),
  listed({ id: "c/planned", name: "Planned", context_length: 0, supports: [], listed_as: "coming_soon", routes: [] }),
];

function found(query: string): string[] {
  const wanted: Wanted = modelQuery(new URLSearchParams(query)).wanted;
  return findModels(models, wanted).map(({ id }) => id);
}

test.each([
  ["", ["b/small", "a/gpt-5.5", "c/planned"]],
  ["q=gpt55", ["a/gpt-5.5"]],
  ["q=5.5 stub", ["a/gpt-5.5"]],
  ["q=gpt small", []],
  ["callable=yes", ["b/small"]],
  ["callable=no", ["a/gpt-5.5", "c/planned"]],
  ["price=0.05", ["b/small"]],
  ["price=$1.25&sort=price", ["b/small", "a/gpt-5.5"]],
  ["context=400000", ["a/gpt-5.5"]],
  ["provider=none", []],
  ["provider=stub", ["b/small", "a/gpt-5.5"]],
  ["kind=embeddings", []],
  ["supports=tools", ["b/small"]],
  ["supports=reasoning", ["a/gpt-5.5"]],
  ["supports=thinking", ["b/small", "a/gpt-5.5", "c/planned"]],
  ["kind=<b>&sort=nothing&context=-1", ["b/small", "a/gpt-5.5", "c/planned"]],
])("the query %p gives the models %p", (query, ids) => {
  expect(found(query)).toEqual(ids);
});

test("what is not known comes last in every order", () => {
  for (const sort of ["price", "output", "context"]) expect(found(`sort=${sort}`).at(-1)).toBe("c/planned");
  expect(found("sort=latency")[0]).toBe("a/gpt-5.5");
});

test("mistyped words suggest the nearest models, and words without any likeness none", () => {
  expect(nearestModels("gtp 5.5", models).map(({ id }) => id)).toEqual(["a/gpt-5.5"]);
  expect(nearestModels("something else entirely", models)).toEqual([]);
});

test("a price that is no amount filters nothing and is named", () => {
  const { wanted, problem } = modelQuery(new URLSearchParams("price=cheap"));
  expect([wanted.priceMax, problem]).toEqual([null, "“cheap” is not a price: write an amount of USD such as 2.50."]);
});

test("tokens are short: in thousands, and from a million on in millions", () => {
  expect([0, 850, 131_072, 999_499, 999_500, 1_050_000].map(shortTokens)).toEqual(["0", "850", "131K", "999K", "1M", "1.05M"]);
});
