/**
 * Finds connectors: one by id or slug, the one that an unknown name most likely means, and those that pass the filters of the list and
 * the catalog page. A slug may change; an id never does.
 */
import { nearest } from "../../kernel/text.ts";
import type { Method } from "./files/schema.ts";
import { rowIn, type Published, type PublishedConnector } from "./published.ts";
import type { ConnectorRow } from "./row.ts";
import { search } from "./search.ts";

/**
 * @param idOrSlug of a connector
 * @returns undefined if the catalog has no such connector
 */
export function findConnector(idOrSlug: string, { connectors }: Published): ConnectorRow | undefined {
  const found = connectors.find(({ id }) => id === idOrSlug) ?? connectors.find(({ slug }) => slug === idOrSlug);
  return found && rowIn(found.json);
}

/** Unknown names are cut to this length. */
const lettersMax = 100;

/** The connector that an unknown name most likely means: a search's first result, else the one with the nearest slug. */
export function likelyConnector(unknown: string, { connectors, terms }: Published): PublishedConnector | undefined {
  const name = unknown.slice(0, lettersMax);
  const [found] = name.trim() === "" ? [] : search(name, terms).connectors;
  if (found) return found;
  const slug = nearest(
    name,
    connectors.map((one) => one.slug),
  );
  return connectors.find((one) => one.slug === slug);
}

/** The filters of a list; all apply together. */
export interface Filters {
  /** null: any. */
  category: string | null;
  method: Method | null;
  /** Only those whose credentials can be tested. */
  testable: boolean;
  /** Words that must all match; empty: any. */
  q: string;
}

interface Matches {
  /** What the words find in any category and with any method. The best come first; without words, they are sorted by id. */
  searched: readonly PublishedConnector[];
  /** Those that also pass the other filters, in the same order. */
  connectors: readonly PublishedConnector[];
  /** The words that were searched for instead of mistyped ones; null if none was mistyped. */
  didYouMean: string | null;
}

export function filterConnectors({ terms }: Pick<Published, "terms">, filters: Filters): Matches {
  const { connectors: searched, didYouMean } = search(filters.q, terms);
  return { searched, connectors: passing(searched, filters), didYouMean };
}

/** @returns the connectors in the category, with the method, and testable if that is asked for */
export function passing(
  connectors: readonly PublishedConnector[],
  { category, method, testable }: Omit<Filters, "q">,
): readonly PublishedConnector[] {
  if (category === null && method === null && !testable) return connectors;
  return connectors.filter(
    (one) =>
      (category === null || one.category === category) &&
      (method === null || one.methods.includes(method)) &&
      (!testable || one.testable),
  );
}
