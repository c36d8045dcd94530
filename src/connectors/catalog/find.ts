import { nearest } from "../../kernel/nearest.ts";
import { rowIn, type Published, type PublishedConnector } from "./published.ts";
import type { ConnectorRow } from "./row.ts";
import { search } from "./search/search.ts";

/**
 * @param idOrSlug of a connector
 * @returns undefined if the catalog has no such connector
 */
export function findConnector(idOrSlug: string, { connectors }: Published): ConnectorRow | undefined {
  const found = connectors.find(({ id }) => id === idOrSlug) ?? connectors.find(({ slug }) => slug === idOrSlug);
  return found && rowIn(found.json);
}

/** An unknown name is cut to this length. */
const lettersMax = 100;

/** The connector that an unknown name most likely means: the first that a search finds, else the one with the nearest slug. */
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
