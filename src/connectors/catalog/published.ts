/** A recorded version in a gateway's memory: its exports, ready to send, and its rows, ready to search. */
import type { Database } from "../../backing/backing.ts";
import { textOf, unpackedDocument, type Document } from "./document.ts";
import { exportFormats, exportTypes, type ExportFormat } from "./exports.ts";
import type { ConnectorRow } from "./row.ts";
import { searchTermsOf, type Searchable, type SearchTerms, type SearchKnowledge } from "./search/search-terms.ts";
import { selectExport, type CatalogVersion } from "./store.ts";

export interface PublishedConnector extends Searchable {
  /** The row as in the exports. */
  json: string;
}

export interface Published extends CatalogVersion {
  /** Sorted by id. */
  connectors: readonly PublishedConnector[];
  terms: SearchTerms<PublishedConnector>;
  exports: Record<ExportFormat, Document>;
}

/** @param known the words by which connectors are found beside those of their rows */
export async function loadPublished(
  catalog: CatalogVersion,
  { sql, known }: { sql: Database; known: SearchKnowledge },
): Promise<Published> {
  const load = (format: ExportFormat): Promise<Document> => loadExport({ catalog: catalog.number, format }, sql);
  const [ndjson, csv, json] = await Promise.all([load("ndjson"), load("csv"), load("json")]);
  const lines = textOf(ndjson).split("\n");
  const connectors = lines.filter((line) => line !== "").map(published);
  return { ...catalog, exports: { ndjson, csv, json }, connectors, terms: searchTermsOf(connectors, known) };
}

/** @throws Error if the version has no exports: both are recorded together */
export async function loadExport(
  { catalog, format }: { catalog: number; format: ExportFormat },
  sql: Database,
): Promise<Document> {
  const gzip = await selectExport({ catalog, format }, sql);
  if (!gzip) throw new Error(`Version ${catalog} of the connector catalog has no export "${format}"`);
  return unpackedDocument(gzip, exportTypes[format]);
}

export function isExportFormat(text: string): text is ExportFormat {
  return exportFormats.some((format) => format === text);
}

function published(line: string): PublishedConnector {
  const { id, slug, category, methods, name, vendor } = rowIn(line);
  return { id, slug, category, methods, name, vendor, json: line };
}

/** This service recorded the row, so its type holds. */
export function rowIn(line: string): ConnectorRow {
  return JSON.parse(line) as ConnectorRow;
}
