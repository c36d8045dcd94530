import { describe, expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readCatalogFiles, readCatalog } from "../../../src/gateway/models/catalog.ts";
import { judgeModels } from "../../../src/gateway/models/catalog-check.ts";
import { modelTallyOf } from "../../../src/gateway/models/catalog-tally.ts";
import { catalogWords, supportWords } from "../../../src/gateway/api/request/requested-model.ts";
import { availabilityOf } from "../../../src/gateway/models/availability.ts";
import { modelRecord } from "../../../src/gateway/models/listing.ts";
import type { Model, Route } from "../../../src/gateway/models/model.ts";
import { maximumCost } from "../../../src/gateway/models/price.ts";
import type { ModelEntry, ProviderEntry } from "../../../src/gateway/models/schema.ts";

const folder = join(import.meta.dir, "../../../catalog-data");
const catalog = await readCatalog(folder, { sandbox: false });
const models = [...catalog.models.values()];
const chatOnly = (all: Model[]): Model[] => all.filter((model) => model.kind === "chat");
const real = models.filter((model) => !model.id.startsWith("weir/"));
const noAccount = { providerKey: () => null, checks: new Map(), zeroDataRetention: false, earlyAccess: ["embeddings"] };

async function entriesOf<Entry>(file: string): Promise<Entry[]> {
  return JSON.parse(await readFile(join(folder, file), "utf8"));
}

const files = (await readdir(join(folder, "models"))).filter((name) => name !== "weir.json");
const entries = (await Promise.all(files.map((name) => entriesOf<ModelEntry>(`models/${name}`)))).flat();
const providers = await entriesOf<ProviderEntry>("providers.json");

function routesOf(models: Model[]): Route[] {
  return models.flatMap((model) => model.routes);
}

describe("the shipped catalog", () => {
  test("the catalog has at least 400 chat models of at least 30 providers that a key and a launch check make callable", async () => {
    const { models: counts, providers: served } = modelTallyOf(judgeModels(await readCatalogFiles(folder), catalogWords));
    expect(counts.callable).toBeGreaterThanOrEqual(400);
    expect(served.serving).toBeGreaterThanOrEqual(30);
  });

  test("the catalog check finds no problem", async () => {
    expect(judgeModels(await readCatalogFiles(folder), catalogWords).problems).toEqual([]);
  });

  test("every price has a second source, or a note why it stands", () => {
    const routes = entries.flatMap((entry) => (entry.routes ?? [entry]).map((route) => ({ id: entry.id, ...route })));
    expect(routes.filter(({ checked_with, note }) => checked_with === undefined && note === undefined)).toEqual([]);
    for (const { id, source, checked_with } of routes)
      if (checked_with === source) expect([id, source]).toEqual([id, "a second source"]);
  });

  test.each([
    ["openai/gpt-6.1-sol", 272_000],
    ["openai/gpt-5.5", 272_000],
    ["google/gemini-3.1-pro-preview", 200_000],
    ["x-ai/grok-4.7", 200_000],
    ["anthropic/claude-haiku-5-5", 100_000],
    ["qwen/qwen3-coder-plus", 32_000],
  ])("the flagship %s has a dearer tier above %i tokens", (id, bound) => {
    const prices = catalog.models.get(id)?.routes[0]?.prices;
    const tier = prices?.tiers?.[0];
    expect([id, tier?.aboveInputTokens]).toEqual([id, bound]);
    expect(tier && prices && tier.input > prices.input && tier.output > prices.output).toBe(true);
  });

  test("every tier lies within the context of its model, and its cached tokens cost no more than its input", () => {
    for (const { id, contextLength, routes } of real) {
      for (const tier of routes.flatMap(({ prices }) => prices?.tiers ?? [])) {
        const holds = tier.aboveInputTokens < contextLength && tier.cacheRead <= tier.input;
        expect([id, tier.aboveInputTokens, holds]).toEqual([id, tier.aboveInputTokens, true]);
      }
    }
  });

  test("GET /models?all=true stays below 256 KiB", () => {
    const data = models.map((model) => modelRecord(model, availabilityOf(model, noAccount), () => null));
    expect(JSON.stringify({ object: "list", data }).length).toBeLessThan(256 * 1024);
  });

  test("every provider in the catalog serves a model", () => {
    const used = new Set(routesOf(real).map((route) => route.provider.id));
    expect(providers.map((provider) => provider.id).filter((id) => !used.has(id))).toEqual([]);
  });

  test("every real model, route and provider has a source and the day on which it was read", () => {
    for (const entry of [...entries, ...providers])
      expect([entry.id, entry.source, entry.seen]).toEqual([entry.id, expect.stringMatching(/^https:/), expect.any(String)]);
    for (const { id, routes = [] } of entries)
      for (const route of routes) expect([id, route.source]).toEqual([id, expect.stringMatching(/^https:/)]);
  });

  test("every route has prices, and a cached token never costs more than an input token", () => {
    for (const { provider, upstreamModel, prices } of routesOf(real)) {
      const route = [provider.id, upstreamModel];
      expect([...route, prices !== null && prices.input > 0n]).toEqual([...route, true]);
      expect([...route, prices !== null && prices.cacheRead <= prices.input]).toEqual([...route, true]);
    }
  });

  test("every model behind Anthropic's format caches on request, and writing for 5 minutes costs 1.25 times the input price", () => {
    const caching = real.filter((model) => model.supports.has("cache_control"));
    const spoken = real.filter(({ routes }) => routes.every(({ provider }) => provider.format === "anthropic"));
    expect(caching.map(({ id }) => id)).toEqual(spoken.map(({ id }) => id));
    for (const { provider, upstreamModel, prices } of routesOf(caching)) {
      const route = [provider.id, upstreamModel];
      expect([...route, prices?.cacheWrite]).toEqual([...route, ((prices?.input ?? 0n) * 5n) / 4n]);
    }
  });

  test("every model behind Anthropic's format tells how it thinks, and gets its thoughts back", () => {
    for (const { id, routes, supports } of real) {
      for (const { provider, thinking } of routes) {
        if (provider.format !== "anthropic") continue;
        const words = ["reasoning", "reasoning_content", "thought_signatures"].map((word) => supports.has(word));
        expect([id, thinking !== undefined, ...words]).toEqual([id, true, true, true, true]);
      }
    }
  });

  test.each([
    ["models named after their thoughts", /thinking|qwq|deepseek-r1|magistral|(?<!non-)reasoning/],
    ["Kimi since K2.5", /\/kimi-k(?:2\.[5-9]|3)/],
    ["DeepSeek V4", /\/deepseek-v4/],
    ["MiniMax", /\/minimax-m\d/],
    ["GLM since 4.5", /\/glm-(?:4\.[5-9]|5)/],
    ["Qwen since 3.5", /\/qwen3\.[5-9]/],
    ["Hunyuan since 3", /\/hy[34]/],
  ])("%s think unasked, and the catalog says so of all of them", (_family, name) => {
    const family = chatOnly(real).filter(({ id }) => name.test(id));
    expect(family.length).toBeGreaterThanOrEqual(3);
    expect(family.filter(({ reasons }) => !reasons).map(({ id }) => id)).toEqual([]);
  });

  test("no model of a provider appears twice", () => {
    const names = routesOf(real).map((route) => `${route.provider.id} ${route.upstreamModel}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test.each([
    ["fireworks", /^accounts\/fireworks\/(?:models|routers)\//],
    ["alibaba", /^(?!qwen\d-\d-)/],
    ["novita", /^(?!sao10K\/)/],
  ])("%s is called by the names that its API takes", (id, name) => {
    const names = routesOf(real).flatMap((route) => (route.provider.id === id ? [route.upstreamModel] : []));
    expect(names.filter((upstream) => !name.test(upstream))).toEqual([]);
  });

  test("OpenAI's models that refuse tools with reasoning in chat completions are called by its Responses API, and get their reasoning back", () => {
    const later = /^gpt-(?:5\.[4-9]|[6-9])/;
    const spoken = real.filter(({ routes }) => routes.some(({ format }) => format === "openai-responses"));
    const refusing = real.filter(({ routes }) =>
      routes.some((one) => one.provider.id === "openai" && later.test(one.upstreamModel)),
    );
    expect(spoken.map(({ id }) => id)).toEqual(refusing.map(({ id }) => id));
    expect(spoken.length).toBeGreaterThanOrEqual(16);
    const uncarried = ["functions", "reasoning_content", "penalties", "seed", "logit_bias", "cache_control", "prediction"];
    for (const { id, supports } of spoken) {
      expect([id, supports.has("reasoning"), supports.has("thought_signatures")]).toEqual([id, true, true]);
      expect([id, uncarried.filter((word) => supports.has(word))]).toEqual([id, []]);
    }
  });

  test("every answer's bound is within the model's context", () => {
    for (const { provider, upstreamModel, prices } of routesOf(chatOnly(real)))
      expect([provider.id, upstreamModel, (prices?.output ?? 0n) > 0n]).toEqual([provider.id, upstreamModel, true]);
    const wrong = chatOnly(real).filter((model) => model.maxOutputTokens === 0 || model.maxOutputTokens > model.contextLength);
    expect(wrong.map((model) => model.id)).toEqual([]);
  });

  test("every support word of a chat model allows a request field, and no model supports prediction", () => {
    const known = new Set(Object.keys(supportWords).filter((word) => word !== "prediction"));
    const unknown = chatOnly(models).flatMap((model) => [...model.supports].filter((word) => !known.has(word)));
    expect(unknown).toEqual([]);
  });

  test("there are at least 12 embeddings models of five providers, each with its dimensions and at most 2,048 inputs", () => {
    const embedding = real.filter((model) => model.kind === "embeddings");
    expect(embedding.length).toBeGreaterThanOrEqual(12);
    expect(new Set(routesOf(embedding).map((route) => route.provider.embeddings?.format))).toEqual(
      new Set(["openai", "google", "mistral", "cohere", "voyage"]),
    );
    for (const { id, embeddings, routes } of embedding) {
      expect([id, routes.length, embeddings?.dimensions]).toEqual([id, 1, expect.any(Number)]);
      expect(embeddings?.inputsMax ?? Infinity).toBeLessThanOrEqual(2_048);
    }
  });

  test("at least three models have several routes, and reservations cover the most expensive one", () => {
    const several = real.filter((model) => model.routes.length > 1);
    expect(several.length).toBeGreaterThanOrEqual(3);
    for (const model of several) {
      const request = { model, inputTokens: 1_000, tools: false, maxTokens: 1_000 };
      const each = model.routes.map((route) => maximumCost({ ...request, routes: [route] }).amount);
      const all = maximumCost({ ...request, routes: model.routes }).amount;
      expect([model.id, each.every((amount) => amount <= all), each.includes(all)]).toEqual([model.id, true, true]);
    }
  });
});

describe("an operator's steps for a real model", () => {
  test("without any provider key every model has the reason provider_not_configured", () => {
    for (const model of real)
      expect([model.id, availabilityOf(model, noAccount).reason]).toEqual([model.id, "provider_not_configured"]);
  });

  test("with a provider's key the reason is terms_not_checked: a person decides on terms, subprocessor list and zero data retention", () => {
    for (const model of real) {
      const reason = availabilityOf(model, { ...noAccount, providerKey: () => "key" }).reason;
      expect([model.id, reason]).toEqual([model.id, "terms_not_checked"]);
    }
    for (const provider of providers) {
      expect(provider).toMatchObject({ terms_checked: false, subprocessor_listed: false, zero_data_retention: false });
    }
  });

  test("every provider has the address of its terms", () => {
    for (const { id, terms } of providers) expect([id, terms]).toEqual([id, expect.stringMatching(/^https:/)]);
  });
});

describe("the service's own models", () => {
  const own = models.filter((model) => model.id.startsWith("weir/"));
  const records = own.map((model) => modelRecord(model, availabilityOf(model, noAccount), () => null));

  test("there are three models plus Zero, with the specified context windows and parameters", () => {
    expect(records.map((record) => [record.context_length, record.parameters])).toEqual([
      [1_100_000, 750_000_000_000],
      [1_000_000, 70_000_000_000],
      [128_000, 15_000_000_000],
      [null, 0],
    ]);
  });

  test("Zero is priced at 0 USD", () => {
    expect(records.at(-1)?.prices_per_1m_usd).toMatchObject({ input: "0.00", output: "0.00" });
  });

  test("no workspace or key can call them yet", () => {
    for (const model of own) {
      expect(availabilityOf(model, { ...noAccount, providerKey: () => "key" })).toMatchObject({
        runnable: false,
        reason: "coming_soon",
      });
    }
  });
});
