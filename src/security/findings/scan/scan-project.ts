/** One slice of a scan: the components of a project's present document against all that is known of their packages. */
import type { Database } from "../../../backing/backing.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { scanFindingsMax } from "../../limits.ts";
import type { Lease } from "../../scans/lease.ts";
import type { ScanProgress } from "../../scans/scan-progress.ts";
import { matchDocument } from "./match-phase.ts";
import { resolveUnseen } from "./resolve-phase.ts";
import type { Scan } from "./scan.ts";
import { deleteUnseenUnknowns } from "./resolve-store.ts";

export interface ScanningParts {
  sql: Database;
  clock: Clock;
}

/**
 * In short steps, each of which may be repeated: a scan that ends in the middle, its slice over or its process killed, goes on behind
 * the last step that was committed.
 * @returns what the scan came to; null: it is not at its end
 * @throws LeaseLostError, or the signal's reason between two steps
 */
export async function scanProject(lease: Lease, parts: ScanningParts, signal: AbortSignal): Promise<ScanProgress | null> {
  const state = await lease.beginOrResume();
  const { sbom } = state.progress;
  const scan: Scan = { ...state, ...parts, lease, sbom, signal };
  const isOver =
    (sbom === null || (await matched({ ...scan, sbom }))) && (await resolveUnseen(scan)) && (await forgetUnknowns(scan));
  if (!isOver) {
    await lease.endSlice();
    return null;
  }
  await lease.complete(scan.progress);
  return scan.progress;
}

async function matched(scan: Scan & { sbom: string }): Promise<boolean> {
  return scan.progress.cursor?.phase === "rest" || matchDocument(scan);
}

/** Of what the document does not have, or what no record speaks of any longer. */
async function forgetUnknowns({ lease, at, signal }: Scan): Promise<boolean> {
  for (;;) {
    signal.throwIfAborted();
    const page = { project: lease.project, since: at, limit: scanFindingsMax };
    const gone = await lease.hold((tx) => deleteUnseenUnknowns(page, tx));
    if (gone < scanFindingsMax) return true;
    if (lease.isSliceOver) return false;
  }
}
