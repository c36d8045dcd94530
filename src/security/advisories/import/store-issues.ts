/** Updates issues from their records, and moves findings and decisions of merged and split issues. */
import type { Transaction } from "../../../backing/backing.ts";
import type { AliasGroup } from "../issues/alias-groups.ts";
import { issueFrom, recordsOf } from "../issues/issue.ts";
import type { IssueFacts } from "../issues/issue-facts.ts";
import { deleteUnreferenced, endIssues, insertIssues, replaceNames, updateIssues } from "../issues/issue-store.ts";
import type { Regrouping } from "../issues/regroup.ts";
import { selectIssueFacts } from "./store.ts";
import { copyRanks, copyTriages, moveFindings, type IssueMove } from "./issue-moves-store.ts";

interface Change {
  regrouping: Regrouping;
  /** The records of this import. */
  facts: readonly IssueFacts[];
  at: Date;
}

export async function storeIssues({ regrouping, facts, at }: Change, tx: Transaction): Promise<void> {
  const { continued, added, ended } = regrouping;
  const fresh = new Map(facts.map((one) => [one.id, one]));
  const changed = continued.filter(({ group, renamed }) => renamed || namesOf(group).some((name) => fresh.has(name)));
  const byId = await withStored(
    fresh,
    [...changed, ...added].map(({ group }) => group),
    tx,
  );
  const issueOf = (group: AliasGroup) => issueFrom(group, recordsOf(group, byId));
  const endedIds = ended.map(({ issue }) => issue);
  // Ends issues first, since others may take their names.
  await endIssues(endedIds, tx);
  await updateIssues(
    changed.map(({ issue, group }) => ({ id: issue, issue: issueOf(group) })),
    tx,
  );
  const ids = await insertIssues(
    added.map(({ group }) => issueOf(group)),
    tx,
  );
  for (const { issue, group } of continued) ids.set(group.id, issue);
  const renamed = [...continued.filter((one) => one.renamed), ...added].map(({ group }) => group);
  await replaceNames(
    renamed.map((group) => ({ id: idOf(group, ids), group })),
    tx,
  );
  await follow({ regrouping, ids, at }, tx);
  // This includes moved findings: an issue that was merged with others has new names.
  await copyRanks(
    changed.map(({ issue }) => issue),
    tx,
  );
  await deleteUnreferenced(endedIds, tx);
}

/** @param ids of the current issues, by the ids of their groups */
async function follow(
  { regrouping: { added, ended }, ids, at }: { regrouping: Regrouping; ids: ReadonlyMap<string, bigint>; at: Date },
  tx: Transaction,
): Promise<void> {
  const splits = added.flatMap(({ group, from }) => from.map((issue): IssueMove => ({ from: issue, to: idOf(group, ids) })));
  const joins = ended.map(({ issue, into }) => into.map((group): IssueMove => ({ from: issue, to: idOf(group, ids) })));
  await copyTriages([...splits, ...joins.flat()], tx);
  // A finding moves to the first issue only; the next scan finds the others.
  await moveFindings({ moves: joins.flatMap(([first]) => first ?? []), at }, tx);
}

/** Adds stored records about these groups. */
async function withStored(
  fresh: ReadonlyMap<string, IssueFacts>,
  groups: readonly AliasGroup[],
  tx: Transaction,
): Promise<Map<string, IssueFacts>> {
  const missing = [...new Set(groups.flatMap(namesOf))].filter((name) => !fresh.has(name));
  const stored = missing.length === 0 ? [] : await selectIssueFacts(missing, tx);
  return new Map([...fresh, ...stored.map((one) => [one.id, one] as const)]);
}

function namesOf({ ids, shared }: AliasGroup): string[] {
  return [...ids, ...shared];
}

function idOf(group: AliasGroup, ids: ReadonlyMap<string, bigint>): bigint {
  const id = ids.get(group.id);
  if (id === undefined) throw new Error(`The issue "${group.id}" has no id`);
  return id;
}
