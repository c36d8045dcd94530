/** What is known of the age of each ecosystem's advisories. */
import { arrayText } from "../../../backing/sql-text.ts";
import type { Queries, Transaction } from "../../../backing/backing.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import { isKnown } from "../../scans/comparison-store.ts";
import type { PreparedRecord } from "./prepared-record.ts";

/** Notes that records were sent, also those that are stored already. Withdrawn ones say nothing of what is vulnerable, so they do not count. */
export async function noteImported(
  { records, at }: { records: readonly PreparedRecord[]; at: Date },
  tx: Transaction,
): Promise<void> {
  const newest = new Map<Ecosystem, number>();
  for (const { names, modified, facts } of records) {
    if (facts.withdrawn) continue;
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
  known: boolean;
  importedAt: Date | null;
  newestRecord: Date | null;
  syncBeganAt: Date | null;
  syncedAt: Date | null;
  etag: string | null;
  publishedAt: Date | null;
}

/** Not where records are there already: what is known stays known, and a first synchronization that continues began before. */
export async function upsertBegunSync({ ecosystem, at }: { ecosystem: Ecosystem; at: Date }, sql: Queries): Promise<void> {
  await sql`
    INSERT INTO advisory_ecosystems AS stored (ecosystem, sync_began_at) VALUES (${ecosystem}, ${at})
    ON CONFLICT (ecosystem) DO UPDATE SET sync_began_at = excluded.sync_began_at WHERE stored.imported_at IS NULL`;
}

export async function upsertSync(
  { ecosystem, etag, publishedAt, at }: Pick<EcosystemRow, "ecosystem" | "etag" | "publishedAt"> & { at: Date },
  sql: Queries,
): Promise<void> {
  await sql`
    INSERT INTO advisory_ecosystems (ecosystem, synced_at, etag, published_at) VALUES (${ecosystem}, ${at}, ${etag}, ${publishedAt})
    ON CONFLICT (ecosystem) DO UPDATE SET synced_at = excluded.synced_at, etag = excluded.etag, published_at = excluded.published_at,
      sync_began_at = NULL`;
}

export async function selectEcosystems(sql: Queries): Promise<EcosystemRow[]> {
  return sql<EcosystemRow[]>`
    SELECT ecosystem, ${isKnown(sql)} AS known, sync_began_at AS "syncBeganAt", imported_at AS "importedAt", newest_record AS "newestRecord", synced_at AS "syncedAt", etag,
      published_at AS "publishedAt"
    FROM advisory_ecosystems`;
}
