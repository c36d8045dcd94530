/**
 * The SQL of published catalogs, their exports and changes. A lock lets one gateway publish at a time. Changes are numbered across
 * versions.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { Change, RecordedChange } from "./changes.ts";
import type { ExportFormat } from "./exports.ts";

export interface CatalogVersion {
  /** In the order of publication, from 1. */
  number: number;
  version: string;
  sha256: string;
}

/** Prevents other publications until the transaction ends. */
export async function lockCatalogs(tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended('weir connector catalog', 0))`;
}

export async function latestCatalog(sql: Queries): Promise<CatalogVersion | undefined> {
  const [row] = await sql<CatalogVersion[]>`
    SELECT number, version, sha256 FROM connector_catalogs ORDER BY number DESC LIMIT 1`;
  return row;
}

export async function findCatalog(version: string, sql: Queries): Promise<CatalogVersion | undefined> {
  const [row] = await sql<CatalogVersion[]>`SELECT number, version, sha256 FROM connector_catalogs WHERE version = ${version}`;
  return row;
}

/** @param day such as `2026-11-20` */
export async function countCatalogsOf(day: string, sql: Queries): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM connector_catalogs WHERE starts_with(version, ${`${day}.`})`;
  return row?.count ?? 0;
}

export async function insertCatalog(
  { number, version, sha256, connectors, at }: CatalogVersion & { connectors: number; at: Date },
  tx: Transaction,
): Promise<void> {
  await tx`
    INSERT INTO connector_catalogs (number, version, sha256, connectors, published_at)
    VALUES (${number}, ${version}, ${sha256}, ${connectors}, ${at})`;
}

export async function insertExport(
  { catalog, format, gzip }: { catalog: number; format: ExportFormat; gzip: Uint8Array },
  tx: Transaction,
): Promise<void> {
  const hex = Buffer.from(gzip).toString("hex");
  await tx`INSERT INTO connector_exports (catalog, format, gzip) VALUES (${catalog}, ${format}, decode(${hex}, 'hex'))`;
}

export async function selectExport(
  { catalog, format }: { catalog: number; format: ExportFormat },
  sql: Queries,
): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ gzip: Uint8Array }[]>`
    SELECT gzip FROM connector_exports WHERE catalog = ${catalog} AND format = ${format}`;
  return row?.gzip;
}

/** Numbers the changes, continuing from the last one. */
export async function insertChanges(catalog: number, changes: readonly Change[], tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO connector_changes (seq, catalog, connector_id, op, row)
    SELECT (SELECT coalesce(max(seq), 0) FROM connector_changes) + change.ordinality::integer, ${catalog}::integer,
      change.value ->> 'id', change.value ->> 'op', change.value ->> 'row'
    FROM jsonb_array_elements(${JSON.stringify(changes)}::text::jsonb) WITH ORDINALITY AS change`;
}

/** The changes of all catalogs later than `after`, up to and including `upTo`, in order. */
export async function selectChanges({ after, upTo }: { after: number; upTo: number }, sql: Queries): Promise<RecordedChange[]> {
  return sql<RecordedChange[]>`
    SELECT change.seq, change.connector_id AS id, change.op, catalog.version, change.row
    FROM connector_changes AS change JOIN connector_catalogs AS catalog ON catalog.number = change.catalog
    WHERE change.catalog > ${after} AND change.catalog <= ${upTo} ORDER BY change.seq`;
}
