/** How many vulnerabilities projects and products have: those that a list of that scope shows. */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../../backing/backing.ts";
import { countLiveIssues } from "./counts-store.ts";
import { severityOf } from "../severity.ts";

const count = (description: string) => Type.Integer({ description });

export const VulnerabilityCounts = Type.Object(
  {
    critical: count("Of severity critical"),
    high: count("Of severity high"),
    medium: count("Of severity medium"),
    low: count("Of severity low"),
    unknown: count("Without a severity"),
    total: count("Of all severities"),
  },
  { description: "Vulnerabilities with a finding that is open or in progress and no false positive" },
);
export type VulnerabilityCounts = Static<typeof VulnerabilityCounts>;

/** @param ids of projects or products. @returns by these; zero for those that have none */
export async function countsOf(ids: readonly string[], sql: Queries): Promise<Map<string, VulnerabilityCounts>> {
  const counts = new Map(ids.map((id) => [id, { critical: 0, high: 0, medium: 0, low: 0, unknown: 0, total: 0 }]));
  for (const { scope, rank, issues } of ids.length === 0 ? [] : await countLiveIssues(ids, sql)) {
    const counted = counts.get(scope);
    if (counted === undefined) continue;
    counted[severityOf(rank) ?? "unknown"] += issues;
    counted.total += issues;
  }
  return counts;
}
