import type { Queries } from "../../backing/backing.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";

/** What became of an ecosystem. */
export interface SyncResult {
  ecosystem: Ecosystem;
  /** Records that are new or replaced an older state. */
  imported: number;
  /** Records that could not be read. */
  refused: number;
  /** Why it was not synchronized; null: it was. */
  failure: string | null;
}

export interface SyncRunRow {
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

/** @returns false while another one runs that was seen since `silentSince` */
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

/** Those that have advisories, also a part of them, and those of projects' components. */
export async function selectUsedEcosystems(sql: Queries): Promise<Ecosystem[]> {
  const rows = await sql<{ ecosystem: Ecosystem }[]>`
    SELECT ecosystem FROM advisory_ecosystems WHERE imported_at IS NOT NULL OR sync_began_at IS NOT NULL
    UNION SELECT ecosystem FROM sbom_ecosystems JOIN projects USING (sbom_id) WHERE ecosystem <> ''`;
  return rows.map(({ ecosystem }) => ecosystem);
}

/** Records that are not withdrawn, and projects with a component, of each ecosystem. It reads all records: some hundred ms for a million. */
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
