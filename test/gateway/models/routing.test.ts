/** The order of candidates and the reservation that covers them. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { dearestOf, costOf, type Candidate } from "../../../src/gateway/models/candidate.ts";
import { RouteCoolDown } from "../../../src/gateway/models/route-health.ts";
import type { RouteMeasure } from "../../../src/gateway/models/listing.ts";
import type { Model, Route } from "../../../src/gateway/models/model.ts";
import { chargedCost } from "../../../src/gateway/models/price.ts";
import {
  isPermitted,
  orderCandidates,
  routeSorts,
  type RouteSort,
  type RoutingRules,
} from "../../../src/gateway/models/candidate-order.ts";
import { nanoRoundedHalfUp, parsePricePerMillion } from "../../../src/kernel/money.ts";
import { routeCoolDownMs } from "../../../src/gateway/limits.ts";
import { ManualClock } from "../../support/clock.ts";
import { ownKey } from "../../support/gateway/own-keys.ts";
import { chatModel } from "../../support/providers/model.ts";
import { route } from "../../support/providers/routes.ts";

const everyone: RoutingRules = { order: [], only: null, ignore: new Set(), sort: null };
const bounds = { inputTokens: 1_000, maxTokens: 1_000, tools: false };

function routeAt(provider: string, input: string, output: string): Route {
  const [ofInput, ofOutput] = [parsePricePerMillion(input), parsePricePerMillion(output)];
  const prices = { input: ofInput, output: ofOutput, cacheRead: ofInput, cacheWrite: ofInput };
  return { ...route(provider), prices, hiddenInputTokens: 0 };
}

describe("three providers of a model", () => {
  const model = chatModel([], { routes: [routeAt("A", "1", "2"), routeAt("B", "0.5", "3"), routeAt("C", "2", "2")] });
  const measures: Record<string, RouteMeasure> = {
    A: { latencyMs: 300, uptimePercent: 99.9 },
    B: { latencyMs: 200, uptimePercent: 98 },
  };
  const facts = {
    maximumCost: (candidate: Candidate) => costOf(candidate, bounds).amount,
    measure: ({ provider }: Route) => measures[provider.id] ?? null,
  };
  const ordered = (rules: Partial<RoutingRules>): string =>
    orderCandidates([{ model, routes: model.routes }], { ...everyone, ...rules }, facts)
      .map((candidate) => candidate.route.provider.id)
      .join();

  test.each<[string, Partial<RoutingRules>, string]>([
    ["no rule", {}, "A,B,C"],
    ["sort by price", { sort: "price" }, "A,B,C"],
    ["sort by latency", { sort: "latency" }, "B,A,C"],
    ["sort by uptime", { sort: "uptime" }, "A,B,C"],
    ["order [C]", { order: ["C"] }, "C,A,B"],
    ["order [C] and sort by latency", { order: ["C"], sort: "latency" }, "C,B,A"],
    ["order [C, A, C]", { order: ["C", "A", "C"] }, "C,A,B"],
    ["order with a provider that does not serve", { order: ["X", "B"] }, "B,A,C"],
    ["only [B, C] and ignore [C]", { only: new Set(["B", "C"]), ignore: new Set(["C"]) }, "B"],
    ["order [C] and ignore [C]", { order: ["C"], ignore: new Set(["C"]) }, "A,B"],
    ["only [X]", { only: new Set(["X"]) }, ""],
  ])("with %s they serve in the right order", (_, rules, expected) => {
    expect(ordered(rules)).toBe(expected);
  });

  test("those with an own key serve first, and by price cost nothing; only order comes before", () => {
    const keyed = { ...model, routes: model.routes.map((one) => (one.provider.id === "B" ? { ...one, ownKey: ownKey() } : one)) };
    const order = (rules: Partial<RoutingRules>): string =>
      orderCandidates([{ model: keyed, routes: keyed.routes }], { ...everyone, ...rules }, facts)
        .map(({ route: { provider } }) => provider.id)
        .join();
    expect(["price", "latency", "uptime", null].map((sort) => order({ sort: sort as RouteSort | null }))).toEqual([
      "B,A,C",
      "B,A,C",
      "B,A,C",
      "B,A,C",
    ]);
    expect(order({ order: ["C"] })).toBe("C,B,A");
    expect(order({ sort: "price", order: ["C"] })).toBe("C,B,A");
  });

  test("a cheaper input sorts first for a long prompt, a cheaper output for a long answer: the request's own cost decides", () => {
    const price = (some: typeof bounds): string =>
      orderCandidates(
        [{ model, routes: model.routes }],
        { ...everyone, sort: "price" },
        {
          ...facts,
          maximumCost: (candidate) => costOf(candidate, some).amount,
        },
      )
        .map((candidate) => candidate.route.provider.id)
        .join();
    expect(price({ ...bounds, maxTokens: 1 })).toBe("B,A,C");
    expect(price({ ...bounds, inputTokens: 1, maxTokens: 1_000 })).toBe("A,C,B");
  });

  test("without only, the reservation is the maximum of the dearest provider", () => {
    const candidates = model.routes.map((one) => ({ model, route: one }));
    expect(dearestOf(candidates, bounds)).toMatchObject({ amount: 4_000_000n, candidate: { route: { provider: { id: "C" } } } });
    expect(dearestOf(candidates.slice(0, 1), bounds).amount).toBe(3_000_000n);
  });

  test("without max_tokens each model is reserved with its own maximum", () => {
    const long = { ...model, id: "acme/long", maxOutputTokens: 50_000 };
    const candidates = [model, long].map((one) => ({ model: one, route: routeAt("A", "1", "2") }));
    const unbounded = { ...bounds, maxTokens: null };
    expect(candidates.map((candidate) => costOf(candidate, unbounded).maxOutputTokens)).toEqual([4_096, 50_000]);
    expect(dearestOf(candidates, unbounded).amount).toBe(1_000n * 1_000n + 50_000n * 2_000n);
  });

  test("a route in cool-down comes last among those of its model, and no later model overtakes it", () => {
    const clock = new ManualClock();
    const coolDown = new RouteCoolDown(clock);
    const second = { ...model, id: "acme/two", routes: [routeAt("D", "1", "1")] };
    const candidates = orderCandidates(
      [model, second].map((one) => ({ model: one, routes: one.routes })),
      everyone,
      facts,
    );
    const preferred = (): string =>
      coolDown
        .preferred(candidates)
        .map((one) => one.route.provider.id)
        .join();
    expect(preferred()).toBe("A,B,C,D");
    coolDown.begin({ entry: "A" });
    expect(preferred()).toBe("B,C,A,D");
    clock.advance(routeCoolDownMs);
    expect(preferred()).toBe("A,B,C,D");
  });
});

const providers = ["A", "B", "C", "D", "E"];
const price = fc.bigInt({ min: 0n, max: 200_000_000n });
const someRoute = fc.record({
  provider: fc.constantFrom(...providers),
  prices: fc.record({ input: price, output: price, cacheRead: price, cacheWrite: price }),
  hidden: fc.option(fc.nat(5_000)),
});
const someModels: fc.Arbitrary<Model[]> = fc
  .array(
    fc.record({
      contextLength: fc.integer({ min: 1, max: 200_000 }),
      maxOutputTokens: fc.integer({ min: 1, max: 100_000 }),
      routes: fc.uniqueArray(someRoute, { selector: ({ provider }) => provider, maxLength: providers.length }),
    }),
    { maxLength: 8 },
  )
  .map((models) =>
    models.map(({ routes, ...fields }, index) =>
      chatModel([], {
        ...fields,
        id: `acme/${index}`,
        routes: routes.map(({ provider, prices, hidden }) => ({ ...route(provider), prices, hiddenInputTokens: hidden })),
      }),
    ),
  );
const ids = fc.array(fc.constantFrom(...providers, "X"));
const someRules: fc.Arbitrary<RoutingRules> = fc
  .record({ order: ids, only: fc.option(ids), ignore: ids, sort: fc.option(fc.constantFrom(...routeSorts)) })
  .map(({ only, ignore, ...rules }) => ({ ...rules, only: only && new Set(only), ignore: new Set(ignore) }));
const someBounds = fc.record({
  inputTokens: fc.nat(300_000),
  promptTokens: fc.option(fc.nat(300_000), { nil: undefined }),
  maxTokens: fc.option(fc.integer({ min: 1, max: 200_000 })),
  tools: fc.boolean(),
});
const someMeasures = fc.dictionary(
  fc.constantFrom(...providers),
  fc.record({ latencyMs: fc.option(fc.nat(5_000)), uptimePercent: fc.option(fc.nat(100)) }),
);

describe("any catalog and any request", () => {
  const models = (catalog: Model[]) => catalog.map((model) => ({ model, routes: model.routes }));

  test("the order is a permutation of the permitted routes, model by model, and order goes before every sort", () => {
    fc.assert(
      fc.property(someModels, someRules, someBounds, someMeasures, (catalog, rules, asked, measures) => {
        const ordered = orderCandidates(models(catalog), rules, {
          maximumCost: (candidate) => costOf(candidate, asked).amount,
          measure: ({ provider }) => measures[provider.id] ?? null,
        });
        const permitted = catalog.flatMap((model) =>
          model.routes.filter((one) => isPermitted(one, rules)).map((one) => `${model.id} ${one.provider.id}`),
        );
        const names = ordered.map((one) => `${one.model.id} ${one.route.provider.id}`);
        expect(names.toSorted()).toEqual(permitted.toSorted());
        const places = ordered.map(({ model }) => catalog.indexOf(model));
        expect(places).toEqual(places.toSorted((a, b) => a - b));
        for (const [index, { model, route: one }] of ordered.entries()) {
          const next = ordered[index + 1];
          if (next?.model !== model) continue;
          const [place, after] = [one, next.route].map(({ provider }) => rules.order.indexOf(provider.id));
          if (place === -1) expect(after).toBe(-1);
          else if (after !== -1) expect(Number(place)).toBeLessThan(Number(after));
        }
      }),
    );
  });

  test("sorted providers come by their key, and those without a measurement last", () => {
    fc.assert(
      fc.property(someModels, someBounds, someMeasures, fc.constantFrom(...routeSorts), (catalog, asked, measures, sort) => {
        const costs = (candidate: Candidate): bigint => costOf(candidate, asked).amount;
        const measure = ({ provider }: Route): RouteMeasure | null => measures[provider.id] ?? null;
        const keys = {
          price: costs,
          latency: ({ route: one }: Candidate) => measure(one)?.latencyMs ?? Infinity,
          uptime: ({ route: one }: Candidate) => -(measure(one)?.uptimePercent ?? -Infinity),
        };
        for (const { model, routes } of models(catalog)) {
          const ordered = orderCandidates([{ model, routes }], { ...everyone, sort }, { maximumCost: costs, measure });
          for (const [index, candidate] of ordered.entries()) {
            const next = ordered[index + 1];
            if (next) expect(keys[sort](candidate) <= keys[sort](next)).toBe(true);
          }
        }
      }),
    );
  });

  test("the reservation bounds the charge of every candidate, for every count within its bounds", () => {
    const part = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(someModels, someBounds, part, part, part, part, (catalog, asked, ...parts) => {
        const candidates = models(catalog).flatMap(({ model, routes }) => routes.map((one) => ({ model, route: one })));
        if (candidates.length === 0) return;
        const { amount } = dearestOf(candidates, asked);
        const [ofPrompt = 0, ofCached = 0, ofWritten = 0, ofOutput = 0] = parts;
        for (const { model, route: one } of candidates) {
          const hidden = one.hiddenInputTokens ?? (asked.tools ? 1_024 : 64);
          const promptTokens = Math.floor(ofPrompt * Math.min(asked.inputTokens + hidden, model.contextLength));
          const { maxOutputTokens } = costOf({ model, route: one }, asked);
          expect(maxOutputTokens).toBeLessThanOrEqual(Math.min(asked.maxTokens ?? Infinity, model.maxOutputTokens));
          const usage = {
            promptTokens,
            cachedTokens: Math.floor(ofCached * promptTokens),
            cacheWriteTokens: Math.floor(ofWritten * promptTokens),
            completionTokens: Math.floor(ofOutput * maxOutputTokens),
            reasoningTokens: 0,
          };
          if (one.prices === null) throw new Error("Every route of the test has prices");
          expect(nanoRoundedHalfUp(chargedCost(one.prices, usage))).toBeLessThanOrEqual(amount);
        }
      }),
    );
  });
});
