/** Assigns the stored issues to the new groups. */
import { aliasChanges } from "./alias-changes.ts";
import type { AliasGroup } from "./alias-groups.ts";

export interface StoredIssue {
  id: bigint;
  group: AliasGroup;
}

export interface Regrouping {
  /** Issues that continue, with the same or other names. */
  continued: { issue: bigint; group: AliasGroup; renamed: boolean }[];
  /** New groups, and the issues that they were split off from. */
  added: { group: AliasGroup; from: bigint[] }[];
  /** Issues that end, and the groups that they were merged into. */
  ended: { issue: bigint; into: AliasGroup[] }[];
}

export function regroup(states: { before: readonly StoredIssue[]; after: readonly AliasGroup[] }): Regrouping {
  const changes = aliasChanges({ before: states.before.map(({ group }) => group), after: states.after });
  const issues = new Map(states.before.map(({ id, group }) => [group.id, id]));
  const groups = new Map(states.after.map((group) => [group.id, group]));
  const issueOf = (group: string): bigint[] => [issues.get(group) ?? []].flat();
  const added = new Set(changes.added.map(({ group }) => group));
  const continued = new Map(changes.continued.map(({ before, after }) => [after, before.id]));
  return {
    continued: states.after
      .filter((group) => !added.has(group))
      .flatMap((group) => {
        const before = continued.get(group);
        return issueOf(before ?? group.id).map((issue) => ({ issue, group, renamed: before !== undefined }));
      }),
    added: changes.added.map(({ group, from }) => ({ group, from: from.flatMap(issueOf) })),
    ended: changes.ended.flatMap(({ group, into }) =>
      issueOf(group.id).map((issue) => ({ issue, into: into.flatMap((id) => groups.get(id) ?? []) })),
    ),
  };
}
