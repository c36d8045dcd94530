import { describe, expect, test } from "bun:test";
import { array, assert, constantFrom, property, record, uniqueArray, type Arbitrary } from "fast-check";
import { isCve } from "../../../src/security/advisories/advisory.ts";
import {
  aliasChanges,
  groupAliases,
  groupsByName,
  type RecordAliases,
  type AliasGroup,
} from "../../../src/security/advisories/alias-groups.ts";

const [one, two] = ["CVE-2026-0001", "CVE-2026-0002"];
const recordOf = (id: string, ...aliases: string[]): RecordAliases => ({ id, aliases });
const group = (ids: string[], shared: string[] = []) => ({ id: ids[0] ?? "", ids: ids.toSorted(), shared });

describe("records are about one issue", () => {
  test("if one names the other, in either direction, directly or transitively", () => {
    const groups = groupAliases([
      recordOf("PYSEC-1", "GHSA-1"),
      recordOf("GO-1", "PYSEC-1"),
      recordOf("GHSA-1"),
      recordOf("X-1"),
    ]);
    expect(groups).toEqual([group(["GHSA-1", "GO-1", "PYSEC-1"]), group(["X-1"])]);
  });

  test("which is shown with its CVE id, else its GHSA id, else its first id", () => {
    expect(groupAliases([recordOf("A-1", "GHSA-1", one)]).map(({ id }) => id)).toEqual([one]);
    expect(groupAliases([recordOf("A-1", "GHSA-2", "GHSA-1")]).map(({ id }) => id)).toEqual(["GHSA-1"]);
    expect(groupAliases([recordOf("B-1", "A-1")]).map(({ id }) => id)).toEqual(["A-1"]);
  });

  test("except that a record with several CVE ids is evidence of each and connects none", () => {
    expect(groupAliases([recordOf("GO-1", one, two)])).toEqual([group([one], ["GO-1"]), group([two], ["GO-1"])]);
    expect(groupAliases([recordOf(one, two)])).toEqual([group([one]), group([two])]);
  });

  test("which is the CVE with the fewest aliases in between", () => {
    const groups = groupAliases([
      recordOf("GO-1", one, two, "GHSA-1"),
      recordOf("GHSA-1", one),
      recordOf("PYSEC-1", two, "GHSA-2"),
    ]);
    expect(groups).toEqual([
      { id: one, ids: [one, "GHSA-1"], shared: ["GO-1"] },
      { id: two, ids: [two, "GHSA-2", "PYSEC-1"], shared: ["GO-1"] },
    ]);
  });

  test("and two records that a wrong alias connects stay with their own CVEs", () => {
    expect(groupAliases([recordOf("PYSEC-1", one, "GHSA-1"), recordOf("PYSEC-2", two, "GHSA-1")])).toEqual([
      { id: one, ids: [one, "PYSEC-1"], shared: ["GHSA-1"] },
      { id: two, ids: [two, "PYSEC-2"], shared: ["GHSA-1"] },
    ]);
  });

  test("and each name leads to its issues", () => {
    const byName = groupsByName(groupAliases([recordOf("GO-1", one, two), recordOf("GHSA-1", one)]));
    const ids = (name: string) => byName.get(name)?.map(({ id }) => id);
    expect([ids("GHSA-1"), ids("GO-1"), ids("X-1")]).toEqual([[one], [one, two], undefined]);
  });
});

describe("when aliases are corrected", () => {
  const states = (before: RecordAliases[], after: RecordAliases[]) =>
    aliasChanges({ before: groupAliases(before), after: groupAliases(after) });
  const summaryOf = ({ added, continued, ended }: ReturnType<typeof aliasChanges>) => ({
    added: added.map(({ group: { id }, from }) => [id, from]),
    continued: continued.map(({ before, after }) => [before.id, after.id]),
    ended: ended.map(({ group: { id }, into }) => [id, into]),
  });

  test("an unchanged group is left out", () => {
    const records = [recordOf("PYSEC-1", one), recordOf("GO-1")];
    expect(summaryOf(states(records, records.toReversed()))).toEqual({ added: [], continued: [], ended: [] });
  });

  test("a removed alias splits a group: the issue continues with its id, and another one begins", () => {
    const changes = states([recordOf("PYSEC-1", one), recordOf("GO-1", one)], [recordOf("PYSEC-1", one), recordOf("GO-1")]);
    expect(summaryOf(changes)).toEqual({ added: [["GO-1", [one]]], continued: [[one, one]], ended: [] });
  });

  test("a new alias merges two groups: one continues, and the other one ends in it", () => {
    const changes = states([recordOf("PYSEC-1", one), recordOf("GO-1")], [recordOf("PYSEC-1", one), recordOf("GO-1", one)]);
    expect(summaryOf(changes)).toEqual({ added: [], continued: [[one, one]], ended: [["GO-1", [one]]] });
  });

  test("an issue that gets a CVE id continues with it", () => {
    const changes = states([recordOf("GHSA-1", "PYSEC-1")], [recordOf("GHSA-1", "PYSEC-1", one)]);
    expect(summaryOf(changes)).toEqual({ added: [], continued: [["GHSA-1", one]], ended: [] });
  });

  test("an alias that moves takes its name along, and both issues continue", () => {
    const changes = states(
      [recordOf("A-1", one), recordOf("B-1", two)],
      [recordOf("A-1", two), recordOf("B-1", two), recordOf(one)],
    );
    expect(summaryOf(changes)).toEqual({
      added: [],
      continued: [
        [one, one],
        [two, two],
      ],
      ended: [],
    });
  });

  test("a group without records ends in no other group", () => {
    expect(summaryOf(states([recordOf("X-1")], []))).toEqual({ added: [], continued: [], ended: [["X-1", []]] });
  });
});

const ids = [one, two, "CVE-2026-0003", "GHSA-1", "GHSA-2", "GO-1", "PYSEC-1", "PYSEC-2", "X-1"];
const anyClaim: Arbitrary<RecordAliases> = record({
  id: constantFrom(...ids),
  aliases: uniqueArray(constantFrom(...ids), { maxLength: 4 }),
});
const anyClaims = uniqueArray(anyClaim, { selector: ({ id }) => id, maxLength: 9 });
const runs = { numRuns: 500 };

describe("for any records", () => {
  test("the groups do not depend on their order", () => {
    const holds = (records: RecordAliases[]) => {
      const turned = records.map(({ id, aliases }) => ({ id, aliases: aliases.toReversed() })).toReversed();
      expect(groupAliases(turned)).toEqual(groupAliases(records));
    };
    assert(property(anyClaims, holds), runs);
  });

  test("no group has two CVE ids, no id is in two groups unless it is shared, and none is lost", () => {
    const holds = (records: RecordAliases[]) => {
      const groups = groupAliases(records);
      const own = groups.flatMap((found) => found.ids);
      const shared = groups.flatMap((found) => found.shared);
      expect(groups.every((found) => found.ids.filter(isCve).length <= 1 && found.ids.includes(found.id))).toBe(true);
      expect(new Set(own).size).toBe(own.length);
      expect(new Set(own).isDisjointFrom(new Set(shared)) && !shared.some(isCve)).toBe(true);
      expect(new Set([...own, ...shared])).toEqual(new Set(records.flatMap(({ id, aliases }) => [id, ...aliases])));
    };
    assert(property(anyClaims, holds), runs);
  });

  test("removing them again restores the groups, and the changes describe both steps", () => {
    const holds = (before: RecordAliases[], more: RecordAliases[]) => {
      const kept = new Set(before.map(({ id }) => id));
      const states = {
        before: groupAliases(before),
        after: groupAliases([...before, ...more.filter(({ id }) => !kept.has(id))]),
      };
      expect(applied(states)).toEqual(states.after);
      expect(applied({ before: states.after, after: states.before })).toEqual(states.before);
    };
    assert(property(anyClaims, anyClaims, holds), runs);
  });

  test("a subset of connected components gives the same groups", () => {
    const holds = (parts: RecordAliases[][]) => {
      const records = parts.map((part, index) =>
        part.map(({ id, aliases }) => recordOf(apart(id, index), ...aliases.map((alias) => apart(alias, index)))),
      );
      const groupedAlone = records.flatMap((part) => groupAliases(part));
      expect(new Set(groupAliases(records.flat()).map((found) => JSON.stringify(found)))).toEqual(
        new Set(groupedAlone.map((found) => JSON.stringify(found))),
      );
    };
    assert(property(array(anyClaims, { maxLength: 3 }), holds), runs);
  });
});

/** An id of a disjoint set of records. */
function apart(id: string, world: number): string {
  return `${id}${world}`;
}

/** Applies the changes to the state before. */
function applied(states: { before: AliasGroup[]; after: AliasGroup[] }): AliasGroup[] {
  const { added, continued, ended } = aliasChanges(states);
  const gone = new Set([...ended.map((end) => end.group.id), ...continued.map(({ before }) => before.id)]);
  const kept = states.before.filter(({ id }) => !gone.has(id));
  return [...kept, ...continued.map(({ after }) => after), ...added.map((begin) => begin.group)].toSorted((left, right) =>
    left.id < right.id ? -1 : 1,
  );
}
