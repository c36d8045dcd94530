/**
 * From records and their aliases to the issues that they are about. Aliases count in both directions and from one to the next; upstream and
 * related ids never do. Two CVE ids are two issues, whoever calls them one: where aliases join several, each other id goes to the CVE that
 * is the fewest aliases away. An id with several equally near ones speaks of all of them: it is shared, and joins nothing.
 * The same records give the same groups, in whatever order they came and whatever was there before.
 */
import { byCodeUnits } from "../../../kernel/by-code-units.ts";
import { isCve, isGhsa } from "../advisory-id.ts";

/** What a record says of its names, as `Advisory` has it. */
export interface RecordAliases {
  id: string;
  aliases: readonly string[];
}

export interface AliasGroup {
  /** What the issue is shown as: its CVE id, else the first of its GHSA ids, else of the others. No two groups have the same. */
  id: string;
  /** Names of this issue and of no other, sorted. */
  ids: string[];
  /** Names of records about this issue and about others, sorted: evidence of each of them. */
  shared: string[];
}

/** Sorted by id. Components are independent of each other: the records of some of them give their groups. */
export function groupAliases(claims: Iterable<RecordAliases>): AliasGroup[] {
  const neighbours = neighboursOf(claims);
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

/** Every name, shared ones too, with the groups that it stands for. */
export function groupsByName(groups: Iterable<AliasGroup>): Map<string, AliasGroup[]> {
  const byName = new Map<string, AliasGroup[]>();
  for (const group of groups) {
    for (const name of [...group.ids, ...group.shared]) entryOf(byName, name).push(group);
  }
  return byName;
}

type Neighbours = ReadonlyMap<string, ReadonlySet<string>>;

function neighboursOf(claims: Iterable<RecordAliases>): Neighbours {
  const neighbours = new Map<string, Set<string>>();
  const of = (id: string): Set<string> => {
    const known = neighbours.get(id) ?? new Set();
    neighbours.set(id, known);
    return known;
  };
  for (const { id, aliases } of claims) {
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
  // What is added while it is walked is walked too.
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

/** Ring by ring from all CVE ids at once: an id speaks of all that its neighbours in the ring before speak of. */
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

/** One set is its own union: behind a record that names a thousand CVEs, thousands of ids share it. */
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
