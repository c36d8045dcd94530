/** The documents of the catalog's paths, each made once and cached. */
import { changeLine } from "../changes.ts";
import { documentOf, type Document } from "../document.ts";
import type { CatalogCache } from "../catalog-cache.ts";
import { listText } from "../list.ts";
import { isExportFormat, loadExport, type Published } from "../published.ts";
import type { ListQuery } from "../read-parameters.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { rowSchemaText } from "../row-schema.ts";
import { findCatalog, selectChanges, type CatalogVersion } from "../store.ts";
import type { CachePolicy } from "./answer.ts";

interface Sources {
  published: Published;
  catalogCache: CatalogCache;
}

export function listDocument(query: ListQuery, { published, catalogCache }: Sources): Promise<Document> {
  const key = `list ${published.number} ${JSON.stringify(query)}`;
  const make = (): Promise<Document> => documentOf(listText(published, query), "application/json");
  return catalogCache.kept.get(key, () => catalogCache.renderings.run(make));
}

/** Finds a row by slug, or by id, which stays when a slug changes. @throws DomainError not_found */
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
 * The changes from a version up to the one that this gateway serves; empty if that is older, as during a rolling restart.
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

async function versionOf(name: string, { published, catalogCache }: Sources): Promise<CatalogVersion | undefined> {
  if (name === published.version) return published;
  return /^\d{4}-\d{2}-\d{2}\.\d{1,9}$/.test(name) ? findCatalog(name, catalogCache.sql) : undefined;
}
