/** Compares two states of groups, so that the data of a group can follow it. */
import type { AliasGroup } from "./alias-groups.ts";

export interface AliasChanges {
  /** New groups: none of the former groups continues in them. */
  added: Added[];
  /** The same issue under other names. */
  continued: { before: AliasGroup; after: AliasGroup }[];
  /** Former groups that do not continue, and the groups that got their names; none when no record is about the issue any longer. */
  ended: Ended[];
}

interface Added {
  group: AliasGroup;
  /** Ids of the former groups of its names, which it was split off from. */
  from: string[];
}

interface Ended {
  group: AliasGroup;
  /** Ids of the groups that got its names, which it was merged into. */
  into: string[];
}

/**
 * Each group continues in at most one group: the one with its id, else the one with the most common names. Groups that are equal before
 * and after are left out.
 */
export function aliasChanges(states: { before: readonly AliasGroup[]; after: readonly AliasGroup[] }): AliasChanges {
  const unchanged = new Set(states.before.map(keyOf)).intersection(new Set(states.after.map(keyOf)));
  const before = states.before.filter((group) => !unchanged.has(keyOf(group)));
  const after = states.after.filter((group) => !unchanged.has(keyOf(group)));
  const links = linksBetween(before, after);
  const continued = pairsOf(links);
  const paired = new Set(continued.flatMap((pair) => [pair.before, pair.after]));
  const from = Map.groupBy(links, (link) => link.after);
  const into = Map.groupBy(links, (link) => link.before);
  return {
    added: after
      .filter((group) => !paired.has(group))
      .map((group) => ({ group, from: (from.get(group) ?? []).map((link) => link.before.id) })),
    continued,
    ended: before
      .filter((group) => !paired.has(group))
      .map((group) => ({ group, into: (into.get(group) ?? []).map((link) => link.after.id) })),
  };
}

interface Link {
  before: AliasGroup;
  after: AliasGroup;
  names: number;
}

function keyOf({ ids, shared }: AliasGroup): string {
  return JSON.stringify([ids, shared]);
}

function linksBetween(before: AliasGroup[], after: AliasGroup[]): Link[] {
  const holders = new Map(after.flatMap((group) => group.ids.map((id) => [id, group] as const)));
  return before.flatMap((group) => {
    const counts = new Map<AliasGroup, number>();
    for (const id of group.ids) {
      const holder = holders.get(id);
      if (holder !== undefined) counts.set(holder, (counts.get(holder) ?? 0) + 1);
    }
    return [...counts].map(([holder, names]) => ({ before: group, after: holder, names }));
  });
}

/** Pairs the strongest links first. Groups are sorted by id, so equally strong links always have the same order. */
function pairsOf(links: Link[]): AliasChanges["continued"] {
  const strength = ({ before, after, names }: Link) => (before.id === after.id ? Number.MAX_SAFE_INTEGER : names);
  const taken = new Set<AliasGroup>();
  return links
    .toSorted((one, other) => strength(other) - strength(one))
    .filter(({ before, after }) => {
      if (taken.has(before) || taken.has(after)) return false;
      taken.add(before).add(after);
      return true;
    })
    .map(({ before, after }) => ({ before, after }));
}
