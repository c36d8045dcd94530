/**
 * The rank of a vulnerability (vulnerabilities.rank): its thousands are the severity, the rest is ten times the score. A rank below 1,000
 * has neither: it is the month of publication.
 */

export const severities = ["critical", "high", "medium", "low"] as const;
export type Severity = (typeof severities)[number];

const byStep = [null, "low", "medium", "high", "critical"] as const;
const step = 1_000;

/** @returns null when no severity is known */
export function severityOf(rank: number): Severity | null {
  return byStep[Math.trunc(rank / step)] ?? null;
}

/** @returns null when no score is known. A score of 0.0 has rank 0. */
function scoreOf(rank: number): number | null {
  return rank < step || rank % step === 0 ? null : (rank % step) / 10;
}

/** @param severity `all` includes vulnerabilities without a severity. @returns the lowest and the highest rank */
export function ranksOf(severity: Severity | "all"): [number, number] {
  if (severity === "all") return [0, byStep.length * step - 1];
  const lowest = byStep.indexOf(severity) * step;
  return [lowest, lowest + step - 1];
}

/** The score that lists show. @param scoredZero whether the issue has the score 0.0 */
export function scoreShown({ rank, scoredZero }: { rank: number; scoredZero: boolean | null }): number | null {
  return scoredZero === true && rank === 0 ? 0 : scoreOf(rank);
}
