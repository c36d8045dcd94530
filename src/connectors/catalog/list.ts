/** A page of the catalog. */
import { Type } from "@sinclair/typebox";
import { filterConnectors } from "./filter.ts";
import type { Published } from "./published.ts";
import type { ListQuery } from "./read-parameters.ts";
import { ConnectorRow } from "./row.ts";

export const ConnectorList = Type.Object({
  connectors: Type.Array(ConnectorRow, {
    description: "The connectors of this page: with `q` the best match first, else sorted by id",
  }),
  total: Type.Integer({ minimum: 0, description: "Number of connectors that match the filters" }),
  limit: Type.Integer({ minimum: 1, description: "Maximum number of connectors on a page" }),
  offset: Type.Integer({ minimum: 0, description: "Number of connectors before this page" }),
  has_more: Type.Boolean({ description: "Whether more connectors follow this page" }),
  did_you_mean: Type.Union([Type.String(), Type.Null()], {
    description: "The words that were looked for in place of mistyped ones; null if the words of `q` were looked for",
  }),
  version: Type.String({ description: "Version of the catalog, such as `2026-11-20.1`" }),
});

/** The export as JSON. */
export const ConnectorExport = Type.Object({
  connectors: Type.Array(ConnectorRow, { description: "All connectors, sorted by id" }),
});

/** Writes JSON with the rows byte for byte as in the exports. */
export function listText(published: Published, { limit, offset, ...filters }: ListQuery): string {
  const { connectors: found, didYouMean } = filterConnectors(published, filters);
  const { version } = published;
  const rows = found.slice(offset, offset + limit).map(({ json }) => json);
  const total = found.length;
  const hasMore = offset + rows.length < total && rows.length > 0;
  const rest = JSON.stringify({ total, limit, offset, has_more: hasMore, did_you_mean: didYouMean, version });
  return `{"connectors":[${rows.join(",")}],${rest.slice(1)}`;
}
