/** The filters that the list and the catalog page share. */
import { searchable, type PublishedConnector } from "./published.ts";
import type { Method } from "./files/schema.ts";

/** All filters apply together. */
export interface Filters {
  /** null for any. */
  category: string | null;
  method: Method | null;
  /** Words that must all match; empty for any. */
  q: string;
}

export function filterConnectors(
  connectors: readonly PublishedConnector[],
  { category, method, q }: Filters,
): PublishedConnector[] {
  const words = searchable(q)
    .split(/\s+/)
    .filter((word) => word !== "");
  return connectors.filter(
    (one) =>
      (category === null || one.category === category) &&
      (method === null || one.methods.includes(method)) &&
      words.every((word) => one.words.includes(word)),
  );
}
