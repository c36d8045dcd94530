/**
 * Requests scans in the transaction that changes an SBOM or an advisory. After the commit, the caller sends the notification
 * `scan-waits`. It may be lost, so scanners also poll.
 */
import type { Transaction } from "../../backing/backing.ts";
import { lockAdvisoryChange, updateToPending, updateDependentsToPending } from "./store.ts";

/** After a project got another SBOM. The project shows as `pending` from the commit on. */
export async function requestScan({ project, at }: { project: string; at: Date }, tx: Transaction): Promise<void> {
  await updateToPending({ project, at }, tx);
}

/**
 * After the advisories of these packages changed: requests a scan of every project whose current SBOM has one of them. A scan that begins
 * from now on waits for the end of this transaction, so an SBOM that is uploaded meanwhile is matched against the change too.
 * @returns how many projects
 */
export async function requestScansOf(
  { packages, at }: { packages: readonly bigint[]; at: Date },
  tx: Transaction,
): Promise<number> {
  if (packages.length === 0) return 0;
  await lockAdvisoryChange(tx);
  return updateDependentsToPending({ packages, at }, tx);
}
