import { describe, expect, test } from "bun:test";
import { invariants as storedChecks } from "../../src/gateway/metering/verify-store.ts";
import type { Verification } from "../../src/gateway/metering/verify.ts";
import { openEmbeddedHarness } from "../support/counters/embedded.ts";
import { Traces } from "../support/privacy/traces.ts";
import { nothingIsHeld } from "./checks/counters-conserve.ts";
import { countersEqualLedger } from "./checks/counters-equal-ledger.ts";
import type { Evidence, Settled } from "./evidence.ts";
import { brokenLines, checkAll, invariants } from "./invariants.ts";
import { noSecrets } from "./checks/no-secrets.ts";
import { storedInvariants } from "./checks/stored-money.ts";
import { generation } from "./example-events.ts";

const nothing: Evidence = { history: null, delayMsMax: 0, stored: null, settled: null, secrets: null };
const month = "2026-11";

/** Counters and a ledger that agree, with one hold if `isOpen`. */
async function settled({ isOpen }: { isOpen: boolean }): Promise<Settled> {
  await using harness = await openEmbeddedHarness();
  const account = { workspace: "w1", balance: 1_000n, sequence: 3n, months: [{ month, spent: 70n }] };
  const hold = { generation: "gen-1", fingerprint: "f", amount: 5n, key: "k1", month, admittedAt: 1, deadline: 2 };
  await harness.counters.load({ account, holds: isOpen ? [hold] : [], windows: [] });
  const keyMonths = [{ workspace: "w1", key: "k1", month, spent: 70n, version: 1n, sequence: 3n }];
  await harness.counters.resolveMany({ resolve: [], accounts: [], keyMonths });
  return { workspace: "w1", counters: await harness.dump("w1"), account, keyMonths };
}

describe("I-9, counters hold the sum of their holds", () => {
  test("the invariant holds for real counters, and at the end there is no hold", async () => {
    expect(nothingIsHeld([await settled({ isOpen: false })]).broken).toEqual([]);
    const { checks, broken } = nothingIsHeld([await settled({ isOpen: true })]);
    expect(checks).toBeGreaterThan(4);
    expect(broken).toEqual(["w1: 5 is still held, by gen-1"]);
  });

  test("the checker reports a wrong sum, in all or for a month or key", async () => {
    const one = await settled({ isOpen: true });
    const { counters } = one;
    const inAll = { ...counters, account: { ...counters.account, reserved: "6" } };
    expect(nothingIsHeld([{ ...one, counters: inAll }]).broken.join()).toContain("reserved: 6 held, but the holds sum up to 5");
    const ofKey = { ...counters, totals: { ...counters.totals, [`k1:${month}`]: { spent: "70", version: "1", held: "0" } } };
    expect(nothingIsHeld([{ ...one, counters: ofKey }]).broken.join()).toContain(
      `k1:${month}: 0 held, but the holds sum up to 5`,
    );
    expect(nothingIsHeld([{ ...one, counters: { ...counters, deadlines: {} } }]).broken.join()).toContain("gen-1");
  });
});

describe("I-10, counters equal the ledger", () => {
  test("the invariant holds when they agree, and for totals that the counters do not have", async () => {
    const one = await settled({ isOpen: false });
    expect(countersEqualLedger([one])).toEqual({ checks: 3, broken: [] });
    expect(countersEqualLedger([{ ...one, counters: { ...one.counters, ready: false } }]).checks).toBe(0);
    expect(countersEqualLedger([{ ...one, counters: { ...one.counters, totals: {} } }])).toEqual({ checks: 1, broken: [] });
  });

  test("the checker reports another balance, sequence or monthly total", async () => {
    const one = await settled({ isOpen: false });
    const { account, keyMonths } = one;
    const other = [
      { ...account, balance: 999n },
      { ...account, sequence: 4n },
      { ...account, months: [{ month, spent: 71n }] },
    ];
    for (const wrong of other) expect(countersEqualLedger([{ ...one, account: wrong }]).broken).toHaveLength(1);
    const wrongMonths = keyMonths.map((total) => ({ ...total, spent: 0n }));
    expect(countersEqualLedger([{ ...one, keyMonths: wrongMonths }]).broken).toEqual([
      `w1, k1:${month}: counters have 70, the ledger has 0`,
    ]);
  });
});

describe("I-15, secrets are written nowhere", () => {
  test("the invariant holds when no trace contains a secret, and the checker names the trace that does", () => {
    const traces = new Traces();
    const canaries = [{ name: "the key", text: "secret-canary" }];
    expect(noSecrets({ traces, canaries }).checks).toBe(0);
    traces.add("log", "nothing to see");
    expect(noSecrets({ traces, canaries })).toEqual({ checks: 1, broken: [] });
    traces.add("redis", Buffer.from("secret-canary").toString("hex"));
    expect(noSecrets({ traces, canaries }).broken).toEqual(["the key is in redis"]);
  });
});

describe("I-2, I-4, I-8, I-11, I-16, I-17 and I-20, checked by ledger verify", () => {
  const names: string[] = Object.values(storedInvariants).flat();
  const checked = names.map((invariant) => ({ invariant, rows: 2 }));
  const sound: Verification = { ok: true, checked, broken: null };

  test("they contain every check of `ledger verify`", () => {
    expect(names.toSorted()).toEqual(Object.keys(storedChecks).toSorted());
  });

  test.each(Object.entries(storedInvariants))("%s is reported when one of its checks is broken", (id, own) => {
    expect(checkAll({ ...nothing, stored: sound }).map(({ broken }) => broken)).toEqual(
      Object.keys(storedInvariants).map(() => []),
    );
    const broken = { invariant: own[0], detail: "here" };
    const results = checkAll({ ...nothing, stored: { ...sound, ok: false, broken } });
    expect(results.filter((result) => result.broken.length > 0).map((result) => result.id)).toEqual([id]);
  });
});

describe("the list of invariants", () => {
  test("the list has all twenty-three, each with a checker", () => {
    expect(invariants.map(({ id }) => id)).toEqual(Array.from({ length: 23 }, (_, index) => `I-${index + 1}`));
    expect(invariants.every(({ checkers }) => Object.keys(checkers).length > 0)).toBe(true);
  });

  test("checkAll checks what has evidence, and reports what is broken", () => {
    expect(checkAll(nothing)).toEqual([]);
    const results = checkAll({ ...nothing, history: [...generation(1, "gen-1"), ...generation(1, "gen-1")] });
    expect(results.map(({ id }) => id)).toEqual([
      "I-1",
      "I-3",
      "I-5",
      "I-6",
      "I-7",
      "I-8",
      "I-11",
      "I-12",
      "I-13",
      "I-14",
      "I-16",
      "I-17",
      "I-18",
      "I-19",
      "I-20",
      "I-21",
      "I-22",
      "I-23",
    ]);
    expect(brokenLines(results).join("\n")).toContain("I-8 (each call is charged once, and exactly its cost): gen-1");
  });
});
