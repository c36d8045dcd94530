import type { Queries } from "../../../backing/backing.ts";
import { readAffected } from "../../versions/osv-affected.ts";
import { selectEntries, selectRecordIssues, type RecordIssueRow } from "./advisory-store.ts";
import type { Issue, RecordEntry } from "./match.ts";
import type { EventLoopYielder } from "../../../process/event-loop-yielder.ts";

/** All known issues of these packages, by package and in the order of their ids. */
export async function loadIssues(
  packages: readonly bigint[],
  { sql, yielder }: { sql: Queries; yielder: EventLoopYielder },
): Promise<Map<bigint, Issue[]>> {
  const rows = await selectEntries(packages, sql);
  const subjects = await selectRecordIssues([...new Set(rows.map(({ source }) => source))], sql);
  const bySource = Map.groupBy(subjects, ({ source }) => source);
  const issues = new Map<bigint, Map<bigint, Issue>>();
  for (const { package: id, ecosystem, source, entry, customRanges } of rows) {
    const read: RecordEntry = { source, entry, affected: readAffected({ ecosystem, entry }), customRanges };
    for (const subject of bySource.get(source) ?? []) issueOf(issues, id, subject).entries.push(read);
    await yielder.yieldIfDue();
  }
  return new Map([...issues].map(([id, byVulnerability]) => [id, [...byVulnerability.values()]]));
}

function issueOf(issues: Map<bigint, Map<bigint, Issue>>, id: bigint, { vulnerability, rank }: RecordIssueRow): Issue {
  const known = issues.get(id) ?? new Map<bigint, Issue>();
  issues.set(id, known);
  const issue = known.get(vulnerability) ?? { vulnerability, rank, entries: [] };
  known.set(vulnerability, issue);
  return issue;
}
