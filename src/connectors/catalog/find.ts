import { rowIn, type Published } from "./published.ts";
import type { ConnectorRow } from "./row.ts";

/**
 * @param idOrSlug of a connector
 * @returns undefined if the catalog has no such connector
 */
export function findConnector(idOrSlug: string, { connectors }: Published): ConnectorRow | undefined {
  const found = connectors.find(({ id }) => id === idOrSlug) ?? connectors.find(({ slug }) => slug === idOrSlug);
  return found && rowIn(found.json);
}
