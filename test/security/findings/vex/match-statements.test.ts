/** Which statement of a VEX document decides about a finding, and why a statement decides about none. */
import { describe, expect, test } from "bun:test";
import { systemClock } from "../../../../src/kernel/clock.ts";
import { EventLoopYielder } from "../../../../src/process/event-loop-yielder.ts";
import { vexComparisonsMax } from "../../../../src/security/findings/limits.ts";
import { matchStatements, type Known, type KnownSbom } from "../../../../src/security/findings/vex/match-statements.ts";
import {
  productNamed,
  type About,
  type NamedPackage,
  type VersionRule,
  type VexStatement,
} from "../../../../src/security/findings/vex/statement.ts";
import type { Candidate } from "../../../../src/security/findings/vex/vex-store.ts";
import { failureOf } from "../../../support/failure-of.ts";

const open = { status: "open" as const, falsePositive: false, note: null, justification: null };

describe("what a document decides about", () => {
  const npm = (name: string, version: string | null = null): NamedPackage => ({
    identity: `npm ${name}`,
    ecosystem: "npm",
    version,
  });
  const all: About = { kind: "product", product: null, versions: [] };
  const of = (named: NamedPackage, versions: VersionRule[] = [], within: NamedPackage | null = null): About => ({
    kind: "package",
    package: named,
    versions,
    within,
  });
  const statement = (id: string, what: About, note: string, at = 0): VexStatement => ({
    ids: [id],
    ref: "x",
    about: what,
    at,
    decided: { ...open, status: "ignored", note },
  });
  const finding = (of: { issue: bigint; package: bigint; version: string; purl?: string }): Candidate => ({
    id: `${of.issue} ${of.package} ${of.version}`,
    ecosystem: "npm",
    key: `part-${of.package}`,
    purl: null,
    ...of,
    ...open,
  });
  const nowhere: KnownSbom = { serial: null, rootRef: null, root: null, rootByName: null, rootVersion: null, refs: new Map() };
  const rows = [1n, 2n].flatMap((issue) =>
    [1n, 2n].flatMap((id) => ["1", "2"].map((version) => finding({ issue, package: id, version }))),
  );
  const issues = new Map([
    ["CVE-1", [1n]],
    ["GHSA-1", [1n]],
    ["CVE-2", [2n]],
  ]);
  /** The note that each finding gets, and why statements are about none. */
  const matched = async (statements: VexStatement[], { candidates = rows, sbom = nowhere }: Partial<Known> = {}) => {
    const known = { candidates, issues, sbom };
    const { decisions, unmatched } = await matchStatements(statements, known, new EventLoopYielder(systemClock));
    const notes = [...decisions].map(
      ([{ id }, one]) => `${id} ${one.statement.decided.note}${one.isOfAllVersions ? "" : " alone"}`,
    );
    return [...notes.toSorted(), ...unmatched.map(({ reason }) => reason)];
  };

  test("a statement names an issue, a package of it, or a version of that in any spelling, by each of the issue's names", async () => {
    expect(await matched([statement("CVE-1", all, "n")])).toEqual(["1 1 1 n", "1 1 2 n", "1 2 1 n", "1 2 2 n"]);
    expect(await matched([statement("GHSA-1", of(npm("part-1")), "n")])).toEqual(["1 1 1 n", "1 1 2 n"]);
    const candidates = [
      finding({ issue: 1n, package: 1n, version: "1.0.0" }),
      finding({ issue: 1n, package: 1n, version: "v1.0.1", purl: "pkg:npm/part-1@1.0.1" }),
    ];
    expect(await matched([statement("CVE-1", of(npm("part-1", "1.0.0+build")), "n")], { candidates })).toEqual([
      "1 1 1.0.0 n alone",
    ]);
    expect(await matched([statement("CVE-1", of(npm("part-1", "1.0.1")), "n")], { candidates })).toEqual(["1 1 v1.0.1 n alone"]);
  });

  test.each<[string, VexStatement]>([
    ["unknown_vulnerability", statement("CVE-3", all, "n")],
    ["other_component", statement("CVE-1", of(npm("part-3")), "n")],
    ["other_version", statement("CVE-1", of(npm("part-1", "3")), "n")],
    ["other_version", statement("CVE-1", of(npm("part-1"), [{ text: "3", isRange: false, reached: true }]), "n")],
    ["unreadable_range", statement("CVE-1", of(npm("part-1"), [{ text: "vers:deb/<9", isRange: true, reached: true }]), "n")],
    ["unknown_reference", statement("CVE-1", { kind: "nothing" }, "n")],
    [
      "other_sbom",
      statement("CVE-1", { kind: "reference", bomRef: "x", serial: "other", versions: [], otherwise: { kind: "nothing" } }, "n"),
    ],
  ])("%s is told of a statement about no finding", async (reason, given) => {
    expect(await matched([given])).toEqual([reason]);
  });

  test("of the statements about a finding the latest decides, and of those of one time the last", async () => {
    const [early, late] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 1, 1)];
    const candidates = [finding({ issue: 1n, package: 1n, version: "1" })];
    const by = (...given: [note: string, at: number, what?: About][]) =>
      matched(
        given.map(([note, at, what = of(npm("part-1", "1"))]) => statement("CVE-1", what, note, at)),
        { candidates },
      );
    expect(await by(["first", early], ["last", early])).toEqual(["1 1 1 last alone"]);
    expect(await by(["late", late], ["early", early])).toEqual(["1 1 1 late alone"]);
    expect(await by(["whole", late, all], ["narrow", early])).toEqual(["1 1 1 whole"]);
  });

  test("a statement never reaches a version that it excludes", async () => {
    const candidates = ["0.9.0", "1.0.0", "1.5.0", "2.0.0"].map((version) => finding({ issue: 1n, package: 1n, version }));
    const by = (...rules: [text: string, reached: boolean][]) =>
      matched(
        [
          statement(
            "CVE-1",
            of(
              npm("part-1"),
              rules.map(([text, reached]) => ({ text, reached, isRange: text.includes(":") })),
            ),
            "n",
          ),
        ],
        {
          candidates,
        },
      );
    expect(await by(["2.0.0", false], ["0.9.0", true])).toEqual(["1 1 0.9.0 n alone"]);
    expect(await by(["vers:npm/>=1.0.0|<2.0.0", true], ["1.5.0", false])).toEqual(["1 1 1.0.0 n alone"]);
    expect(await by(["vers:npm/<2.0.0", true], ["vers:deb/1.5.0", false])).toEqual(["unreadable_range"]);
  });

  test("half a version is one version where it is named, and all that begin with it where it is excluded", async () => {
    const candidates = ["1.0.0", "1.5.0", "10.0.0"].map((version) => finding({ issue: 1n, package: 1n, version }));
    const by = (version: string | null, ...rules: [text: string, reached: boolean][]) => {
      const read = rules.map(([text, reached]) => ({ text, reached, isRange: text.includes(":") }));
      return matched([statement("CVE-1", of(npm("part-1", version), read), "n")], { candidates });
    };
    expect(await by("1")).toEqual(["1 1 1.0.0 n alone"]);
    expect(await by(null, ["1", true])).toEqual(["1 1 1.0.0 n alone"]);
    expect(await by(null, ["1.5", true])).toEqual(["1 1 1.5.0 n alone"]);
    for (const half of ["1.", "1.x", "^1", ""]) {
      expect([half, await by(half)]).toEqual([half, ["other_version"]]);
      expect([half, await by(null, [half, true])]).toEqual([half, ["unreadable_range"]]);
      expect([half, await by(null, ["vers:npm/*", true], [half, false])]).toEqual([half, ["unreadable_range"]]);
    }
    expect(await by(null, ["vers:npm/*", true], ["1", false])).toEqual(["1 1 10.0.0 n alone"]);
    for (const half of ["vers:npm/>=", "vers:npm", "vers:"])
      expect([half, await by(null, [half, true])]).toEqual([half, ["unreadable_range"]]);
  });

  test("a statement about another product decides nothing; what a document does not say is no difference", async () => {
    const root = { ...npm("app", "1.0.0") };
    const sbom = {
      ...nowhere,
      root,
      rootRef: "root",
      rootVersion: "1.0.0",
      serial: "ours",
      refs: new Map([["ref", npm("part-2", "2")]]),
    };
    const by = (what: About) => matched([statement("CVE-1", what, "n")], { sbom });
    const whole = ["1 1 1 n", "1 1 2 n", "1 2 1 n", "1 2 2 n"];
    const link = (bomRef: string | null, serial: string | null): About => ({
      kind: "reference",
      bomRef,
      serial,
      versions: [],
      otherwise: { kind: "nothing" },
    });
    for (const what of [
      all,
      of(npm("app")),
      of(npm("app", "1.0.0")),
      link("root", null),
      link("root", "ours"),
      link(null, "ours"),
    ]) {
      expect(await by(what)).toEqual(whole);
    }
    expect(await by(link("ref", "ours"))).toEqual(["1 2 2 n alone"]);
    expect(await by(of(npm("app", "2.0.0")))).toEqual(["other_version"]);
    expect(await by({ ...all, product: npm("other") })).toEqual(["other_product"]);
    expect(await by(of(npm("part-1"), [], npm("other")))).toEqual(["other_product"]);
    expect(await by({ ...all, product: productNamed("Another name", "2.0.0") })).toEqual(whole);
    expect(await by(of(npm("part-1"), [], npm("app")))).toEqual(["1 1 1 n", "1 1 2 n"]);
    const versions = [{ text: "vers:npm/<1.0.0", isRange: true, reached: true }];
    expect(await by({ ...all, versions })).toEqual(["other_version"]);
    expect(await by({ ...all, versions: [{ text: "1.0.0", isRange: false, reached: true }] })).toEqual(whole);
  });

  test("5,000 statements about 5,000 findings are matched, whatever they name; too many comparisons are refused", async () => {
    const candidates = Array.from({ length: 5_000 }, (_, index) =>
      finding({ issue: 1n, package: BigInt(index % 5), version: `${index}.0.0` }),
    );
    const named = [all, ...[0, 1, 2, 3, 4].map((id) => of(npm(`part-${id}`)))];
    const statements = Array.from({ length: 5_000 }, (_, index) => statement("CVE-1", named[index % 6] ?? all, "n"));
    const known = { candidates, issues, sbom: nowhere };
    const match = (given: VexStatement[]) => matchStatements(given, known, new EventLoopYielder(systemClock));
    const { decisions, unmatched } = await match(statements);
    expect([decisions.size, unmatched]).toEqual([5_000, []]);
    const rules = Array.from({ length: vexComparisonsMax / 1_000 + 1 }, (_, index) => ({
      text: `${index}.0.1`,
      isRange: false,
      reached: true,
    }));
    const heavy = await failureOf(match([statement("CVE-1", of(npm("part-0"), rules), "n")]));
    expect(heavy).toHaveProperty("message", expect.stringContaining("too many versions"));
  });
});
