/** The transitions of findings: each state with each result of a scan, as src/security/findings/transitions.ts describes them. */
import { describe, expect, test } from "bun:test";
import { goneOutcome, transitionsOf, type Decision, type FindingState } from "../../../src/security/findings/transitions.ts";

const there: FindingState = { status: "open", falsePositive: false, present: true };
const gone: FindingState = { status: "resolved", falsePositive: false, present: false };
const decision = (status: Decision["status"], falsePositive = false): Decision => ({ status, falsePositive });

describe("a finding that a scan finds", () => {
  test.each<[string, FindingState | null, Decision | null, string, string]>([
    ["for the first time", null, null, "open", "found status"],
    ["in a new version of an ignored issue", null, decision("ignored"), "ignored", "found status"],
    ["in a new version of an issue in progress", null, decision("in_progress"), "in_progress", "found status"],
    ["in a new version of a false positive", null, decision("open", true), "open, false positive", "found status false_positive"],
    ["in a new version of a resolved issue", null, decision("resolved"), "open", "found status"],
    ["as before", there, null, "open", ""],
    ["as before, ignored", { ...there, status: "ignored" }, decision("ignored"), "ignored", ""],
    ["as before, resolved by a person", { ...there, status: "resolved" }, decision("resolved"), "resolved", ""],
    ["as before, with a decision that followed another issue", there, decision("ignored"), "ignored", "decision_followed status"],
    ["as before, without its decision", { ...there, status: "ignored" }, null, "ignored", ""],
    ["again", gone, null, "open", "returned status present"],
    ["again, ignored", gone, decision("ignored"), "ignored", "returned status present"],
    ["again, ignored while it was gone", { ...gone, status: "ignored" }, decision("ignored"), "ignored", "returned present"],
    ["again, in progress", gone, decision("in_progress"), "in_progress", "returned status present"],
    ["again, resolved by a person", gone, decision("resolved"), "open", "returned status present"],
    [
      "again, a false positive",
      { ...gone, falsePositive: true },
      decision("open", true),
      "open, false positive",
      "returned status present",
    ],
  ])("%s", (_what, standing, decided, becomes, event) => {
    const { outcomes, reopens } = transitionsOf({ versions: new Map([["1.0.0", standing]]), decision: decided });
    const outcome = outcomes.get("1.0.0");
    expect(`${outcome?.status}${outcome?.falsePositive ? ", false positive" : ""}`).toBe(becomes);
    const fields = Object.keys(outcome?.changes ?? {});
    expect(fields.length === 0 ? "" : `${outcome?.cause} ${fields.join(" ")}`).toBe(event);
    expect(reopens).toBe(decided?.status === "resolved" && standing?.present !== true);
  });

  test("in a second version reopens a resolved issue in the first version too", () => {
    const versions = new Map([
      ["1.0.0", { ...there, status: "resolved" as const }],
      ["1.1.0", null],
    ]);
    const { outcomes, reopens } = transitionsOf({ versions, decision: decision("resolved") });
    expect([reopens, ...outcomes.values().map(({ status, cause }) => `${status} ${cause}`)]).toEqual([
      true,
      "open decision_followed",
      "open found",
    ]);
  });
});

describe("a finding that a scan no longer finds", () => {
  test.each<[FindingState, string[]]>([
    [there, ["status", "present"]],
    [{ ...there, status: "in_progress" }, ["status", "present"]],
    [{ ...there, status: "ignored" }, ["status", "present"]],
    [{ ...there, status: "resolved" }, ["present"]],
    [{ ...there, falsePositive: true }, ["status", "present"]],
  ])("%j is resolved", (standing, fields) => {
    const outcome = goneOutcome(standing, "component_gone");
    expect([outcome.status, outcome.falsePositive]).toEqual(["resolved", standing.falsePositive]);
    expect(Object.keys(outcome.changes)).toEqual(fields);
  });
});
