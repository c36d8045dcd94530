/** Which connectors a reader asks for: what the list and the catalog's page have in common. */
import { searchable, type PublishedConnector } from "./published.ts";
import type { Method } from "./files/schema.ts";

/** They apply together. */
export interface Filters {
  /** null: any. */
  category: string | null;
  method: Method | null;
  /** Words that must all be found; empty: any. */
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
