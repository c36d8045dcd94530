/** What is known of the age of each ecosystem's advisories. */
import { arrayText } from "../../../backing/array-text.ts";
import type { Queries, Transaction } from "../../../backing/backing.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import type { PreparedRecord } from "./prepared-record.ts";

/** Notes that records were sent, also those that are stored already. */
export async function noteImported(
  { records, at }: { records: readonly PreparedRecord[]; at: Date },
  tx: Transaction,
): Promise<void> {
  const newest = new Map<Ecosystem, number>();
  for (const { names, modified } of records) {
    for (const { ecosystem } of names) newest.set(ecosystem, Math.max(newest.get(ecosystem) ?? 0, Date.parse(modified)));
  }
  const rows = [...newest];
  if (rows.length === 0) return;
  await tx`
    INSERT INTO advisory_ecosystems (ecosystem, imported_at, newest_record)
    SELECT ecosystem, ${at}::timestamptz, newest FROM unnest(
      ${arrayText(rows, ([ecosystem]) => ecosystem)}::text[],
      ${arrayText(rows, ([, ms]) => new Date(ms).toISOString())}::timestamptz[]) AS row (ecosystem, newest)
    ON CONFLICT (ecosystem) DO UPDATE SET imported_at = excluded.imported_at,
      newest_record = greatest(advisory_ecosystems.newest_record, excluded.newest_record)`;
}

export interface EcosystemRow {
  ecosystem: Ecosystem;
  importedAt: Date | null;
  newestRecord: Date | null;
  syncedAt: Date | null;
  etag: string | null;
  publishedAt: Date | null;
}

export async function upsertSync(
  { ecosystem, etag, publishedAt, at }: Pick<EcosystemRow, "ecosystem" | "etag" | "publishedAt"> & { at: Date },
  sql: Queries,
): Promise<void> {
  await sql`
    INSERT INTO advisory_ecosystems (ecosystem, synced_at, etag, published_at) VALUES (${ecosystem}, ${at}, ${etag}, ${publishedAt})
    ON CONFLICT (ecosystem) DO UPDATE SET synced_at = excluded.synced_at, etag = excluded.etag, published_at = excluded.published_at`;
}

export async function selectEcosystems(sql: Queries): Promise<EcosystemRow[]> {
  return sql<EcosystemRow[]>`
    SELECT ecosystem, imported_at AS "importedAt", newest_record AS "newestRecord", synced_at AS "syncedAt", etag,
      published_at AS "publishedAt"
    FROM advisory_ecosystems`;
}
