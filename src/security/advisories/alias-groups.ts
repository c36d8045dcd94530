/**
 * Groups records into issues by their aliases, and says which stored issues continue, split or end.
 *
 * Aliases count in both directions and transitively; upstream and related ids never count. Two CVE ids are always two issues: if aliases
 * connect several, every other id belongs to the CVE that is the fewest aliases away. An id with several equally near CVEs is shared by all
 * of them and connects nothing. The same records give the same groups, in any order and after any earlier state.
 *
 * A stored issue continues in at most one group, so that findings and decisions can follow it. Removed aliases split an issue; new ones
 * merge issues.
 */
import { byCodeUnits } from "../../kernel/text.ts";
import { isCve, isGhsa } from "./advisory.ts";

/** The id and the aliases of a record, as in `Advisory`. */
export interface RecordAliases {
  id: string;
  aliases: readonly string[];
}

export interface AliasGroup {
  /** The shown name: its CVE id, else its first GHSA id, else its first id. No two groups have the same one. */
  id: string;
  /** Names of only this issue, sorted. */
  ids: string[];
  /** Names of records about this and other issues, sorted; those records are evidence of each issue. */
  shared: string[];
}

/** Sorted by id. Groups depend only on the records that aliases connect with theirs. */
export function groupAliases(records: Iterable<RecordAliases>): AliasGroup[] {
  const neighbours = neighboursOf(records);
  const seen = new Set<string>();
  const groups: AliasGroup[] = [];
  for (const id of neighbours.keys()) {
    if (seen.has(id)) continue;
    const component = reachable(id, neighbours);
    for (const member of component) seen.add(member);
    groups.push(...groupsWithin(component, neighbours));
  }
  return groups.toSorted((one, other) => byCodeUnits(one.id, other.id));
}

/** Each name, including shared ones, with its groups. */
export function groupsByName(groups: Iterable<AliasGroup>): Map<string, AliasGroup[]> {
  const byName = new Map<string, AliasGroup[]>();
  for (const group of groups) {
    for (const name of [...group.ids, ...group.shared]) entryOf(byName, name).push(group);
  }
  return byName;
}

interface AliasChanges {
  /** New groups: none of the former groups continues in them. */
  added: Added[];
  /** The same issue under other names. */
  continued: { before: AliasGroup; after: AliasGroup }[];
  /** Former groups that do not continue, and the groups that got their names; none if no record is about the issue any more. */
  ended: Ended[];
}

interface Added {
  group: AliasGroup;
  /** Ids of the former groups of its names, from which it was split. */
  from: string[];
}

interface Ended {
  group: AliasGroup;
  /** Ids of the groups that got its names, into which it was merged. */
  into: string[];
}

/**
 * Each group continues in at most one group: the one with its id, else the one that shares the most names. Unchanged groups are left out.
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

export interface StoredIssue {
  id: bigint;
  group: AliasGroup;
}

export interface Regrouping {
  /** Issues that continue, with the same or other names. */
  continued: { issue: bigint; group: AliasGroup; renamed: boolean }[];
  /** New groups, and the issues they were split from. */
  added: { group: AliasGroup; from: bigint[] }[];
  /** Issues that end, and the groups they were merged into. */
  ended: { issue: bigint; into: AliasGroup[] }[];
}

/** Assigns the stored issues to the new groups. */
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

type Neighbours = ReadonlyMap<string, ReadonlySet<string>>;

function neighboursOf(records: Iterable<RecordAliases>): Neighbours {
  const neighbours = new Map<string, Set<string>>();
  const of = (id: string): Set<string> => {
    const known = neighbours.get(id) ?? new Set();
    neighbours.set(id, known);
    return known;
  };
  for (const { id, aliases } of records) {
    of(id);
    for (const alias of aliases) {
      if (alias === id) continue;
      of(id).add(alias);
      of(alias).add(id);
    }
  }
  return neighbours;
}

function reachable(start: string, neighbours: Neighbours): Set<string> {
  const reached = new Set([start]);
  // The loop also visits ids that it adds.
  for (const id of reached) for (const neighbour of neighbours.get(id) ?? []) reached.add(neighbour);
  return reached;
}

function groupsWithin(component: ReadonlySet<string>, neighbours: Neighbours): AliasGroup[] {
  const cves = [...component].filter(isCve);
  if (cves.length < 2) return [groupFrom([...component], [])];
  const own = new Map<string, string[]>();
  const shared = new Map<string, string[]>();
  for (const [id, found] of nearestCves(cves, neighbours)) {
    for (const cve of found) entryOf(found.size > 1 ? shared : own, cve).push(id);
  }
  return cves.map((cve) => groupFrom(own.get(cve) ?? [], shared.get(cve) ?? []));
}

function groupFrom(ids: string[], shared: string[]): AliasGroup {
  const sorted = ids.toSorted(byCodeUnits);
  const id = sorted.find(isCve) ?? sorted.find(isGhsa) ?? sorted[0] ?? "";
  return { id, ids: sorted, shared: shared.toSorted(byCodeUnits) };
}

/** Searches breadth-first from all CVE ids. The nearest CVEs of an id are those of its neighbours in the previous ring. */
function nearestCves(cves: string[], neighbours: Neighbours): Map<string, ReadonlySet<string>> {
  const nearest = new Map<string, ReadonlySet<string>>(cves.map((cve) => [cve, new Set([cve])]));
  for (let ring = cves; ring.length > 0;) {
    const before = new Map<string, ReadonlySet<string>[]>();
    for (const id of ring) {
      for (const neighbour of neighbours.get(id) ?? []) {
        if (!nearest.has(neighbour)) entryOf(before, neighbour).push(nearest.get(id) ?? new Set());
      }
    }
    for (const [id, sets] of before) nearest.set(id, unionOf(sets));
    ring = [...before.keys()];
  }
  return nearest;
}

function entryOf<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Returns the set itself if there is only one: thousands of ids may share one set of a thousand CVEs. */
function unionOf(sets: ReadonlySet<string>[]): ReadonlySet<string> {
  const [first, ...more] = new Set(sets);
  return first !== undefined && more.length === 0 ? first : new Set(sets.flatMap((set) => [...set]));
}

function keyOf({ ids, shared }: AliasGroup): string {
  return JSON.stringify([ids, shared]);
}

interface Link {
  before: AliasGroup;
  after: AliasGroup;
  names: number;
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
