/**
 * A recorded version of the catalog in a gateway's memory, and how it is recorded. A catalog gets its existing version, or a new one with a
 * list of changes. It is recorded once, no matter how many gateways start with it at the same time. Exports are ready to send, rows ready
 * to search.
 */
import type { Database, Transaction } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { changesBetween } from "./changes.ts";
import { textOf, unpackedDocument, type Document, compressed, sha256 } from "../../http/document.ts";
import { exportFormats, exportTypes, type ExportFormat, exportCatalog } from "./exports.ts";
import type { ConnectorCatalog } from "./files/schema.ts";
import { isTestable, type ConnectorRow } from "./row.ts";
import { searchTermsOf, type Searchable, type SearchTerms, type SearchKnowledge } from "./search-terms.ts";
import * as store from "./store.ts";

export interface PublishedConnector extends Searchable {
  /** Whether the credentials of at least one set can be tested. */
  testable: boolean;
  /** The row as in the exports. */
  json: string;
}

export interface Published extends store.CatalogVersion {
  /** Sorted by id. */
  connectors: readonly PublishedConnector[];
  terms: SearchTerms<PublishedConnector>;
  exports: Record<ExportFormat, Document>;
}

/** @param known words that find connectors, besides those of their rows */
export async function loadPublished(
  catalog: store.CatalogVersion,
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
  const gzip = await store.selectExport({ catalog, format }, sql);
  if (!gzip) throw new Error(`Version ${catalog} of the connector catalog has no export "${format}"`);
  return unpackedDocument(gzip, exportTypes[format]);
}

export function isExportFormat(text: string): text is ExportFormat {
  return exportFormats.some((format) => format === text);
}

/** This service recorded the row, so its type holds. */
export function rowIn(line: string): ConnectorRow {
  return JSON.parse(line) as ConnectorRow;
}

interface Sources {
  sql: Database;
  clock: Clock;
}

/** Records a catalog unless it is already recorded. @returns its version */
export async function recordCatalog(catalog: ConnectorCatalog, { sql, clock }: Sources): Promise<store.CatalogVersion> {
  const ndjson = exportCatalog(catalog, "ndjson");
  const digest = sha256(ndjson);
  const latest = await store.latestCatalog(sql);
  if (latest?.sha256 === digest) return latest;
  const exports = await Promise.all(
    exportFormats.map(async (format) => ({ format, gzip: await compressed(Buffer.from(exportCatalog(catalog, format))) })),
  );
  return sql.begin(async (tx) => {
    await store.lockCatalogs(tx);
    const before = await store.latestCatalog(tx);
    if (before?.sha256 === digest) return before;
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    const version = `${day}.${(await store.countCatalogsOf(day, tx)) + 1}`;
    const recorded = { number: (before?.number ?? 0) + 1, version, sha256: digest };
    await store.insertCatalog({ ...recorded, connectors: catalog.connectors.length, at: new Date(clock.now()) }, tx);
    for (const one of exports) await store.insertExport({ catalog: recorded.number, ...one }, tx);
    await store.insertChanges(recorded.number, changesBetween({ before: await ndjsonOf(before, tx), after: ndjson }), tx);
    return recorded;
  });
}

function published(line: string): PublishedConnector {
  const row = rowIn(line);
  const { id, slug, category, methods, name, vendor } = row;
  return { id, slug, category, methods, name, vendor, testable: isTestable(row), json: line };
}

async function ndjsonOf(catalog: store.CatalogVersion | undefined, tx: Transaction): Promise<string> {
  const gzip = catalog && (await store.selectExport({ catalog: catalog.number, format: "ndjson" }, tx));
  return gzip ? textOf(await unpackedDocument(gzip, "")) : "";
}
