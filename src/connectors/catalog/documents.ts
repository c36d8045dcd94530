/**
 * The documents behind the catalog's API: the list, single rows, exports, the schema of a row, and the changes since a version. Each is
 * made once and cached. Their rows are byte for byte as in the exports. Readers of rows ignore unknown fields.
 */
import { Type } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import type { CatalogCache } from "./catalog-cache.ts";
import { changeLine } from "./changes.ts";
import { documentOf, type Document, type CachePolicy } from "../../http/document.ts";
import { filterConnectors } from "./find.ts";
import { isExportFormat, loadExport, type Published } from "./published.ts";
import type { ListQuery } from "./read-parameters.ts";
import { rowSchemaText, ConnectorRow } from "./row.ts";
import { findCatalog, selectChanges, type CatalogVersion } from "./store.ts";

interface Sources {
  published: Published;
  catalogCache: CatalogCache;
}

export function listDocument(query: ListQuery, { published, catalogCache }: Sources): Promise<Document> {
  const key = `list ${published.number} ${JSON.stringify(query)}`;
  const make = (): Promise<Document> => documentOf(listText(published, query), "application/json");
  return catalogCache.kept.get(key, () => catalogCache.renderings.run(make));
}

/** Finds a row by slug or by id; the id stays when the slug changes. @throws DomainError not_found */
export function rowDocument(name: string, { published }: Sources): Promise<Document> {
  const { connectors } = published;
  const found = connectors.find(({ slug }) => slug === name) ?? connectors.find(({ id }) => id === name);
  if (!found) throw new DomainError("not_found", `There is no connector "${name.slice(0, 100)}"`);
  return documentOf(found.json, "application/json");
}

/**
 * @param file such as `latest.ndjson` and `2026-11-20.1.csv`
 * @throws DomainError not_found
 */
export async function exportDocument(
  file: string,
  { published, catalogCache }: Sources,
): Promise<{ document: Document; version: string; stays: CachePolicy["stays"] }> {
  const [, name = "", format = ""] = /^(.+)\.([a-z]+)$/.exec(file) ?? [];
  const unknown = new DomainError("not_found", `There is no export "${file.slice(0, 100)}"`);
  if (!isExportFormat(format)) throw unknown;
  if (name === "latest") return { document: published.exports[format], version: published.version, stays: "until changed" };
  const catalog = await versionOf(name, { published, catalogCache });
  if (!catalog) throw unknown;
  const load = (): Promise<Document> => loadExport({ catalog: catalog.number, format }, catalogCache.sql);
  const document =
    catalog.number === published.number
      ? published.exports[format]
      : await catalogCache.kept.get(`export ${catalog.number} ${format}`, load);
  return { document, version: catalog.version, stays: "for good" };
}

/** The schema of a row, with the categories of the catalog that this gateway serves. */
export function schemaDocument({ kept, categories }: CatalogCache): Promise<Document> {
  const key = `schema ${JSON.stringify(categories)}`;
  return kept.get(key, () => documentOf(rowSchemaText(categories), "application/schema+json"));
}

/**
 * The changes from a version up to the one that this gateway serves; none if the gateway's version is older, as during a rolling restart.
 * @param since a version, or `0` for all changes
 * @throws DomainError invalid_field if it was never published
 */
export async function changesDocument(since: string, { published, catalogCache }: Sources): Promise<Document> {
  const from = since === "0" ? { number: 0 } : await versionOf(since, { published, catalogCache });
  if (!from) {
    const needed = "a version of this catalog, or 0 for everything, is needed";
    throw new DomainError("invalid_field", `The parameter "since" is "${since.slice(0, 100)}": ${needed}`);
  }
  return catalogCache.kept.get(`changes ${from.number} ${published.number}`, async () => {
    const changes = await selectChanges({ after: from.number, upTo: published.number }, catalogCache.sql);
    return documentOf(changes.map(changeLine).join(""), "application/x-ndjson");
  });
}

/** A page of the catalog. */
export const ConnectorList = Type.Object({
  connectors: Type.Array(ConnectorRow, {
    description: "The connectors of this page: with `q` the best match first, else sorted by id",
  }),
  total: Type.Integer({ minimum: 0, description: "Number of connectors that match the filters" }),
  limit: Type.Integer({ minimum: 1, description: "Maximum number of connectors on a page" }),
  offset: Type.Integer({ minimum: 0, description: "Number of connectors before this page" }),
  has_more: Type.Boolean({ description: "Whether more connectors follow this page" }),
  did_you_mean: Type.Union([Type.String(), Type.Null()], {
    description: "The words that were searched for instead of mistyped ones; null if the words of `q` were looked for",
  }),
  version: Type.String({ description: "Version of the catalog, such as `2026-11-20.1`" }),
});

/** The export as JSON. */
export const ConnectorExport = Type.Object({
  connectors: Type.Array(ConnectorRow, { description: "All connectors, sorted by id" }),
});

/** Writes JSON with the rows byte for byte as in the exports. */
function listText(published: Published, { limit, offset, ...filters }: ListQuery): string {
  const { connectors: found, didYouMean } = filterConnectors(published, filters);
  const { version } = published;
  const rows = found.slice(offset, offset + limit).map(({ json }) => json);
  const total = found.length;
  const hasMore = offset + rows.length < total && rows.length > 0;
  const rest = JSON.stringify({ total, limit, offset, has_more: hasMore, did_you_mean: didYouMean, version });
  return `{"connectors":[${rows.join(",")}],${rest.slice(1)}`;
}

async function versionOf(name: string, { published, catalogCache }: Sources): Promise<CatalogVersion | undefined> {
  if (name === published.version) return published;
  return /^\d{4}-\d{2}-\d{2}\.\d{1,9}$/.test(name) ? findCatalog(name, catalogCache.sql) : undefined;
}
