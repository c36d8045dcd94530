/** Resolves what a scan did not find any more. Nothing is deleted: it may come back, and people look for what became of it. */
import type { Queries } from "../backing/backing.ts";
import { scanFindingsMax } from "../limits/tools.ts";
import { scannerName, type Scan } from "./record-matches.ts";
import { insertEvents, selectInDocument, selectUnseen, updateToGone, type UnseenRow } from "./scan-store.ts";
import { goneOutcome, type Cause } from "./transitions.ts";

/** @returns how many were resolved */
export async function resolveGone(scan: Omit<Scan, "workspace">, sql: Queries): Promise<number> {
  const page = { project: scan.lease.project, since: scan.at, limit: scanFindingsMax };
  let resolved = 0;
  for (;;) {
    const gone = await selectUnseen(page, sql);
    if (gone.length > 0) await recordGone(gone, scan);
    resolved += gone.length;
    if (gone.length < scanFindingsMax) return resolved;
  }
}

function recordGone(gone: readonly UnseenRow[], { lease, sbom, at }: Omit<Scan, "workspace">): Promise<void> {
  return lease.hold(async (tx) => {
    const inDocument = sbom === null ? new Set() : await selectInDocument({ sbom, findings: gone }, tx);
    const events = gone.map((row) => {
      const { cause, changes } = goneOutcome({ ...row, present: true }, inDocument.has(row.id) ? causeOf(row) : "component_gone");
      return { finding: row.id, cause, changes };
    });
    await updateToGone(
      gone.map(({ id }) => id),
      tx,
    );
    await insertEvents(events, { actor: scannerName, at }, tx);
  });
}

function causeOf({ ended, withdrawn }: UnseenRow): Cause {
  if (ended) return "issue_joined";
  return withdrawn ? "withdrawn" : "not_affected";
}
