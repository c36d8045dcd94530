/** A page of the catalog. */
import { Type } from "@sinclair/typebox";
import { filterConnectors } from "./filter.ts";
import type { Published } from "./published.ts";
import type { ListQuery } from "./read-parameters.ts";
import { ConnectorRow } from "./row.ts";

export const ConnectorList = Type.Object({
  connectors: Type.Array(ConnectorRow, { description: "The connectors of this page, sorted by id" }),
  total: Type.Integer({ minimum: 0, description: "Number of connectors that match the filters" }),
  limit: Type.Integer({ minimum: 1, description: "Maximum number of connectors on a page" }),
  offset: Type.Integer({ minimum: 0, description: "Number of connectors before this page" }),
  has_more: Type.Boolean({ description: "Whether more connectors follow this page" }),
  version: Type.String({ description: "Version of the catalog, such as `2026-11-20.1`" }),
});

/** The export as JSON. */
export const ConnectorExport = Type.Object({
  connectors: Type.Array(ConnectorRow, { description: "All connectors, sorted by id" }),
});

/** Writes JSON with the rows byte for byte as in the exports. */
export function listText({ connectors, version }: Published, { limit, offset, ...filters }: ListQuery): string {
  const found = filterConnectors(connectors, filters);
  const rows = found.slice(offset, offset + limit).map(({ json }) => json);
  const total = found.length;
  const rest = JSON.stringify({ total, limit, offset, has_more: offset + rows.length < total && rows.length > 0, version });
  return `{"connectors":[${rows.join(",")}],${rest.slice(1)}`;
}
