/** Claims of people that are over: an issue was called resolved, and is there in a version that was not there before. */
import type { Transaction } from "../../../backing/backing.ts";
import { insertEvents, selectSeenAsResolved } from "./scan-store.ts";
import { updateDecided, type Pair } from "../triage-store.ts";

/** Other versions of the package that the scan has seen already follow; those that it has not seen yet find no claim any longer. */
export async function reopenSeen(
  { project, pairs, at, actor }: { project: string; pairs: readonly Pair[]; at: Date; actor: string },
  tx: Transaction,
): Promise<void> {
  if (pairs.length === 0) return;
  const ids = await selectSeenAsResolved({ project, pairs, at }, tx);
  await updateDecided(
    ids.map((id) => ({ id, status: "open", falsePositive: false })),
    tx,
  );
  const events = ids.map((finding) => ({
    finding,
    cause: "decision_followed" as const,
    changes: { status: { from: "resolved", to: "open" } },
  }));
  await insertEvents(events, { actor, at }, tx);
}
