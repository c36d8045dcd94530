/** Scores a vector. The library scores broken vectors as 0, so it gets only vectors that passed the grammar. */
import calculator from "ae-cvss-calculator";
import type { CvssVersion } from "./metrics.ts";
import { CvssError, parseVector } from "./parse-vector.ts";

// Deno finds no named exports in a module of this kind.
const { Cvss2, Cvss3P0, Cvss3P1, Cvss4P0 } = calculator;

export type Severity = "critical" | "high" | "medium" | "low";

export interface CvssScore {
  version: CvssVersion;
  vector: string;
  /** 0.0 to 10.0 with one decimal: the base score of 2.0 and 3.x, and the overall score of 4.0 with threat and environment. */
  score: number;
  /** null: the score is 0.0. */
  severity: Severity | null;
}

/** @throws CvssError for a text that is not a vector of CVSS 2.0, 3.0, 3.1 or 4.0 */
export function scoreVector(text: string): CvssScore {
  const { version } = parseVector(text);
  const found = scoreOf(version, text);
  if (found === undefined || !(found >= 0 && found <= 10)) throw new CvssError(`The CVSS ${version} vector has no score`);
  // The formula of 2.0 gives -0 for a vector without impact.
  const score = found === 0 ? 0 : found;
  return { version, vector: text, score, severity: severityWord(version, score) };
}

function scoreOf(version: CvssVersion, text: string): number | undefined {
  switch (version) {
    case "2.0":
      return new Cvss2(text).calculateScores().base;
    case "3.0":
      return new Cvss3P0(text).calculateScores().base;
    case "3.1":
      return new Cvss3P1(text).calculateScores().base;
    case "4.0":
      return new Cvss4P0(text).calculateScores().overall;
  }
}

/** The severity scales of the specifications; the scale of 2.0 ends at `high`. */
export function severityWord(version: CvssVersion, score: number): Severity | null {
  if (score === 0) return null;
  if (score >= 9 && version !== "2.0") return "critical";
  if (score >= 7) return "high";
  return score >= 4 ? "medium" : "low";
}
