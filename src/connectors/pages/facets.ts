/** Counts the connectors that each choice of a filter would leave, with the other filters unchanged. */
import { passing, type Filters } from "../catalog/filter.ts";
import type { PublishedConnector } from "../catalog/published.ts";
import { methods, type Method } from "../catalog/files/schema.ts";

export interface Facet<Choice> {
  /** Without this filter. */
  any: number;
  counts: { choice: Choice; count: number }[];
}

export interface Facets {
  categories: Facet<string>;
  /** Only choices that a connector of the catalog has. */
  methods: Facet<Method>;
}

interface Sources {
  /** What the words find. */
  searched: readonly PublishedConnector[];
  /** The whole catalog. */
  connectors: readonly PublishedConnector[];
  categories: readonly string[];
}

export function facetsOf(
  { category, method }: Pick<Filters, "category" | "method">,
  { searched, connectors, categories }: Sources,
): Facets {
  const ofAnyCategory = passing(searched, { category: null, method });
  const ofAnyMethod = passing(searched, { category, method: null });
  const byCategory = countsOf(ofAnyCategory, (one) => [one.category]);
  const byMethod = countsOf(ofAnyMethod, (one) => one.methods);
  const known = methods.filter((method) => connectors.some((one) => one.methods.includes(method)));
  return {
    categories: {
      any: ofAnyCategory.length,
      counts: categories.map((choice) => ({ choice, count: byCategory.get(choice) ?? 0 })),
    },
    methods: { any: ofAnyMethod.length, counts: known.map((choice) => ({ choice, count: byMethod.get(choice) ?? 0 })) },
  };
}

function countsOf(
  connectors: readonly PublishedConnector[],
  choicesOf: (one: PublishedConnector) => readonly string[],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of connectors) for (const choice of choicesOf(one)) counts.set(choice, (counts.get(choice) ?? 0) + 1);
  return counts;
}
