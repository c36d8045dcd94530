/** What became of the groups of one state in the next one, so that what hangs on a group can follow it. */
import type { AliasGroup } from "./alias-groups.ts";

export interface AliasChanges {
  /** Groups whose names are of no group before, or of none that goes on in them. */
  begun: Begun[];
  /** The same issue under other names. */
  continued: { before: AliasGroup; after: AliasGroup }[];
  /** Groups that do not go on, and the groups that their names went to; none: nothing is known of the issue any longer. */
  ended: Ended[];
}

interface Begun {
  group: AliasGroup;
  /** Ids of the groups before that its names come from: it was split off. */
  from: string[];
}

interface Ended {
  group: AliasGroup;
  /** Ids of the groups after that its names went to: it was merged. */
  into: string[];
}

/**
 * Each group goes on in at most one: that of its id, else the one that shares the most names with it. Groups that are equal before and
 * after are not told.
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
    begun: after
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

/** The strongest links first; groups come sorted by id, so that equal ones are taken in the same order everywhere. */
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
