/** Builds an issue from all records about it. */
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
  /** Records of only this issue, in the order of precedence. */
  own: IssueFacts[];
  /** Records of this and other issues. */
  shared: IssueFacts[];
}

const steps: Record<Severity, number> = { low: 1, medium: 2, high: 3, critical: 4 };

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

function notWithdrawn(records: readonly IssueFacts[]): IssueFacts[] {
  return records.filter(({ withdrawn }) => !withdrawn);
}

/** The rank in lists: by severity, then by score. */
function rankOf(severity: IssueSeverity): number {
  return (severity.severity === null ? 0 : steps[severity.severity]) * 1000 + Math.round(severity.score * 10);
}

const firstYear = 1999;
const publicationRankMax = 999;

/**
 * The rank of an issue without a severity, below all issues with one: the newest first, by the month in which its first record was
 * published. Its records have no other sign of urgency. CVE ids begin in 1999; 0: no record has a time of publication.
 */
function publicationRank(records: readonly IssueFacts[]): number {
  const first = records.flatMap(({ published }) => published ?? []).toSorted(byCodeUnits)[0];
  if (first === undefined) return 0;
  const at = new Date(first);
  const months = (at.getUTCFullYear() - firstYear) * 12 + at.getUTCMonth() + 1;
  return Math.min(Math.max(months, 1), publicationRankMax);
}

/** The first summary, which is one line; if no record has one, the first details. */
function describedBy(records: readonly IssueFacts[]): string | undefined {
  const summary = records.find((record) => record.summary.trim() !== "")?.summary;
  return summary ?? records.find((record) => record.details.trim() !== "")?.details;
}

/** The order of precedence: GitHub's records, which are edited for readers, then CVE records, then others by id. */
export function byPrecedence(ids: readonly string[]): string[] {
  const kind = (id: string) => (isGhsa(id) ? 0 : isCve(id) ? 1 : 2);
  return ids.toSorted((one, other) => kind(one) - kind(other) || byCodeUnits(one, other));
}
