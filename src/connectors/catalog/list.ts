/** A page of the catalog. */
import { Type } from "@sinclair/typebox";
import { filterConnectors } from "./filter.ts";
import type { Published } from "./published.ts";
import type { ListQuery } from "./read-parameters.ts";
import { ConnectorRow } from "./row.ts";

export const ConnectorList = Type.Object({
  connectors: Type.Array(ConnectorRow, { description: "The connectors of this page, sorted by id" }),
  total: Type.Integer({ minimum: 0, description: "How many connectors the filters leave" }),
  limit: Type.Integer({ minimum: 1, description: "Most connectors of a page" }),
  offset: Type.Integer({ minimum: 0, description: "How many come before this page" }),
  has_more: Type.Boolean({ description: "Whether some come after it" }),
  version: Type.String({ description: "Version of the catalog, such as `2026-11-20.1`" }),
});

/** The export as JSON. */
export const ConnectorExport = Type.Object({
  connectors: Type.Array(ConnectorRow, { description: "All connectors, sorted by id" }),
});

/** As JSON, with the rows byte for byte as in the exports. */
export function listText({ connectors, version }: Published, { limit, offset, ...filters }: ListQuery): string {
  const found = filterConnectors(connectors, filters);
  const rows = found.slice(offset, offset + limit).map(({ json }) => json);
  const total = found.length;
  const rest = JSON.stringify({ total, limit, offset, has_more: offset + rows.length < total && rows.length > 0, version });
  return `{"connectors":[${rows.join(",")}],${rest.slice(1)}`;
}
