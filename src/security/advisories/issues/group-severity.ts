/** Chooses the severity of an issue from all records about it, since most databases leave the severity to another one. */
import type { Advisory, DeclaredSeverity } from "../advisory.ts";
import { isCve, isGhsa } from "../advisory-id.ts";
import { CvssError } from "../cvss/parse-vector.ts";
import { scoreVector, type CvssScore } from "../cvss/score.ts";

export interface SeverityRecord extends Pick<Advisory, "id" | "severities"> {
  /** Absent when `severities` includes those of the packages. */
  affected?: readonly Pick<Advisory["affected"][number], "severities">[];
}

export interface IssueSeverity extends CvssScore {
  /** Id of the record with this severity. */
  source: string;
}

export interface RefusedSeverity {
  /** Id of the record with this vector. */
  source: string;
  vector: string;
  reason: string;
}

export interface ChosenSeverity {
  /** null: no record has a valid vector. */
  severity: IssueSeverity | null;
  refused: RefusedSeverity[];
}

/**
 * Chooses the newest CVSS version with a valid vector; then the CVE record (NVD, CNA) before GitHub's and others; then the higher score.
 * @param records.own records of only this issue
 * @param records.shared records of several issues; they count when no other record has a vector
 */
export function chooseSeverity(records: { own: Iterable<SeverityRecord>; shared: Iterable<SeverityRecord> }): ChosenSeverity {
  const own = scoredRecords(records.own);
  const shared = scoredRecords(records.shared);
  return { severity: own.severity ?? shared.severity, refused: [...own.refused, ...shared.refused] };
}

function scoredRecords(records: Iterable<SeverityRecord>): ChosenSeverity {
  const found: IssueSeverity[] = [];
  const refused: RefusedSeverity[] = [];
  for (const { id: source, severities, affected = [] } of records) {
    for (const declared of [...severities, ...affected.flatMap((one) => one.severities)]) {
      if (!declared.type.startsWith("CVSS_")) continue;
      try {
        found.push({ ...scoreDeclared(declared), source });
      } catch (error) {
        if (!(error instanceof CvssError)) throw error;
        refused.push({ source, vector: declared.score, reason: error.message });
      }
    }
  }
  return { severity: found.toSorted(bySeverityPrecedence)[0] ?? null, refused };
}

/** @throws CvssError when the vector is invalid, or its version is not the declared one */
export function scoreDeclared({ type, score: vector }: DeclaredSeverity): CvssScore {
  const score = scoreVector(vector);
  if (type !== `CVSS_V${score.version.slice(0, 1)}`)
    throw new CvssError(`The vector is of CVSS ${score.version}, and its type is "${type}"`);
  return score;
}

function bySeverityPrecedence(one: IssueSeverity, other: IssueSeverity): number {
  return (
    Number(other.version) - Number(one.version) ||
    rankOf(one.source) - rankOf(other.source) ||
    other.score - one.score ||
    (one.source < other.source ? -1 : 1)
  );
}

function rankOf(source: string): number {
  if (isCve(source)) return 0;
  return isGhsa(source) ? 1 : 2;
}
