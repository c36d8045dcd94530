/** Reopens an issue that a person called resolved, after it appeared in another version of the package. */
import type { Transaction } from "../../../backing/backing.ts";
import { insertEvents, selectSeenAsResolved } from "./scan-store.ts";
import { updateDecided, type Pair } from "../triage-store.ts";

/** Reopens the findings of versions that this scan has already seen. Versions that it sees later find the decision reopened. */
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
