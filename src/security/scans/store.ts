import { arrayText } from "../../backing/array-text.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { scanSliceMs } from "../limits.ts";
import type { ScanProgress } from "./scan-progress.ts";

/** Another document is another scan: what the one before had of scanners' time does not count against it. */
export async function updateToPending({ project, at }: { project: string; at: Date }, sql: Queries): Promise<void> {
  await sql`UPDATE projects SET ${pendingSince(at, sql)}, scan_served_ms = 0, scan_level = 0 WHERE id = ${project}`;
}

export async function updateDependentsToPending(
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

/** A project that waits or is being scanned keeps its time: its place among those that wait, or the end of the scan's lease. */
function pendingSince(at: Date, sql: Queries) {
  return sql`
    scan_status = 'pending', scan_asked = scan_asked + 1, scan_attempts = 0, scan_failure = NULL,
    scan_due_at = CASE WHEN scan_status IN ('pending', 'scanning') THEN scan_due_at ELSE ${at} END`;
}

const advisoryChangeLock = "weir scans";

/** LeaseKey until the transaction ends, by any number of transactions that change what is known of packages. */
export async function lockAdvisoryChange(tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock_shared(hashtext(${advisoryChangeLock}))`;
}

/** Waits until the transactions that hold it now have ended. */
export async function awaitAdvisoryChanges(tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtext(${advisoryChangeLock}))`;
}

export interface TakenRow {
  project: string;
  workspace: WorkspaceId;
  /** This one included; those since the last question, or since the scan last came forward. */
  attempts: number;
}

/** The project of the workspace whose scan has had least time, the one that has waited longest among such; undefined: none is free. */
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

/** How a scan names itself: nobody else's lease of the project ever ends at the same time. */
export interface LeaseKey {
  project: string;
  until: Date;
}

export interface ScanStateRow {
  workspace: WorkspaceId;
  /** The document that says what the project is made of now. */
  sbom: string | null;
  asked: bigint;
  /** When a scan of it last began; null: never. */
  beganAt: Date | null;
  /** null: none is under way. */
  progress: ScanProgress | null;
}

/** Where no version of this service that notes it has scanned the project yet, what was found last tells when a scan began. */
export async function selectScanState({ project, until }: LeaseKey, sql: Queries): Promise<ScanStateRow | undefined> {
  const [row] = await sql<ScanStateRow[]>`
    SELECT workspace_id AS workspace, sbom_id AS sbom, scan_asked AS asked, scan_pass AS progress,
      coalesce(scan_began_at, (SELECT max(last_seen) FROM findings WHERE project_id = projects.id)) AS "beganAt"
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
 * Locks the project too. A scan that comes forward has made no attempt in vain.
 * @param pass how far the scan is when the transaction is committed; null: as far as before
 * @returns its product; undefined where the lease is not held any longer
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

/** What was asked for meanwhile is still to be done: then the project waits again. */
export async function updateToCompleted(
  { project, until, progress, at }: LeaseKey & { progress: ScanProgress; at: Date },
  sql: Queries,
): Promise<void> {
  await sql`
    UPDATE projects
    SET scan_status = CASE WHEN scan_asked = ${progress.asked} THEN 'completed' ELSE 'pending' END,
      last_scanned_at = CASE WHEN scan_asked = ${progress.asked} THEN ${at} ELSE last_scanned_at END,
      scan_due_at = CASE WHEN scan_asked = ${progress.asked} THEN NULL ELSE ${at}::timestamptz END,
      scan_attempts = 0, scan_failure = NULL, scan_pass = NULL, scan_served_ms = 0, scan_level = 0,
      findings_left_out = ${progress.findingsLeftOut}, unknowns_left_out = ${progress.unknownLeftOut}
    WHERE id = ${project} AND scan_due_at = ${until}`;
}

/** Twice the time puts a scan one step behind the others of its workspace. */
export async function updateToNextSlice(
  { project, until, due, spentMs }: LeaseKey & { due: Date; spentMs: number },
  sql: Queries,
): Promise<void> {
  await sql`
    UPDATE projects SET scan_due_at = ${due}, scan_attempts = 0, scan_served_ms = scan_served_ms + ${spentMs}::bigint,
      scan_level = floor(log(2, 1 + (scan_served_ms + ${spentMs}::bigint)::numeric / ${scanSliceMs}::numeric))
    WHERE id = ${project} AND scan_due_at = ${until}`;
}

/** @param attempts how many are counted from now on */
export async function updateToWaiting(
  { project, until, due, attempts }: LeaseKey & { due: Date; attempts: number },
  sql: Queries,
): Promise<void> {
  await sql`
    UPDATE projects SET scan_status = 'pending', scan_due_at = ${due}, scan_attempts = ${attempts}
    WHERE id = ${project} AND scan_due_at = ${until}`;
}

/** Asked for meanwhile, it waits instead: what failed may be another thing than what there is now. */
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
