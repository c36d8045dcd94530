import type { Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

/** What a workspace can have a limited number of. */
export type Counted = "tickets" | "attachments" | "products" | "projects" | "sboms";

/**
 * Holds the quota of a workspace until the transaction ends. Whoever counts after this sees what every other holder committed, so
 * that two transactions never take the last place together. Call it last, after the rows are written: it makes others wait.
 */
export async function lockQuota(
  { workspace, counted }: { workspace: WorkspaceId; counted: Counted },
  tx: Transaction,
): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`quota ${counted} ${workspace}`}, 0))`;
}
