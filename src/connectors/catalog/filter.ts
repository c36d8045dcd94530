/** The filters that the list and the catalog page share. */
import type { Published, PublishedConnector } from "./published.ts";
import type { Method } from "./files/schema.ts";
import { search } from "./search/search.ts";

/** All filters apply together. */
export interface Filters {
  /** null for any. */
  category: string | null;
  method: Method | null;
  /** Words that must all match; empty for any. */
  q: string;
}

export interface Matches {
  /** What the words find in any category and with any method; the best first, without words sorted by id. */
  searched: readonly PublishedConnector[];
  /** Those of them that pass the other filters, in the same order. */
  connectors: readonly PublishedConnector[];
  /** The words that were looked for in place of mistyped ones; null if nothing was mistyped. */
  didYouMean: string | null;
}

export function filterConnectors({ terms }: Pick<Published, "terms">, filters: Filters): Matches {
  const { connectors: searched, didYouMean } = search(filters.q, terms);
  return { searched, connectors: passing(searched, filters), didYouMean };
}

/** @returns those of the category and with the method */
export function passing(
  connectors: readonly PublishedConnector[],
  { category, method }: Pick<Filters, "category" | "method">,
): readonly PublishedConnector[] {
  if (category === null && method === null) return connectors;
  return connectors.filter(
    (one) => (category === null || one.category === category) && (method === null || one.methods.includes(method)),
  );
}
