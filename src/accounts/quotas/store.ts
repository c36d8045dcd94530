/** The SQL of quotas: the lock under which a quota is counted, and the acts of the last hour. */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

/** Kinds whose number per workspace is limited. */
type Counted = "tickets" | "attachments" | "products" | "projects" | "sboms" | "invitations";

/**
 * Locks a quota of a workspace until the transaction ends. A count after this sees what other holders of the lock committed, so that
 * two transactions never both take the last place. Call it last, after writing the rows: other transactions wait for it.
 */
export async function lockQuota(
  { workspace, counted }: { workspace: WorkspaceId; counted: Counted },
  tx: Transaction,
): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`quota ${counted} ${workspace}`}, 0))`;
}

/**
 * Adds an act to those of the last hour, unless there are too many already. Older acts are deleted.
 * @returns null if it was added; else the oldest one that counts
 */
export async function insertAct(
  { workspace, act, max, at, over }: { workspace: WorkspaceId; act: string; max: number; at: Date; over: Date },
  sql: Queries,
): Promise<{ oldest: Date } | null> {
  const added = await sql`
    INSERT INTO hourly_acts AS a (workspace_id, act, times) VALUES (${workspace}, ${act}, ARRAY[${at}::timestamptz])
    ON CONFLICT (workspace_id, act) DO UPDATE
      SET times = (SELECT coalesce(array_agg(t ORDER BY t), '{}') FROM unnest(a.times) AS t WHERE t > ${over}) || ${at}::timestamptz
      WHERE (SELECT count(*) FROM unnest(a.times) AS t WHERE t > ${over}) < ${max}`;
  if (added.count === 1) return null;
  const [row] = await sql<{ oldest: Date | null }[]>`
    SELECT (SELECT min(t) FROM unnest(times) AS t WHERE t > ${over}) AS oldest FROM hourly_acts
    WHERE workspace_id = ${workspace} AND act = ${act}`;
  return { oldest: row?.oldest ?? at };
}
