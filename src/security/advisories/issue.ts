/**
 * Builds an issue from all records about it: its name, description, severity and rank. GitHub's records come first, because they are edited
 * for readers, then CVE records, then others by id. Withdrawn records count only if all records are withdrawn.
 *
 * Most databases leave the severity to others, so it is chosen from all records: the newest CVSS version with a valid vector, then the CVE
 * record, then GitHub's, then the higher score. A broken vector gives no severity. The rank sorts lists: by severity and score, and without
 * a severity by the month of the first publication, since such records have no other sign of urgency.
 */
import { byCodeUnits, shortened } from "../../kernel/text.ts";
import { issueDescriptionCharactersMax, issueTextCharactersMax } from "../limits.ts";
import { isCve, isGhsa, type Advisory, type DeclaredSeverity } from "./advisory.ts";
import type { AliasGroup } from "./alias-groups.ts";
import { type CvssSeverity, CvssError, scoreVector, type CvssScore } from "./cvss.ts";

export interface Issue {
  name: string;
  severity: IssueSeverity | null;
  rank: number;
  description: string;
  withdrawn: boolean;
}

interface Records {
  /** Records of only this issue, in the order of precedence. */
  own: IssueFacts[];
  /** Records of this and other issues. */
  shared: IssueFacts[];
}

/** The records of a group: its own, in the order of precedence, and those that it shares with other issues. */
export function recordsOf(group: AliasGroup, byId: ReadonlyMap<string, IssueFacts>): Records {
  const known = (ids: readonly string[]) => byPrecedence(ids).flatMap((id) => byId.get(id) ?? []);
  return { own: known(group.ids), shared: known(group.shared) };
}

/** Withdrawn records count only if all records are withdrawn. */
export function issueFrom(group: AliasGroup, records: Records): Issue {
  const withdrawn = [...records.own, ...records.shared].every((record) => record.withdrawn);
  const { own, shared } = withdrawn ? records : { own: notWithdrawn(records.own), shared: notWithdrawn(records.shared) };
  const { severity } = chooseSeverity({ own, shared });
  return {
    name: group.id,
    severity,
    rank: severity === null ? publicationRank([...own, ...shared]) : rankOf(severity),
    description: shortened(describedBy(own) ?? describedBy(shared) ?? "", issueDescriptionCharactersMax),
    withdrawn,
  };
}

/** The order of precedence: GitHub's records, which are edited for readers, then CVE records, then others by id. */
export function byPrecedence(ids: readonly string[]): string[] {
  const kind = (id: string) => (isGhsa(id) ? 0 : isCve(id) ? 1 : 2);
  return ids.toSorted((one, other) => kind(one) - kind(other) || byCodeUnits(one, other));
}

/** The part of a record that an issue uses. */
export interface IssueFacts {
  id: string;
  withdrawn: boolean;
  /** RFC 3339; null: unknown. */
  published: string | null;
  /** Only the beginning, as in `details`. */
  summary: string;
  details: string;
  /** Severities of the record and of its packages, without duplicates. */
  severities: DeclaredSeverity[];
}

export function factsOf({ id, withdrawn, published, summary, details, severities, affected }: Advisory): IssueFacts {
  const declared = [...severities, ...affected.flatMap((one) => one.severities)].map(({ type, score }) => ({ type, score }));
  return {
    id,
    withdrawn: withdrawn !== null,
    published,
    summary: beginningOf(summary),
    details: beginningOf(details),
    severities: [...new Map(declared.map((one) => [`${one.type} ${one.score}`, one])).values()],
  };
}

export interface SeverityRecord extends Pick<Advisory, "id" | "severities"> {
  /** Absent if `severities` includes those of the packages. */
  affected?: readonly Pick<Advisory["affected"][number], "severities">[];
}

interface IssueSeverity extends CvssScore {
  /** Id of the record with this severity. */
  source: string;
}

interface RefusedSeverity {
  /** Id of the record with this vector. */
  source: string;
  vector: string;
  reason: string;
}

interface ChosenSeverity {
  /** null: no record has a valid vector. */
  severity: IssueSeverity | null;
  refused: RefusedSeverity[];
}

/**
 * Chooses the newest CVSS version with a valid vector; then the CVE record (NVD, CNA) before GitHub's and others; then the higher score.
 * @param records.own records of only this issue
 * @param records.shared records of several issues; they count only if no other record has a vector
 */
export function chooseSeverity(records: { own: Iterable<SeverityRecord>; shared: Iterable<SeverityRecord> }): ChosenSeverity {
  const own = scoredRecords(records.own);
  const shared = scoredRecords(records.shared);
  return { severity: own.severity ?? shared.severity, refused: [...own.refused, ...shared.refused] };
}

function notWithdrawn(records: readonly IssueFacts[]): IssueFacts[] {
  return records.filter(({ withdrawn }) => !withdrawn);
}

const firstYear = 1999;
const publicationRankMax = 999;

/**
 * The rank of an issue without a severity, below all issues with one: the newest first, by the month in which its first record was
 * published. Its records have no other sign of urgency. CVE ids begin in 1999; 0: no record has a publication time.
 */
function publicationRank(records: readonly IssueFacts[]): number {
  const first = records.flatMap(({ published }) => published ?? []).toSorted(byCodeUnits)[0];
  if (first === undefined) return 0;
  const at = new Date(first);
  const months = (at.getUTCFullYear() - firstYear) * 12 + at.getUTCMonth() + 1;
  return Math.min(Math.max(months, 1), publicationRankMax);
}

const steps: Record<CvssSeverity, number> = { low: 1, medium: 2, high: 3, critical: 4 };

/** The rank in lists: by severity, then by score. */
function rankOf(severity: IssueSeverity): number {
  return (severity.severity === null ? 0 : steps[severity.severity]) * 1000 + Math.round(severity.score * 10);
}

/** The first summary, which is one line; if there is none, the first details. */
function describedBy(records: readonly IssueFacts[]): string | undefined {
  const summary = records.find((record) => record.summary.trim() !== "")?.summary;
  return summary ?? records.find((record) => record.details.trim() !== "")?.details;
}

function beginningOf(text: string): string {
  return text.slice(0, issueTextCharactersMax).toWellFormed();
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

/** @throws CvssError if the vector is invalid, or its version is not the declared one */
function scoreDeclared({ type, score: vector }: DeclaredSeverity): CvssScore {
  const score = scoreVector(vector);
  if (type !== `CVSS_V${score.version.slice(0, 1)}`)
    throw new CvssError(`The vector is of CVSS ${score.version}, and its type is "${type}"`);
  return score;
}

function bySeverityPrecedence(one: IssueSeverity, other: IssueSeverity): number {
  return (
    Number(other.version) - Number(one.version) ||
    sourceRankOf(one.source) - sourceRankOf(other.source) ||
    other.score - one.score ||
    (one.source < other.source ? -1 : 1)
  );
}

function sourceRankOf(source: string): number {
  if (isCve(source)) return 0;
  return isGhsa(source) ? 1 : 2;
}
