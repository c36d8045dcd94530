/**
 * Builds an issue from all records about it: its name, description, severity and rank. GitHub's records come first, because they are edited
 * for readers, then CVE records, then others by id. Withdrawn records count only if all records are withdrawn.
 *
 * Most databases leave the severity to others, so it is chosen from all records. Malware is critical. Else the newest CVSS version with a
 * valid vector counts, then the CVE record, then GitHub's, then the higher score. Without a valid vector, the word of a record counts, with
 * the same precedence: a gate must not pass what its database calls critical. The rank sorts lists: by severity and score, and without a
 * severity by the month of the first publication, since such records have no other sign of urgency.
 */
import { byCodeUnits, shortened } from "../../kernel/text.ts";
import { issueDescriptionCharactersMax, issueTextCharactersMax } from "../limits.ts";
import { isCve, isGhsa, isMalware, type Advisory, type DeclaredSeverity } from "./advisory.ts";
import type { AliasGroup } from "./alias-groups.ts";
import { type CvssSeverity, CvssError, scoreVector, type CvssScore, type CvssVersion } from "./cvss.ts";

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
  /** Severities of the record and of its packages, without duplicates; words have the type `wordType`. */
  severities: DeclaredSeverity[];
  malware: boolean;
}

/** The type of a severity that a record says in a word outside its field `severity`. */
export const wordType = "word";
/** No word of a severity is longer. */
export const wordCharactersMax = 20;

export function factsOf(advisory: Advisory): IssueFacts {
  const { id, withdrawn, published, summary, details, severities, affected, databaseSpecific } = advisory;
  const specifics = [databaseSpecific, ...affected.flatMap((one) => [one.databaseSpecific, one.ecosystemSpecific])];
  const words = specifics.flatMap(({ severity }) => (typeof severity === "string" ? severity.slice(0, wordCharactersMax) : []));
  const declared = [
    ...[...severities, ...affected.flatMap((one) => one.severities)].map(({ type, score }) => ({ type, score })),
    ...words.map((score) => ({ type: wordType, score })),
  ];
  return {
    id,
    withdrawn: withdrawn !== null,
    published,
    summary: beginningOf(summary),
    details: beginningOf(details),
    severities: [...new Map(declared.map((one) => [`${one.type} ${one.score}`, one])).values()],
    malware: isMalware({ id, cwes: databaseSpecific["cwe_ids"] }),
  };
}

export type SeverityRecord = Pick<IssueFacts, "id" | "severities" | "malware">;

/** Where a severity comes from: the score of a CVSS vector, the word of a record, or that the package is malware. */
export type SeverityBasis = "vector" | "word" | "malware";

export interface IssueSeverity {
  /** null: the score is 0.0. */
  severity: CvssSeverity | null;
  basis: SeverityBasis;
  /** Id of the record with this severity. */
  source: string;
  /** Of the best vector; null: no record has a valid one. */
  score: number | null;
  version: CvssVersion | null;
  vector: string | null;
}

interface RefusedSeverity {
  /** Id of the record with this vector. */
  source: string;
  vector: string;
  reason: string;
}

interface ChosenSeverity {
  /** null: no record has a valid vector or a known word, and none is of malware. */
  severity: IssueSeverity | null;
  refused: RefusedSeverity[];
}

/**
 * Malware is critical. Then the newest CVSS version with a valid vector counts; then the CVE record (NVD, CNA) before GitHub's and others;
 * then the higher score. Without a valid vector, the words of records count, with the same precedence.
 * @param records.own records of only this issue
 * @param records.shared records of several issues; of each kind they count only if no other record has a severity of that kind
 */
export function chooseSeverity(records: { own: Iterable<SeverityRecord>; shared: Iterable<SeverityRecord> }): ChosenSeverity {
  const [own, shared] = [[...records.own], [...records.shared]];
  const [ownScores, sharedScores] = [scoredRecords(own), scoredRecords(shared)];
  const scored = ownScores.severity ?? sharedScores.severity;
  const malware = own.find((one) => one.malware) ?? shared.find((one) => one.malware);
  const { score, version, vector } = scored ?? noVector;
  const severity = malware
    ? ({ severity: "critical", basis: "malware", source: malware.id, score, version, vector } as const)
    : (scored ?? wordOf(own) ?? wordOf(shared));
  return { severity, refused: [...ownScores.refused, ...sharedScores.refused] };
}

const noVector = { score: null, version: null, vector: null };

/**
 * The words of databases, in lower case: GitHub writes CRITICAL, HIGH, MODERATE and LOW; Bitnami, curl and OSS-Fuzz write medium; Red Hat
 * and Microsoft write important. Others, such as negligible, are no severity.
 */
const severityWords: ReadonlyMap<string, CvssSeverity> = new Map([
  ["critical", "critical"],
  ["high", "high"],
  ["important", "high"],
  ["medium", "medium"],
  ["moderate", "medium"],
  ["low", "low"],
]);

function wordOf(records: readonly SeverityRecord[]): IssueSeverity | null {
  const found = records.flatMap(({ id: source, severities }) =>
    severities.flatMap(({ type, score: word }): (IssueSeverity & { severity: CvssSeverity })[] => {
      const severity = isVectorType(type) ? undefined : severityWords.get(word.trim().toLowerCase());
      return severity === undefined ? [] : [{ severity, basis: "word", source, ...noVector }];
    }),
  );
  const inOrder = found.toSorted(
    (one, other) =>
      sourceRankOf(one.source) - sourceRankOf(other.source) ||
      steps[other.severity] - steps[one.severity] ||
      byCodeUnits(one.source, other.source),
  );
  return inOrder[0] ?? null;
}

/** Other types are names of databases, such as Ubuntu, whose score is a word. */
function isVectorType(type: string): boolean {
  return type.startsWith("CVSS_");
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

/** The rank in lists: by severity, then by score, those without a score last. */
function rankOf({ severity, score }: IssueSeverity): number {
  return (severity === null ? 0 : steps[severity]) * 1000 + Math.round((score ?? 0) * 10);
}

/** The first summary, which is one line; if there is none, the first details. */
function describedBy(records: readonly IssueFacts[]): string | undefined {
  const summary = records.find((record) => record.summary.trim() !== "")?.summary;
  return summary ?? records.find((record) => record.details.trim() !== "")?.details;
}

function beginningOf(text: string): string {
  return text.slice(0, issueTextCharactersMax).toWellFormed();
}

type ScoredSeverity = CvssScore & { source: string; basis: "vector" };

function scoredRecords(records: readonly SeverityRecord[]): { severity: ScoredSeverity | null; refused: RefusedSeverity[] } {
  const found: ScoredSeverity[] = [];
  const refused: RefusedSeverity[] = [];
  for (const { id: source, severities } of records) {
    for (const declared of severities) {
      if (!isVectorType(declared.type)) continue;
      try {
        found.push({ ...scoreDeclared(declared), source, basis: "vector" });
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

function bySeverityPrecedence(one: ScoredSeverity, other: ScoredSeverity): number {
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
