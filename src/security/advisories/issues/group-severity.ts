/** The severity of an issue from all records about it: most databases leave it to another one, so it travels over aliases. */
import type { Advisory, DeclaredSeverity } from "../advisory.ts";
import { isCve, isGhsa } from "../advisory-id.ts";
import { CvssError } from "../cvss/parse-vector.ts";
import { scoreVector, type CvssScore } from "../cvss/score.ts";

export interface SeverityRecord extends Pick<Advisory, "id" | "severities"> {
  /** Left out where the severities are those of all packages too. */
  affected?: readonly Pick<Advisory["affected"][number], "severities">[];
}

export interface IssueSeverity extends CvssScore {
  /** Id of the record that says so. */
  source: string;
}

export interface RefusedSeverity {
  /** Id of the record that holds it. */
  source: string;
  vector: string;
  reason: string;
}

export interface ChosenSeverity {
  /** null: no record has a vector that can be read. */
  severity: IssueSeverity | null;
  refused: RefusedSeverity[];
}

/**
 * The newest CVSS with a valid vector; of equal ones that of the CVE record (NVD, CNA), then of GitHub's, then of others, then the higher score.
 * @param records.own those of this issue alone
 * @param records.shared those of several issues; they count where no other has a vector
 */
export function chooseSeverity(records: { own: Iterable<SeverityRecord>; shared: Iterable<SeverityRecord> }): ChosenSeverity {
  const own = judged(records.own);
  const shared = judged(records.shared);
  return { severity: own.severity ?? shared.severity, refused: [...own.refused, ...shared.refused] };
}

function judged(records: Iterable<SeverityRecord>): ChosenSeverity {
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

/** @throws CvssError where the vector is none, or not of the version that the record calls it */
export function scoreDeclared({ type, score: vector }: DeclaredSeverity): CvssScore {
  const score = scoreVector(vector);
  if (type !== `CVSS_V${score.version.slice(0, 1)}`)
    throw new CvssError(`The vector is one of CVSS ${score.version}, and is called "${type}"`);
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
