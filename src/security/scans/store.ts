/**
 * The SQL of the scan queue: request, take, extend, complete, postpone, fail, and the fair shares of workspaces.
 *
 * A scan is requested in the transaction that changes an SBOM or an advisory; after the commit, the caller sends the notification
 * `scan-waits`. It may be lost, so scanners also poll. A request during a scan causes another scan. A workspace's scanner time decays, so
 * that roughly the last half minute counts. Within a workspace, each doubling of its time moves a scan one level behind the others, so a
 * small document does not wait for a large one.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { arrayText } from "../../backing/sql-text.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { scanSliceMs, scanShareFadesMs, scanWorkspacesTried } from "../limits.ts";
import type { ScanProgress } from "./scan-progress.ts";

const advisoryChangeLock = "weir scans";

/** Waits until the transactions that now hold the lock have ended. */
export async function awaitAdvisoryChanges(tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtext(${advisoryChangeLock}))`;
}

export interface TakenRow {
  project: string;
  workspace: WorkspaceId;
  /** Attempts since the scan was requested or last made progress, including this one. */
  attempts: number;
}

/** Takes the due project that has waited longest in the workspace with the least scanner time; undefined: none is free. */
export async function takeDue(
  { workspace, now, until }: { workspace: WorkspaceId; now: Date; until: Date },
  sql: Queries,
): Promise<TakenRow | undefined> {
  const [row] = await sql<TakenRow[]>`
    UPDATE projects SET scan_status = 'scanning', scan_attempts = scan_attempts + 1, scan_due_at = ${until}
    WHERE id = (
      SELECT id FROM projects WHERE workspace_id = ${workspace} AND scan_status IN ('pending', 'scanning') AND scan_due_at <= ${now}
      ORDER BY scan_level, scan_due_at, id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
    RETURNING id AS project, workspace_id AS workspace, scan_attempts AS attempts`;
  return row;
}

/** Identifies a lease: no two leases of a project end at the same time. */
export interface LeaseKey {
  project: string;
  until: Date;
}

export interface ScanStateRow {
  workspace: WorkspaceId;
  /** The current SBOM; null: the project has none. */
  sbom: string | null;
  asked: bigint;
  /** When the last scan of the project began; null: never. */
  beganAt: Date | null;
  /** null: no scan has begun. */
  progress: ScanProgress | null;
}

export async function selectScanState({ project, until }: LeaseKey, sql: Queries): Promise<ScanStateRow | undefined> {
  const [row] = await sql<ScanStateRow[]>`
    SELECT workspace_id AS workspace, sbom_id AS sbom, scan_asked AS asked, scan_pass AS progress, scan_began_at AS "beganAt"
    FROM projects
    WHERE id = ${project} AND scan_due_at = ${until}`;
  return row;
}

export async function updateToBegun(
  { project, until, progress, at }: LeaseKey & { progress: ScanProgress; at: Date },
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE projects SET scan_pass = ${tx.json(progress as never)}, scan_began_at = ${at}
    WHERE id = ${project} AND scan_due_at = ${until}`;
}

/**
 * Extends the lease and locks the project. Progress resets the count of attempts.
 * @param pass how far the scan is once the transaction is committed; null: unchanged
 * @returns its product; undefined if the lease is lost
 */
export async function moveLease(
  { project, until, next, progress }: LeaseKey & { next: Date; progress: ScanProgress | null },
  tx: Transaction,
): Promise<{ product: string | null } | undefined> {
  const further = progress === null ? tx`` : tx`, scan_pass = ${tx.json(progress as never)}, scan_attempts = 1`;
  const [row] = await tx<{ product: string | null }[]>`
    UPDATE projects SET scan_due_at = ${next} ${further} WHERE id = ${project} AND scan_due_at = ${until} RETURNING product_id AS product`;
  return row;
}

/** If another scan was requested meanwhile, the project waits again. @returns false if the lease is lost */
export async function updateToCompleted(
  { project, until, progress, at }: LeaseKey & { progress: ScanProgress; at: Date },
  sql: Queries,
): Promise<boolean> {
  const { count } = await sql`
    UPDATE projects
    SET scan_status = CASE WHEN scan_asked = ${progress.asked} THEN 'completed' ELSE 'pending' END,
      last_scanned_at = CASE WHEN scan_asked = ${progress.asked} THEN ${at} ELSE last_scanned_at END,
      scan_due_at = CASE WHEN scan_asked = ${progress.asked} THEN NULL ELSE ${at}::timestamptz END,
      scan_attempts = 0, scan_failure = NULL, scan_pass = NULL, scan_served_ms = 0, scan_level = 0,
      findings_left_out = ${progress.findingsLeftOut}, unknowns_left_out = ${progress.unknownLeftOut}
    WHERE id = ${project} AND scan_due_at = ${until}`;
  return count > 0;
}

/** Each doubling of a scan's scanner time moves it one level behind the workspace's other scans. */
export async function updateToNextSlice(
  { project, until, due, spentMs }: LeaseKey & { due: Date; spentMs: number },
  sql: Queries,
): Promise<void> {
  await sql`
    UPDATE projects SET scan_due_at = ${due}, scan_attempts = 0, scan_served_ms = scan_served_ms + ${spentMs}::bigint,
      scan_level = floor(log(2, 1 + (scan_served_ms + ${spentMs}::bigint)::numeric / ${scanSliceMs}::numeric))
    WHERE id = ${project} AND scan_due_at = ${until}`;
}

/** @param attempts the new count of attempts */
export async function updateToWaiting(
  { project, until, due, attempts }: LeaseKey & { due: Date; attempts: number },
  sql: Queries,
): Promise<void> {
  await sql`
    UPDATE projects SET scan_status = 'pending', scan_due_at = ${due}, scan_attempts = ${attempts}
    WHERE id = ${project} AND scan_due_at = ${until}`;
}

/** If another scan was requested meanwhile, the project waits instead: the new request may be for another SBOM. */
export async function updateToFailed(
  { project, until, at, failure }: LeaseKey & { at: Date; failure: string },
  sql: Queries,
): Promise<void> {
  await sql`
    UPDATE projects
    SET scan_status = CASE WHEN scan_status = 'scanning' THEN 'failed' ELSE scan_status END,
      scan_failure = CASE WHEN scan_status = 'scanning' THEN ${failure} END,
      scan_due_at = CASE WHEN scan_status = 'scanning' THEN NULL ELSE ${at}::timestamptz END
    WHERE id = ${project} AND scan_due_at = ${until}`;
}

/** Requests a scan after a project got another SBOM. The project shows as `pending` from the commit on. */
export async function requestScan({ project, at }: { project: string; at: Date }, tx: Transaction): Promise<void> {
  await updateToPending({ project, at }, tx);
}

/**
 * Requests a scan of every project whose current SBOM has one of these packages, after their advisories changed. A scan that begins from
 * now on waits for the end of this transaction, so an SBOM that is uploaded meanwhile is matched against the change as well.
 * @returns how many projects
 */
export async function requestScansOf(
  { packages, at }: { packages: readonly bigint[]; at: Date },
  tx: Transaction,
): Promise<number> {
  if (packages.length === 0) return 0;
  await lockAdvisoryChange(tx);
  return updateDependentsToPending({ packages, at }, tx);
}

/** Workspaces with a project that is due, the one with the least scanner time first, then the one that has waited longest. */
export async function selectLeastServed(now: Date, sql: Queries): Promise<WorkspaceId[]> {
  const rows = await sql<{ workspace: WorkspaceId }[]>`
    WITH RECURSIVE waiting (workspace_id) AS (
      (SELECT workspace_id FROM projects WHERE scan_status IN ('pending', 'scanning') ORDER BY workspace_id LIMIT 1)
      UNION ALL
      SELECT (
        SELECT workspace_id FROM projects WHERE scan_status IN ('pending', 'scanning') AND workspace_id > waiting.workspace_id
        ORDER BY workspace_id LIMIT 1)
      FROM waiting WHERE waiting.workspace_id IS NOT NULL
    )
    SELECT waiting.workspace_id AS workspace FROM waiting
    CROSS JOIN LATERAL (
      SELECT scan_due_at FROM projects
      WHERE workspace_id = waiting.workspace_id AND scan_status IN ('pending', 'scanning') AND scan_due_at <= ${now}
      ORDER BY scan_level, scan_due_at, id LIMIT 1) AS first
    LEFT JOIN scan_shares ON scan_shares.workspace_id = waiting.workspace_id
    ORDER BY faded_share(served_ms, at, ${now}, ${scanShareFadesMs}), first.scan_due_at, workspace LIMIT ${scanWorkspacesTried}`;
  return rows.map(({ workspace }) => workspace);
}

/** @param milliseconds a negative number is a refund */
export async function chargeShare(
  { workspace, milliseconds, now }: { workspace: WorkspaceId; milliseconds: number; now: Date },
  sql: Queries,
): Promise<void> {
  await sql`
    INSERT INTO scan_shares AS share (workspace_id, served_ms, at) VALUES (${workspace}, ${Math.max(milliseconds, 0)}, ${now})
    ON CONFLICT (workspace_id) DO UPDATE SET at = excluded.at,
      served_ms = greatest(faded_share(share.served_ms, share.at, excluded.at, ${scanShareFadesMs}) + ${milliseconds}, 0)`;
}

/**
 * The queue position of each of these projects: how many projects are being scanned now, plus how many would be scanned before it if all
 * slices were equally long. A project that is being scanned has position 0. Projects that do not wait are not in the result.
 */
export async function selectQueuePositions(
  { projects, now }: { projects: readonly string[]; now: Date },
  sql: Queries,
): Promise<Map<string, number>> {
  const rows = await sql<{ project: string; before: number }[]>`
    WITH asked AS MATERIALIZED (
      SELECT id, workspace_id, scan_due_at > ${now} AS taken, scan_level, scan_due_at FROM projects
      WHERE scan_status IN ('pending', 'scanning')
    ), turns AS (
      SELECT id, workspace_id, row_number() OVER (PARTITION BY workspace_id ORDER BY scan_level, scan_due_at, id) AS turn
      FROM asked WHERE NOT taken
    ), line AS (
      SELECT id, row_number() OVER (
          ORDER BY turn, faded_share(served_ms, at, ${now}, ${scanShareFadesMs}), turns.workspace_id) - 1
        + (SELECT count(*) FROM asked WHERE taken) AS before
      FROM turns LEFT JOIN scan_shares USING (workspace_id)
      UNION ALL
      SELECT id, 0 FROM asked WHERE taken
    )
    SELECT id AS project, before::integer AS before FROM line WHERE id = ANY (${arrayText(projects, (id) => id)}::text[])`;
  return new Map(rows.map(({ project, before }) => [project, before]));
}

/** A new SBOM starts over: the former scan's scanner time does not count against it. */
async function updateToPending({ project, at }: { project: string; at: Date }, sql: Queries): Promise<void> {
  await sql`UPDATE projects SET ${pendingSince(at, sql)}, scan_served_ms = 0, scan_level = 0 WHERE id = ${project}`;
}

/** A project that is waiting or being scanned keeps its due time: its place in the queue, or the end of its scan's lease. */
function pendingSince(at: Date, sql: Queries) {
  return sql`
    scan_status = 'pending', scan_asked = scan_asked + 1, scan_attempts = 0, scan_failure = NULL,
    scan_due_at = CASE WHEN scan_status IN ('pending', 'scanning') THEN scan_due_at ELSE ${at} END`;
}

/** A shared lock held by every transaction that changes advisories, until it ends. */
async function lockAdvisoryChange(tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock_shared(hashtext(${advisoryChangeLock}))`;
}

async function updateDependentsToPending(
  { packages, at }: { packages: readonly bigint[]; at: Date },
  tx: Transaction,
): Promise<number> {
  const rows = await tx`
    UPDATE projects SET ${pendingSince(at, tx)}
    WHERE id IN (
      SELECT projects.id FROM projects
      WHERE EXISTS (
        SELECT FROM sbom_components
        WHERE sbom_components.sbom_id = projects.sbom_id AND sbom_components.package_id = ANY (${arrayText(packages, (id) => id)}::bigint[]))
      ORDER BY projects.id FOR NO KEY UPDATE)
    RETURNING id`;
  return rows.length;
}
