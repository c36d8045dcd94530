/** One slice of a scan, which matches the components of a project's current SBOM with all known advisories. */
import type { Database } from "../../../backing/backing.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { scanFindingsMax } from "../../limits.ts";
import type { Lease } from "../../scans/lease.ts";
import type { ScanProgress } from "../../scans/scan-progress.ts";
import { matchDocument } from "./match-phase.ts";
import { resolveUnseen } from "./resolve-phase.ts";
import { tellFresh } from "./tell-fresh.ts";
import type { Scan } from "./scan.ts";
import { deleteUnseenUnknowns } from "./resolve-store.ts";

export interface ScanningParts {
  sql: Database;
  clock: Clock;
}

/**
 * A scan has short steps, each of which may be repeated. When the slice ends or the process dies, the scan resumes after the last step
 * that was committed.
 * @returns the final progress; null: the scan has more to do
 * @throws LeaseLostError, or the signal's reason between two steps
 */
export async function scanProject(lease: Lease, parts: ScanningParts, signal: AbortSignal): Promise<ScanProgress | null> {
  const state = await lease.beginOrResume();
  const { sbom } = state.progress;
  const scan: Scan = { ...state, ...parts, lease, sbom, signal };
  const isDone =
    (sbom === null || (await matchUnlessDone({ ...scan, sbom }))) &&
    (await resolveUnseen(scan)) &&
    (await deleteOldUnknowns(scan));
  if (!isDone) {
    await lease.endSlice();
    return null;
  }
  await lease.complete(scan.progress, (tx) => tellFresh(scan, tx));
  return scan.progress;
}

async function matchUnlessDone(scan: Scan & { sbom: string }): Promise<boolean> {
  return scan.progress.cursor?.phase === "rest" || matchDocument(scan);
}

/** Deletes unknown matches of components that the SBOM no longer has, and of records that no longer exist. */
async function deleteOldUnknowns({ lease, at, signal }: Scan): Promise<boolean> {
  for (;;) {
    signal.throwIfAborted();
    const page = { project: lease.project, since: at, limit: scanFindingsMax };
    const gone = await lease.hold((tx) => deleteUnseenUnknowns(page, tx));
    if (gone < scanFindingsMax) return true;
    if (lease.isSliceOver) return false;
  }
}
