import type { Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

/** Kinds of which a workspace can have a limited number. */
export type Counted = "tickets" | "attachments" | "products" | "projects" | "sboms";

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
