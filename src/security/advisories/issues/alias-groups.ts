/**
 * Groups records into issues by their aliases. Aliases count in both directions and transitively; upstream and related ids never count. Two
 * CVE ids are always two issues: if aliases connect several, each other id belongs to the CVE that is the fewest aliases away. An id with
 * several equally near CVEs is shared by all of them, and connects nothing.
 * The same records give the same groups, in any order and after any earlier state.
 */
import { byCodeUnits } from "../../../kernel/by-code-units.ts";
import { isCve, isGhsa } from "../advisory-id.ts";

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
  /** Names of records about this and other issues, sorted; they are evidence of each issue. */
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

/** Searches breadth-first from all CVE ids: an id is nearest to all CVEs of its neighbours in the ring before. */
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

/** Reuses a single set: thousands of ids may share the set of a record with a thousand CVEs. */
function unionOf(sets: ReadonlySet<string>[]): ReadonlySet<string> {
  const [first, ...more] = new Set(sets);
  return first !== undefined && more.length === 0 ? first : new Set(sets.flatMap((set) => [...set]));
}

function groupFrom(ids: string[], shared: string[]): AliasGroup {
  const sorted = ids.toSorted(byCodeUnits);
  const id = sorted.find(isCve) ?? sorted.find(isGhsa) ?? sorted[0] ?? "";
  return { id, ids: sorted, shared: shared.toSorted(byCodeUnits) };
}

function entryOf<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
