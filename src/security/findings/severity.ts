/**
 * Severities by the thousands of a rank; the rest of a rank is ten times the score (vulnerabilities.rank). Below 1,000 there is
 * neither: such a rank is the month of publication.
 */

export const severities = ["critical", "high", "medium", "low"] as const;
export type Severity = (typeof severities)[number];

const byStep = [null, "low", "medium", "high", "critical"] as const;
const step = 1_000;

/** @returns null where no severity is known */
export function severityOf(rank: number): Severity | null {
  return byStep[Math.trunc(rank / step)] ?? null;
}

/** @returns null where no score is known. A score of 0.0 has rank 0. */
function scoreOf(rank: number): number | null {
  return rank < step || rank % step === 0 ? null : (rank % step) / 10;
}

/** From the lowest rank to the highest. @param severity `all` includes what has none */
export function ranksOf(severity: Severity | "all"): [number, number] {
  if (severity === "all") return [0, byStep.length * step - 1];
  const lowest = byStep.indexOf(severity) * step;
  return [lowest, lowest + step - 1];
}

/** What lists show as the score. @param scoredZero whether the issue has a score, of 0.0 */
export function scoreShown({ rank, scoredZero }: { rank: number; scoredZero: boolean | null }): number | null {
  return scoredZero === true && rank === 0 ? 0 : scoreOf(rank);
}
