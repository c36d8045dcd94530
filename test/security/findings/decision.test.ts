/** What a call makes of a decision: fields that only some statuses have, and findings that are gone. */
import { describe, expect, test } from "bun:test";
import { decisionAfter, undecided, type DecisionFields, type StoredDecision } from "../../../src/security/findings/decision.ts";

const finding = { id: "fnd_1", status: "open", falsePositive: false, present: true } as const;
const none: StoredDecision = undecided(finding);
const after = (decided: DecisionFields, before: StoredDecision = none) =>
  decisionAfter({ before, finding, decided, today: "2026-11-29" });

const unreachable = after({ status: "not_affected", justification: "code_not_reachable", note: "Never called" });
const accepted = after({ status: "ignored", acceptedUntil: "2026-12-31", owner: "ann@w" });

describe("a decision", () => {
  test("keeps what a call leaves out", () => {
    expect(after({ note: "Dead code" }, unreachable)).toEqual({ ...unreachable, note: "Dead code" });
    expect(after({ falsePositive: true }, accepted)).toEqual({ ...accepted, falsePositive: true });
  });

  test("loses its justification and its last day with another status, and keeps owner and note", () => {
    expect(after({ status: "open" }, unreachable)).toEqual({ ...none, note: "Never called" });
    expect(after({ status: "not_affected" }, accepted)).toEqual({ ...none, status: "not_affected", owner: "ann@w" });
    expect(after({ status: "ignored" }, unreachable)).toMatchObject({ justification: null, acceptedUntil: null });
  });

  test("null removes a justification, a last day and an owner", () => {
    expect(after({ justification: null }, unreachable).justification).toBeNull();
    expect(after({ acceptedUntil: null, owner: null }, accepted)).toMatchObject({ acceptedUntil: null, owner: null });
  });

  test("a risk may be accepted until the end of today", () => {
    expect(after({ status: "ignored", acceptedUntil: "2026-11-29" }).acceptedUntil).toBe("2026-11-29");
  });

  test.each<[DecisionFields, StoredDecision, string]>([
    [{ justification: "code_not_present" }, none, 'only the status "not_affected" has one'],
    [{ status: "ignored", justification: "code_not_present" }, unreachable, 'only the status "not_affected" has one'],
    [{ acceptedUntil: "2026-12-31" }, none, 'only the status "ignored" has a last day'],
    [{ status: "ignored", acceptedUntil: "2026-11-28" }, none, "the day is over (today is 2026-11-29 in UTC)"],
    [{ status: "ignored", acceptedUntil: "2027-02-29" }, none, "there is no such day"],
    [{ status: "ignored", acceptedUntil: "2026-13-01" }, none, "there is no such day"],
  ])("%j is refused", (decided, before, message) => {
    expect(() => after(decided, before)).toThrow(message);
  });
});
