import { describe, expect, test } from "bun:test";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readCatalog } from "../../../src/gateway/models/catalog.ts";
import type { Catalog } from "../../../src/gateway/models/model.ts";
import {
  stubModel,
  stubProvider,
  writeCatalog,
  writeStubCatalog,
  type CatalogContents,
} from "../../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function read(contents: CatalogContents, sandbox = false): Promise<Catalog> {
  await using folder = await temporaryFolder();
  return await readCatalog(await writeCatalog(folder.path, contents), { sandbox });
}

const providers = [stubProvider()];

describe("a catalog", () => {
  test("a model's provider comes from the name of its file", async () => {
    const catalog = await read({
      providers: [stubProvider({ id: "acme" })],
      models: { acme: [stubModel({ id: "acme/large" })] },
    });
    expect(catalog.models.get("acme/large")?.routes).toMatchObject([{ provider: { id: "acme" }, upstreamModel: "stub-model" }]);
  });

  test("a model may have several routes in order, each with its own prices", async () => {
    const routes = ["b", "a"].map((provider, index) => ({
      provider,
      upstream_model: `${provider}-model`,
      prices_per_1m_usd: { input: `${index + 1}.00`, output: "2.00", cache_read: "0.10" },
    }));
    const catalog = await read({
      providers: [stubProvider({ id: "a" }), stubProvider({ id: "b" })],
      models: { x: [stubModel({ id: "x/m", routes })] },
    });
    const model = catalog.models.get("x/m");
    expect(model?.routes.map((route) => [route.provider.id, route.prices?.input])).toEqual([
      ["b", 1_000_000n],
      ["a", 2_000_000n],
    ]);
    expect(model?.listPrices).toEqual({ input: 1_000_000n, output: 2_000_000n, cacheRead: 100_000n, cacheWrite: 1_000_000n });
  });

  test("a route may have price tiers, whose absent cache prices are the tier's input price", async () => {
    const tiers = [
      { above_input_tokens: 200_000, input: "2.00", output: "3.00", cache_read: "0.20", cache_write: "2.50" },
      { above_input_tokens: 500_000, input: "4.00", output: "5.00" },
    ];
    const prices_per_1m_usd = { input: "1.00", output: "2.00" };
    const priced = { prices_per_1m_usd, tiers };
    const routes = [{ provider: "stub", upstream_model: "m", ...priced }];
    const models = { stub: [stubModel(priced), stubModel({ id: "stub/routed", routes })] };
    const catalog = await read({ providers, models });
    const expected = [
      { aboveInputTokens: 200_000, input: 2_000_000n, output: 3_000_000n, cacheRead: 200_000n, cacheWrite: 2_500_000n },
      { aboveInputTokens: 500_000, input: 4_000_000n, output: 5_000_000n, cacheRead: 4_000_000n, cacheWrite: 4_000_000n },
    ];
    for (const id of ["stub/model", "stub/routed"]) {
      expect(catalog.models.get(id)?.routes[0]?.prices).toMatchObject({ input: 1_000_000n, tiers: expected });
      expect(catalog.models.get(id)?.listPrices?.tiers).toEqual(expected);
    }
  });

  test("a changed tier needs no new launch check", async () => {
    const tiers = [{ above_input_tokens: 9, input: "2.00", output: "3.00" }];
    const entryOf = async (fields: Parameters<typeof stubModel>[0]): Promise<string | undefined> =>
      (await read({ providers, models: { stub: [stubModel(fields)] } })).models.get("stub/model")?.routes[0]?.entry;
    expect(await entryOf({ tiers })).toBe((await entryOf({})) ?? "no entry");
  });

  test("a model's fields apply to every route without its own value", async () => {
    const routes = [
      { provider: "stub", upstream_model: "m" },
      { provider: "b", upstream_model: "m", hidden_input_tokens: 9 },
    ];
    const model = stubModel({ routes, hidden_input_tokens: 7, max_tokens_field: "max_completion_tokens" });
    const catalog = await read({ providers: [...providers, stubProvider({ id: "b" })], models: { stub: [model] } });
    const shown = catalog.models.get("stub/model")?.routes.map((route) => [route.hiddenInputTokens, route.maxTokensField]);
    expect(shown).toEqual([
      [7, "max_completion_tokens"],
      [9, "max_completion_tokens"],
    ]);
  });

  test("prices are exact to six decimals", async () => {
    const prices_per_1m_usd = { input: "0.000001", output: "999999999.999999" };
    const catalog = await read({ providers, models: { stub: [stubModel({ prices_per_1m_usd })] } });
    expect(catalog.models.get("stub/model")?.routes[0]?.prices).toMatchObject({ input: 1n, output: 999_999_999_999_999n });
  });

  test("a slash at the end of base_url is removed", async () => {
    const catalog = await read({ providers: [stubProvider({ base_url: "https://api.example.com/v1/" })] });
    expect(catalog.providers.get("stub")?.baseUrl).toBe("https://api.example.com/v1");
  });

  test("created is the day of release in Unix seconds, or 0 if it is not known", async () => {
    const models = { stub: [stubModel({ released: "2026-03-17" }), stubModel({ id: "stub/undated" })] };
    const catalog = await read({ providers, models });
    expect(catalog.models.get("stub/model")?.created).toBe(Date.UTC(2026, 2, 17) / 1_000);
    expect(catalog.models.get("stub/undated")?.created).toBe(0);
  });

  test("the version changes only when a file or the sandbox setting changes", async () => {
    const contents = { providers, models: { stub: [stubModel()] } };
    const { version } = await read(contents);
    expect((await read(contents)).version).toBe(version);
    expect((await read(contents, true)).version).not.toBe(version);
    expect((await read({ providers, models: { stub: [stubModel({ name: "Other" })] } })).version).not.toBe(version);
  });
});

describe("the sandbox", () => {
  test("the sandbox is listed while it is on: 1.00 and 2.00 USD, context 128,000, output at most 4,096", async () => {
    const model = (await read({}, true)).models.get("sandbox/echo");
    expect(model).toMatchObject({ contextLength: 128_000, maxOutputTokens: 4_096, published: true, listedAs: "available" });
    expect(model?.listPrices).toMatchObject({ input: 1_000_000n, output: 2_000_000n });
  });

  test("the sandbox is absent while it is off", async () => {
    const catalog = await read({ providers: [stubProvider({ format: "sandbox" })], models: { stub: [stubModel()] } });
    expect([...catalog.models.keys()]).toEqual([]);
  });
});

describe("an invalid file is refused as a whole, with file, id and field in the error", () => {
  type Fields = Parameters<typeof stubModel>[0];
  /** A catalog with one model, which may have what its schema does not allow. */
  const one = (fields: object): CatalogContents => ({ providers, models: { stub: [stubModel(fields as Fields)] } });
  const priced = (prices_per_1m_usd: object) => one({ prices_per_1m_usd });
  const route = { provider: "stub", upstream_model: "m" };
  const tier = (above_input_tokens: number) => ({ above_input_tokens, input: "1.00", output: "1.00" });
  const twoFiles = { b: [stubModel()], stub: [stubModel()] };
  const refusals: [string, CatalogContents, RegExp][] = [
    ["a mistyped field", one({ conext: 1 }), /models\/stub\.json: stub\/model: conext/],
    ["a price that is a number", priced({ input: 1, output: "1" }), /stub\/model: prices_per_1m_usd\.input/],
    ["a negative price", priced({ input: "-1", output: "1" }), /prices_per_1m_usd\.input/],
    ["a price finer than a pico-USD a token", priced({ input: "0.0000001", output: "1" }), /prices_per_1m_usd\.input/],
    ["an entry without an id", { providers, models: { stub: [{} as never] } }, /models\/stub\.json: entry 0: id/],
    [
      "an unknown provider",
      { models: { stub: [stubModel()] } },
      /stub\.json: stub\/model: provider: there is no provider "stub"/,
    ],
    ["an unknown provider among routes", one({ routes: [{ ...route, provider: "unknown" }] }), /there is no provider "unknown"/],
    [
      "an id in two files",
      { providers: [stubProvider(), stubProvider({ id: "b" })], models: twoFiles },
      /models\/stub\.json: stub\/model: id: is already taken in models\/b\.json/,
    ],
    ["a provider that occurs twice", { providers: [stubProvider(), stubProvider()] }, /providers\.json: stub: id: occurs twice/],
    ["a provider twice among the routes of a model", one({ routes: [route, route] }), /routes: name a provider twice/],
    [
      "routes beside a single one",
      { providers, models: { stub: [{ ...stubModel(), routes: [route] }] } },
      /routes: replaces upstream_model/,
    ],
    ["an available model without a bound on its output", one({ max_output_tokens: null }), /max_output_tokens: is required/],
    ["an available model without a context window", one({ context_length: null }), /context_length: is required/],
    ["tiers whose bounds do not ascend", one({ tiers: [tier(9), tier(9)] }), /tiers\.1\.above_input_tokens: is not above 9/],
    ["tiers without the prices below them", one({ routes: [{ ...route, tiers: [tier(9)] }] }), /tiers: need prices_per_1m_usd/],
    ["a tier above no token", one({ tiers: [tier(0)] }), /stub\/model: tiers\.0\.above_input_tokens/],
    [
      "a tier without a price of output",
      one({ tiers: [{ above_input_tokens: 1, input: "1" }] }),
      /stub\/model: tiers\.0\.output/,
    ],
    ["an invalid base_url", { providers: [stubProvider({ base_url: "http://[" })] }, /providers\.json: stub: base_url/],
    ["an unknown format", { providers: [stubProvider({ format: "carrier-pigeon" as never })] }, /providers\.json: stub: format/],
  ];
  test.each(refusals)("the catalog refuses %s", async (_, contents, message) => {
    await expect(read(contents)).rejects.toThrow(message);
  });

  test("the catalog refuses a file that is not JSON", async () => {
    await using folder = await temporaryFolder();
    await writeStubCatalog(folder.path, { url: "http://127.0.0.1:9/v1" });
    await writeFile(join(folder.path, "models/stub.json"), "[{");
    await expect(readCatalog(folder.path, { sandbox: true })).rejects.toThrow(
      "Cannot read catalog file models/stub.json: it is not valid JSON",
    );
  });

  test("the catalog refuses a folder without providers.json", async () => {
    await using folder = await temporaryFolder();
    await writeStubCatalog(folder.path, { url: "http://127.0.0.1:9/v1" });
    await rm(join(folder.path, "providers.json"));
    await expect(readCatalog(folder.path, { sandbox: true })).rejects.toThrow("providers.json");
  });
});
