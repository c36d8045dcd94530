import { rowIn, type Published } from "./published.ts";
import type { ConnectorRow } from "./row.ts";

/**
 * @param named an id or slug
 * @returns undefined if the catalog has no such connector
 */
export function findConnector(named: string, { connectors }: Published): ConnectorRow | undefined {
  const found = connectors.find(({ id }) => id === named) ?? connectors.find(({ slug }) => slug === named);
  return found && rowIn(found.json);
}
