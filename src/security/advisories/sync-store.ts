/**
 * The SQL of synchronizations: a fleet's single run with its progress, and the age of each ecosystem's advisories. Withdrawn records
 * say nothing about what is vulnerable, so they do not make an ecosystem known.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { arrayText } from "../../backing/sql-text.ts";
import { isKnown } from "../scans/comparison-store.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";
import type { PreparedRecord } from "./read-body.ts";

/** EPSS scores, and CISA's catalog of known exploited vulnerabilities. */
export const exploitSources = ["EPSS", "KEV"] as const;
export type ExploitSource = (typeof exploitSources)[number];

/** What a run synchronizes: the advisories of an ecosystem, or what is known about exploits. */
export type SyncSource = Ecosystem | ExploitSource;

/** The result for one ecosystem, or for EPSS or KEV. */
export interface SyncResult {
  ecosystem: SyncSource;
  /** Records that are new or replaced an older state. */
  imported: number;
  /** Records that could not be read. */
  refused: number;
  /** Why it was not synchronized; null: it was. */
  failure: string | null;
}

interface SyncRunRow {
  startedAt: Date;
  seenAt: Date;
  progress: string;
  endedAt: Date | null;
  failure: string | null;
  results: SyncResult[];
}

export async function selectSyncRun(sql: Queries): Promise<SyncRunRow | undefined> {
  const [row] = await sql<SyncRunRow[]>`
    SELECT started_at AS "startedAt", seen_at AS "seenAt", progress, ended_at AS "endedAt", failure, results FROM advisory_sync_run`;
  return row;
}

/** @returns false if another run was seen since `silentSince` and has not ended */
export async function insertSyncRun(
  { id, at, silentSince }: { id: string; at: Date; silentSince: Date },
  sql: Queries,
): Promise<boolean> {
  const rows = await sql`
    INSERT INTO advisory_sync_run AS run (id, started_at, seen_at, progress) VALUES (${id}, ${at}, ${at}, 'it begins')
    ON CONFLICT (single) DO UPDATE SET id = excluded.id, started_at = excluded.started_at, seen_at = excluded.seen_at,
      progress = excluded.progress, ended_at = NULL, failure = NULL, results = '[]'
    WHERE run.ended_at IS NOT NULL OR run.seen_at < ${silentSince}
    RETURNING id`;
  return rows.length === 1;
}

export async function updateSyncProgress(
  { id, at, progress }: { id: string; at: Date; progress: string },
  sql: Queries,
): Promise<void> {
  await sql`UPDATE advisory_sync_run SET seen_at = ${at}, progress = ${progress} WHERE id = ${id} AND ended_at IS NULL`;
}

export async function updateToEnded(
  { id, at, failure, results }: { id: string; at: Date; failure: string | null; results: SyncResult[] },
  sql: Queries,
): Promise<void> {
  await sql`
    UPDATE advisory_sync_run SET ended_at = ${at}, seen_at = ${at}, failure = ${failure}, results = ${sql.json(results as never)}
    WHERE id = ${id}`;
}

/** Ecosystems that have any advisories, and ecosystems of projects' components. */
export async function selectUsedEcosystems(sql: Queries): Promise<Ecosystem[]> {
  const rows = await sql<{ ecosystem: Ecosystem }[]>`
    SELECT ecosystem FROM advisory_ecosystems WHERE imported_at IS NOT NULL OR sync_began_at IS NOT NULL
    UNION SELECT ecosystem FROM sbom_ecosystems JOIN projects USING (sbom_id) WHERE ecosystem <> ''`;
  return rows.map(({ ecosystem }) => ecosystem);
}

/**
 * Counts each ecosystem's records that are not withdrawn, and the projects with a component. It reads all records: a few hundred ms for a
 * million.
 */
export async function selectAdvisoryCounts(sql: Queries): Promise<{ ecosystem: Ecosystem; records: number; projects: number }[]> {
  return sql<{ ecosystem: Ecosystem; records: number; projects: number }[]>`
    SELECT ecosystem, coalesce(records, 0)::integer AS records, coalesce(projects, 0)::integer AS projects
    FROM (
      SELECT packages.ecosystem, count(DISTINCT advisory_id) AS records
      FROM affected_packages JOIN packages ON packages.id = package_id JOIN advisories ON advisories.id = advisory_id
      WHERE NOT withdrawn GROUP BY packages.ecosystem) AS known
    FULL JOIN (
      SELECT ecosystem, count(*) AS projects FROM projects JOIN sbom_ecosystems ON sbom_ecosystems.sbom_id = projects.sbom_id
      WHERE ecosystem <> '' GROUP BY ecosystem) AS used USING (ecosystem)`;
}

/** Notes that records were sent, even if they were already stored. */
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

interface EcosystemRow {
  ecosystem: Ecosystem;
  known: boolean;
  importedAt: Date | null;
  newestRecord: Date | null;
  syncBeganAt: Date | null;
  syncedAt: Date | null;
  etag: string | null;
  publishedAt: Date | null;
}

/** Does nothing once there are records: what is known stays known, and a resumed first synchronization keeps its start. */
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
