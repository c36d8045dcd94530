/**
 * The second phase of a scan resolves the findings that the first phase did not find again, and updates the product and the rank that
 * findings copy from their project and their issue. No finding is deleted: it may return, and people look up its history.
 */
import { scanFindingsMax, scanLookedThroughMax } from "../../limits.ts";
import { scannerName } from "./record-matches.ts";
import type { Scan } from "./scan.ts";
import { insertEvents } from "./scan-store.ts";
import {
  selectInDocument,
  selectPositionAfter,
  selectStale,
  selectUnseen,
  updateCopies,
  updateToGone,
  type FindingPosition,
  type UnseenRow,
} from "./resolve-store.ts";
import { goneOutcome, type Cause } from "../transitions.ts";

/** @returns whether the phase is finished; false: the slice is over, and `scan.progress` has the last step */
export async function resolveUnseen(scan: Scan): Promise<boolean> {
  const { lease, progress, sql, at, signal } = scan;
  const { project } = lease;
  let after: FindingPosition | null = progress.cursor?.phase === "rest" ? progress.cursor : null;
  for (;;) {
    signal.throwIfAborted();
    const upto: FindingPosition | null =
      (await selectPositionAfter({ project, after, steps: scanLookedThroughMax }, sql)) ?? null;
    const stale = await selectStale({ project, since: at, after, upto }, sql);
    for (let from = 0; from < stale.length; from += scanFindingsMax) {
      signal.throwIfAborted();
      progress.resolved += await resolveAndRefresh(stale.slice(from, from + scanFindingsMax), scan);
    }
    if (upto === null) return true;
    progress.cursor = { phase: "rest", ...upto };
    await lease.hold(async () => {}, progress);
    if (lease.isSliceOver) return false;
    after = upto;
  }
}

/** @returns how many findings were resolved */
function resolveAndRefresh(findings: readonly string[], { lease, sbom, at }: Scan): Promise<number> {
  return lease.hold(async (tx, { product }) => {
    const gone = await selectUnseen({ findings, since: at }, tx);
    if (gone.length > 0) {
      const inDocument = sbom === null ? new Set() : await selectInDocument({ sbom, findings: gone }, tx);
      const events = gone.map((row) => {
        const { cause, changes } = goneOutcome(
          { ...row, present: true },
          inDocument.has(row.id) ? causeOf(row) : "component_gone",
        );
        return { finding: row.id, cause, changes };
      });
      await updateToGone(
        gone.map(({ id }) => id),
        tx,
      );
      await insertEvents(events, { actor: scannerName, at }, tx);
    }
    await updateCopies({ findings, product }, tx);
    return gone.length;
  });
}

function causeOf({ ended, withdrawn }: UnseenRow): Cause {
  if (ended) return "issue_joined";
  return withdrawn ? "withdrawn" : "not_affected";
}
