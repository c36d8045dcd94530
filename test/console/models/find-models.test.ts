/** Searching, filtering and sorting the list of models. */
import { expect, test } from "bun:test";
import { findModels, nearestModels, type Wanted } from "../../../src/console/pages/models/find-models.ts";
import { modelQuery } from "../../../src/console/pages/models/filters.ts";
import { shortTokens } from "../../../src/console/pages/models/model-cells.ts";
import { availabilityOf } from "../../../src/gateway/models/availability.ts";
import { modelDetails, type ModelDetails } from "../../../src/gateway/models/listing.ts";
import type { ModelEntry } from "../../../src/gateway/models/schema.ts";
import { aModel } from "../../support/providers/models.ts";

function listed(
  entry: Partial<ModelEntry>,
  { ms = null, passed = false }: { ms?: number | null; passed?: boolean } = {},
): ModelDetails {
  const model = aModel(entry);
  const checks = new Map(model.routes.map((route) => [route.entry, { passed }]));
  return modelDetails(model, {
    models: { availability: (one, demands) => availabilityOf(one, { ...demands, providerKey: () => "key", checks }) },
    demands: { zeroDataRetention: false, earlyAccess: [] },
    measure: () => ({ latencyMs: ms, uptimePercent: null }),
  });
}

const prices = (input: string, output: string) => ({ prices_per_1m_usd: { input, output } });
const models = [
  listed({ id: "a/gpt-5.5", name: "GPT-5.5", context_length: 400_000, ...prices("1.25", "10") }, { ms: 400 }),
  listed({ id: "b/small", name: "Small", ...prices("0.05", "0.4") }, { passed: true }),
  listed({ id: "c/planned", name: "Planned", context_length: 0, listed_as: "coming_soon", routes: [] }),
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
  expect([wanted.priceMax, problem]).toEqual([null, "“cheap” is no price: write an amount of USD such as 2.50."]);
});

test("tokens are short: in thousands, and from a million on in millions", () => {
  expect([0, 850, 131_072, 999_499, 999_500, 1_050_000].map(shortTokens)).toEqual(["0", "850", "131K", "999K", "1M", "1.05M"]);
});
