/** Connectors of the catalog that this service has published. */
import { findConnector } from "../../../connectors/catalog/find.ts";
import { rowIn, type Published } from "../../../connectors/catalog/published.ts";
import type { ConnectorRow } from "../../../connectors/catalog/row.ts";
import { search } from "../../../connectors/catalog/search.ts";
import { DomainError } from "../../../accounts/errors.ts";
import type { PageCall } from "../../page.ts";

/** @throws DomainError unavailable until a catalog is published */
export function catalogOf({ parts }: Pick<PageCall, "parts">): Published {
  const { published } = parts.control.connectors;
  if (published === null) throw new DomainError("unavailable", "There is no connector catalog yet: try again shortly");
  return published;
}

/** @throws DomainError not_found */
export function requireConnector(idOrSlug: string, call: Pick<PageCall, "parts">): ConnectorRow {
  const row = findConnector(idOrSlug, catalogOf(call));
  if (row === undefined) throw new DomainError("not_found", `There is no connector "${idOrSlug.slice(0, 100)}" in the catalog`);
  return row;
}

/** Its name, or its id where the catalog no longer has it. */
export function connectorName(id: string, { parts }: Pick<PageCall, "parts">): string {
  const { published } = parts.control.connectors;
  return (published === null ? undefined : findConnector(id, published)?.name) ?? id;
}

/** The connectors that the words find, the best first, as on the public page. */
export function searchConnectors(
  q: string,
  { call, most }: { call: Pick<PageCall, "parts">; most: number },
): { rows: ConnectorRow[]; total: number; didYouMean: string | null } {
  const { connectors: found, didYouMean } = search(q, catalogOf(call).terms);
  return { rows: found.slice(0, most).map(({ json }) => rowIn(json)), total: found.length, didYouMean };
}
