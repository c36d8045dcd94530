/** What each path of the catalog is answered with, made once and kept. */
import { changeLine } from "../changes.ts";
import { documentOf, type Document } from "../document.ts";
import type { ConnectorLibrary } from "../catalog-cache.ts";
import { listText } from "../list.ts";
import { isExportFormat, loadExport, type Published } from "../published.ts";
import type { ListQuery } from "../read-parameters.ts";
import { ConnectorRefusal } from "../refusal.ts";
import { rowSchemaText } from "../row-schema.ts";
import { findCatalog, selectChanges, type CatalogVersion } from "../store.ts";
import type { Manner } from "./answer.ts";

interface Sources {
  published: Published;
  library: ConnectorLibrary;
}

export function listDocument(query: ListQuery, { published, library }: Sources): Promise<Document> {
  const key = `list ${published.number} ${JSON.stringify(query)}`;
  const make = (): Promise<Document> => documentOf(listText(published, query), "application/json");
  return library.kept.get(key, () => library.renderings.run(make));
}

/** By the slug, or by the id, which stays when a slug changes. @throws ConnectorRefusal 404 */
export function rowDocument(name: string, { published }: Sources): Promise<Document> {
  const { connectors } = published;
  const found = connectors.find(({ slug }) => slug === name) ?? connectors.find(({ id }) => id === name);
  if (!found) throw new ConnectorRefusal(404, `There is no connector "${name.slice(0, 100)}"`);
  return documentOf(found.json, "application/json");
}

/**
 * @param file such as `latest.ndjson` and `2026-11-20.1.csv`
 * @throws ConnectorRefusal 404
 */
export async function exportDocument(
  file: string,
  { published, library }: Sources,
): Promise<{ document: Document; version: string; stays: Manner["stays"] }> {
  const [, name = "", format = ""] = /^(.+)\.([a-z]+)$/.exec(file) ?? [];
  const unknown = new ConnectorRefusal(404, `There is no export "${file.slice(0, 100)}"`);
  if (!isExportFormat(format)) throw unknown;
  if (name === "latest") return { document: published.exports[format], version: published.version, stays: "until changed" };
  const catalog = await versionOf(name, { published, library });
  if (!catalog) throw unknown;
  const load = (): Promise<Document> => loadExport({ catalog: catalog.number, format }, library.sql);
  const document =
    catalog.number === published.number
      ? published.exports[format]
      : await library.kept.get(`export ${catalog.number} ${format}`, load);
  return { document, version: catalog.version, stays: "for good" };
}

/** The schema of a row, which lists the categories of the catalog that this gateway serves. */
export function schemaDocument({ kept, categories }: ConnectorLibrary): Promise<Document> {
  const key = `schema ${JSON.stringify(categories)}`;
  return kept.get(key, () => documentOf(rowSchemaText(categories), "application/schema+json"));
}

/**
 * From one version to the one that this gateway serves, and never beyond it; empty where that is older, as while a fleet is renewed.
 * @param since a version, or `0`: before the first
 * @throws ConnectorRefusal 400 where it was never published
 */
export async function changesDocument(since: string, { published, library }: Sources): Promise<Document> {
  const from = since === "0" ? { number: 0 } : await versionOf(since, { published, library });
  if (!from) {
    const needed = "a version of this catalog, or 0 for everything, is needed";
    throw new ConnectorRefusal(400, `The parameter "since" is "${since.slice(0, 100)}": ${needed}`);
  }
  return library.kept.get(`changes ${from.number} ${published.number}`, async () => {
    const changes = await selectChanges({ after: from.number, upTo: published.number }, library.sql);
    return documentOf(changes.map(changeLine).join(""), "application/x-ndjson");
  });
}

async function versionOf(name: string, { published, library }: Sources): Promise<CatalogVersion | undefined> {
  if (name === published.version) return published;
  return /^\d{4}-\d{2}-\d{2}\.\d{1,9}$/.test(name) ? findCatalog(name, library.sql) : undefined;
}
