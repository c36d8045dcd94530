/** Counts the findings of a scan that are new to its project. */
import type { FreshFindings } from "../../scans/scan-progress.ts";
import { severityOf } from "../severity.ts";
import type { StoredFinding } from "./scan-store.ts";

const none: FreshFindings = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0 };

/** Counts those of `added` that wait for a decision. */
export function withFresh(before: FreshFindings = none, added: readonly StoredFinding[]): FreshFindings {
  const counts = { ...before };
  for (const { rank, status, falsePositive } of added) {
    if (!falsePositive && (status === "open" || status === "in_progress")) counts[severityOf(rank) ?? "unknown"]++;
  }
  return counts;
}

export function freshTotal(counts: FreshFindings): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
