/** What is shown of an issue, from all records about it. */
import { byCodeUnits } from "../../../kernel/by-code-units.ts";
import { shortened } from "../../../kernel/shortened.ts";
import { issueDescriptionCharactersMax } from "../../limits.ts";
import { isCve, isGhsa } from "../advisory-id.ts";
import type { AliasGroup } from "./alias-groups.ts";
import type { Severity } from "../cvss/score.ts";
import { chooseSeverity, type IssueSeverity } from "./group-severity.ts";
import type { IssueFacts } from "./issue-facts.ts";

export interface Issue {
  name: string;
  severity: IssueSeverity | null;
  rank: number;
  description: string;
  withdrawn: boolean;
}

export interface Records {
  /** Of this issue alone, in the order of their weight. */
  own: IssueFacts[];
  /** Of others too. */
  shared: IssueFacts[];
}

const steps: Record<Severity, number> = { low: 1, medium: 2, high: 3, critical: 4 };

export function recordsOf(group: AliasGroup, byId: ReadonlyMap<string, IssueFacts>): Records {
  const known = (ids: readonly string[]) => byPrecedence(ids).flatMap((id) => byId.get(id) ?? []);
  return { own: known(group.ids), shared: known(group.shared) };
}

/** Withdrawn records speak only where all of them are withdrawn. */
export function issueFrom(group: AliasGroup, records: Records): Issue {
  const withdrawn = [...records.own, ...records.shared].every((record) => record.withdrawn);
  const { own, shared } = withdrawn ? records : { own: standing(records.own), shared: standing(records.shared) };
  const { severity } = chooseSeverity({ own, shared });
  return {
    name: group.id,
    severity,
    rank: severity === null ? publicationRank([...own, ...shared]) : rankOf(severity),
    description: shortened(describedBy(own) ?? describedBy(shared) ?? "", issueDescriptionCharactersMax),
    withdrawn,
  };
}

function standing(records: readonly IssueFacts[]): IssueFacts[] {
  return records.filter(({ withdrawn }) => !withdrawn);
}

/** The place in lists: by severity, then by score. */
function rankOf(severity: IssueSeverity): number {
  return (severity.severity === null ? 0 : steps[severity.severity]) * 1000 + Math.round(severity.score * 10);
}

const firstYear = 1999;
const publicationRankMax = 999;

/**
 * The place of what nobody gave a severity, below all that has one: the newest first, by the month in which its first record was
 * published. That is all that its records tell of how urgent it is. CVE ids begin in 1999; 0: no record says when.
 */
function publicationRank(records: readonly IssueFacts[]): number {
  const first = records.flatMap(({ published }) => published ?? []).toSorted(byCodeUnits)[0];
  if (first === undefined) return 0;
  const at = new Date(first);
  const months = (at.getUTCFullYear() - firstYear) * 12 + at.getUTCMonth() + 1;
  return Math.min(Math.max(months, 1), publicationRankMax);
}

/** Summaries are written to be one line; where no record has one, the beginning of what it says at length. */
function describedBy(records: readonly IssueFacts[]): string | undefined {
  const summary = records.find((record) => record.summary.trim() !== "")?.summary;
  return summary ?? records.find((record) => record.details.trim() !== "")?.details;
}

/** GitHub's records are edited for readers, CVE records are the issue's own, others follow by their ids. */
export function byPrecedence(ids: readonly string[]): string[] {
  const kind = (id: string) => (isGhsa(id) ? 0 : isCve(id) ? 1 : 2);
  return ids.toSorted((one, other) => kind(one) - kind(other) || byCodeUnits(one, other));
}
