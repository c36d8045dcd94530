/** CycloneDX VEX: what analyses mean, and which documents are refused. */
import { describe, expect, test } from "bun:test";
import { systemClock } from "../../../../src/kernel/clock.ts";
import { EventLoopYielder } from "../../../../src/process/event-loop-yielder.ts";
import { vexBytesMax, vexStatementsMax } from "../../../../src/security/findings/limits.ts";
import { matchStatements } from "../../../../src/security/findings/triage/import-vex.ts";
import { justifications } from "../../../../src/security/findings/decision.ts";
import { readVex, type VexStatement } from "../../../../src/security/findings/triage/read-vex.ts";
import { analysisOf, decisionOf, type Decided } from "../../../../src/security/findings/triage/vex-analysis.ts";
import type { Candidate } from "../../../../src/security/findings/triage/vex-store.ts";
import { failureOf } from "../../../support/failure-of.ts";
import { threadMs } from "../../../support/processes/thread-time.ts";

const decided = (
  status: Decided["status"],
  falsePositive = false,
  note: string | null = null,
  justification: Decided["justification"] = null,
): Decided => ({ status, falsePositive, note, justification });

describe("a decision", () => {
  test.each([
    [decided("open")],
    [decided("in_progress", false, "planned")],
    [decided("ignored", false, "accepted by the owner")],
    [decided("resolved")],
    [decided("open", true, "another package")],
    [decided("not_affected", false, "Never called\nin production", "code_not_reachable")],
    [decided("not_affected")],
    ...justifications.map((reason) => [decided("not_affected", false, null, reason)] as const),
  ])("%j is the same after an export and an import", (decision) => {
    expect(decisionOf(analysisOf(decision))).toEqual(decision);
  });

  test("to ignore a finding is an accepted risk, and no claim that the product is not affected", () => {
    expect(analysisOf(decided("ignored"))).toEqual({ state: "exploitable", response: ["will_not_fix"] });
    expect(analysisOf(decided("ignored", false, "not_affected: x"))).toMatchObject({ state: "exploitable" });
  });

  test("what is not reachable is never exported as exploitable", () => {
    expect(analysisOf(decided("not_affected", false, "Never called", "code_not_reachable"))).toEqual({
      state: "not_affected",
      justification: "code_not_reachable",
      detail: "Never called",
    });
  });

  test("a note is cut to the length of notes, without control characters", () => {
    const { note } = decisionOf({ state: "in_triage", detail: `\u001b[31m${"x".repeat(3_000)}` });
    expect([note?.length, note?.includes("\u001b")]).toEqual([2_000, false]);
  });
});

const bytesOf = (document: unknown) =>
  new TextEncoder().encode(typeof document === "string" ? document : JSON.stringify(document));
const read = (document: unknown) => readVex(bytesOf(document), new EventLoopYielder(systemClock));
const document = (vulnerabilities: unknown) => ({ bomFormat: "CycloneDX", vulnerabilities });

describe("a document", () => {
  const analysis = { state: "resolved" };

  test("statements name a package by purl, by bom-ref or by BOM-Link; without an analysis they decide nothing", async () => {
    const components = [{ "bom-ref": "b", purl: "pkg:pypi/Zope.Interface@5.0" }];
    const affects = [{ ref: "pkg:npm/%40a/b@1.0.0" }, { ref: "b" }, { ref: "urn:cdx:1/1#b" }, { ref: "unknown" }];
    const vulnerabilities = [{ id: "CVE-2024-0001", analysis, affects }, { id: "CVE-2024-0002" }, { id: "ghsa-x", analysis }];
    const statements = await read({ ...document(vulnerabilities), components });
    expect(statements.map((one) => [one.id, one.package && `${one.package.identity} ${one.package.version}`])).toEqual([
      ["CVE-2024-0001", "npm @a/b 1.0.0"],
      ["CVE-2024-0001", "PyPI zope-interface 5.0"],
      ["CVE-2024-0001", "PyPI zope-interface 5.0"],
      ["CVE-2024-0001", null],
      ["GHSA-X", null],
    ]);
  });

  test.each([
    ["hello", "not valid JSON"],
    ["[]", "not a CycloneDX document"],
    ['{"bomFormat":"CycloneDX","bomFormat":"SPDX"}', "twice"],
    [{ bomFormat: "SPDX" }, "bomFormat"],
    [document({}), "vulnerabilities must be a list"],
    [document([{ id: "x", analysis }]), "vulnerabilities[0].id must be the id of a vulnerability"],
    [document([{ id: "CVE-2024-0001", analysis: { state: "maybe" } }]), "vulnerabilities[0].analysis.state must be one of"],
    [document([{ id: "CVE-2024-0001", analysis, affects: [{}] }]), "vulnerabilities[0].affects[0].ref must be a text"],
    [
      document([{ id: "CVE-2024-0001", analysis, affects: Array.from({ length: vexStatementsMax + 1 }, () => ({ ref: "x" })) }]),
      "more than 5000 statements",
    ],
    [`{"bomFormat":${"[".repeat(40)}${"]".repeat(40)}}`, "nested deeper than 32 levels"],
    [`{"bomFormat":[${"0,".repeat(vexBytesMax / 4)}0]}`, "more than 120000 JSON values"],
  ])("%# is refused with its place", async (given, reason) => {
    expect(await failureOf(read(given))).toHaveProperty("message", expect.stringContaining(reason));
  });
});

describe("what a document decides about", () => {
  const statement = (id: string, named: VexStatement["package"], note: string): VexStatement => ({
    id,
    ref: named && "x",
    package: named,
    decided: decided("ignored", false, note),
  });
  const finding = (of: { issue: bigint; package: bigint; version: string }): Candidate => ({
    id: `${of.issue} ${of.package} ${of.version}`,
    ecosystem: "PyPI",
    key: `part-${of.package}`,
    ...of,
    ...decided("open"),
  });
  const notesOf = (matched: ReturnType<typeof matchStatements>) =>
    matched.pairs.map(({ decided: { note }, findings }) => [note, ...findings.map(({ id }) => id)]);

  test("a statement names an issue, a package of it in any spelling, or a version of that, by each of the issue's names", () => {
    const candidates = [1n, 2n].flatMap((issue) =>
      [1n, 2n].flatMap((id) => ["1", "2"].map((version) => finding({ issue, package: id, version }))),
    );
    const issues = new Map([
      ["CVE-1", [1n]],
      ["GHSA-1", [1n]],
      ["CVE-2", [2n]],
    ]);
    const at = (name: string, version: string | null) => ({ identity: `PyPI ${name}`, version });
    const matched = (...statements: VexStatement[]) => matchStatements(statements, { candidates, issues });
    expect(notesOf(matched(statement("CVE-1", null, "all")))).toEqual([
      ["all", "1 2 1", "1 2 2"],
      ["all", "1 1 1", "1 1 2"],
    ]);
    expect(notesOf(matched(statement("GHSA-1", at("part-1", null), "package")))).toEqual([["package", "1 1 1", "1 1 2"]]);
    expect(notesOf(matched(statement("CVE-2", at("part-2", "2"), "version")))).toEqual([["version", "2 2 2"]]);
    const strange = [
      statement("CVE-3", null, "x"),
      statement("CVE-1", at("part-3", null), "x"),
      statement("CVE-1", at("part-1", "3"), "x"),
    ];
    const unknown = { ...statement("CVE-1", null, "x"), ref: "unknown" };
    expect(matched(...strange, unknown)).toEqual({ pairs: [], unmatched: [...strange, unknown] });
  });

  test("of several statements about an issue in a package the last counts, for all that they name", () => {
    const candidates = ["1", "2"].map((version) => finding({ issue: 1n, package: 1n, version }));
    const at = (version: string) => ({ identity: "PyPI part-1", version });
    const statements = [statement("CVE-1", at("1"), "first"), statement("CVE-1", at("2"), "last")];
    const matched = matchStatements(statements, { candidates, issues: new Map([["CVE-1", [1n]]]) });
    expect(notesOf(matched)).toEqual([["last", "1 1 2", "1 1 1"]]);
  });

  test("5,000 statements about 5,000 findings are matched without blocking the thread, whatever they name", () => {
    const candidates = Array.from({ length: 5_000 }, (_, index) =>
      finding({ issue: 1n, package: BigInt(index % 5), version: String(index) }),
    );
    const names = Array.from({ length: 1_000 }, (_, index) => `CVE-${index}`);
    const issues = new Map(names.map((name) => [name, [1n]]));
    const named = [null, ...[0, 1, 2, 3, 4].map((id) => ({ identity: `PyPI part-${id}`, version: null }))];
    const statements = Array.from({ length: 5_000 }, (_, index) =>
      statement(`CVE-${index % 1_000}`, named[index % 6] ?? null, "x"),
    );
    const match = () => expect(matchStatements(statements, { candidates, issues }).unmatched).toEqual([]);
    expect(threadMs(match, 50)).toBeLessThan(50);
  });
});
