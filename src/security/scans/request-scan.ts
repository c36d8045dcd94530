/**
 * Scans are asked for by whoever changes what their answer depends on, in the transaction of that change; after the commit
 * `scan-waits` is told on the bus. What is told may be lost, so scanners look regularly too.
 */
import type { Transaction } from "../../backing/backing.ts";
import { lockAdvisoryChange, updateToPending, updateDependentsToPending } from "./store.ts";

/** The project's document is another one. It shows as `pending` from the commit on. */
export async function requestScan({ project, at }: { project: string; at: Date }, tx: Transaction): Promise<void> {
  await updateToPending({ project, at }, tx);
}

/**
 * What is known of these packages has changed: every project whose present document holds one of them is to be scanned again.
 * A scan that begins from here on waits for the end of the transaction: a document that came meanwhile is matched against the change.
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
