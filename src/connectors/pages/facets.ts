/** Counts the connectors that each choice of a filter would leave, with the other filters unchanged. */
import { filterConnectors, type Filters } from "../catalog/filter.ts";
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

export function facetsOf(
  filters: Filters,
  { connectors, categories }: { connectors: readonly PublishedConnector[]; categories: readonly string[] },
): Facets {
  const ofAnyCategory = filterConnectors(connectors, { ...filters, category: null });
  const ofAnyMethod = filterConnectors(connectors, { ...filters, method: null });
  const known = methods.filter((method) => connectors.some((one) => one.methods.includes(method)));
  const number = <Choice>(choice: Choice, found: unknown[]) => ({ choice, count: found.length });
  return {
    categories: {
      any: ofAnyCategory.length,
      counts: categories.map((name) =>
        number(
          name,
          ofAnyCategory.filter(({ category }) => category === name),
        ),
      ),
    },
    methods: {
      any: ofAnyMethod.length,
      counts: known.map((method) =>
        number(
          method,
          ofAnyMethod.filter((one) => one.methods.includes(method)),
        ),
      ),
    },
  };
}
