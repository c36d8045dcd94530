import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { modelLabelsMax } from "../../../src/gateway/limits.ts";
import { chargeOf } from "../../../src/gateway/metering/settle.ts";
import { CreditLeft } from "../../../src/gateway/metering/maintenance.ts";
import { reportCharges } from "../../../src/gateway/metering/worker.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { registry } from "../../../src/kernel/metrics.ts";
import { ManualClock } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { event, rawEvent } from "../../support/gateway/metering.ts";
import { settlement } from "../../support/gateway/settlements.ts";
import { alarmsRaised, cost, StoredMoney, usd } from "../../support/gateway/stored-money.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(databases)("a settlement that cannot be booked on $name", ({ open, runsAll }) => {
  let database: TestDatabase;
  let money: StoredMoney;
  beforeAll(async () => {
    database = await open();
    money = new StoredMoney(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  test("a settlement of an unknown workspace becomes a dead letter, and the others are charged and confirmed", async () => {
    const { workspace, metering, ended } = await money.customer();
    const unknown = settlement({ workspace: "ws-unknown", key: "key-unknown" });
    const given = event([ended(), unknown, ended()]);
    const before = await alarmsRaised("settlement.dead");
    await metering.deliver(given);
    expect(await money.balance(workspace)).toBe(usd - 2n * cost);
    expect(metering.confirmed).toEqual([given.id]);
    const [letter] = await money.deadLetters(unknown.generation);
    expect(letter?.reason).toBe("There is no such workspace");
    expect(JSON.parse(Buffer.from(letter?.payload ?? []).toString())).toEqual(unknown);
    expect(await alarmsRaised("settlement.dead")).toBe(before + 1);
  });

  test.each([
    ["a duration beyond the column", { durationMs: 2 ** 31 }],
    ["a zero byte in a name", { model: "a\u0000b" }],
    ["half of a surrogate pair", { model: "a\ud800b" }],
    ["a reservation beyond the column", { reserved: "9999999999999999999" }],
    ["a key too long for an index", { key: Array.from({ length: 400 }, () => newGenerationId(0)).join("") }],
  ])("only a settlement with %s becomes a dead letter, and the others are charged", async (_, fields: Partial<Settlement>) => {
    const { workspace, metering, ended } = await money.customer();
    const invalid = ended(fields);
    const given = [event([ended(), invalid]), event([ended()])];
    await metering.deliver(...given);
    expect(await money.balance(workspace)).toBe(usd - 2n * cost);
    expect(await money.deadLetters(invalid.generation)).toHaveLength(1);
    expect(metering.confirmed).toEqual(given.map(({ id }) => id));
    await metering.deliver(event([ended({ ...invalid, generation: newGenerationId(0) })]), event([ended()]));
    expect(await money.balance(workspace)).toBe(usd - 3n * cost);
    await money.expectSound();
  });

  test("a payload that is not a settlement becomes a dead letter with its reason", async () => {
    const { workspace, metering, ended } = await money.customer();
    const good = event([ended()]);
    const odd = event([{ ...ended(), generation: "gen-1" }, ended()]);
    const unreadable = [rawEvent(""), rawEvent("\u0000"), rawEvent("{"), rawEvent('{"batch":5}')];
    await metering.deliver(...unreadable, odd, good);
    expect(await money.balance(workspace)).toBe(usd - 2n * cost);
    expect((await money.deadLetters(odd.id))[0]?.reason).toContain("/generation");
    for (const { id, payload } of unreadable) {
      const [letter] = await money.deadLetters(id);
      expect(Buffer.from(letter?.payload ?? [1])).toEqual(Buffer.from(payload));
    }
    expect(metering.confirmed).toEqual([odd.id, good.id]);
  });

  test("a settlement refused for a moment, as while a partition is attached, is tried once more", async () => {
    const { workspace, metering, ended } = await money.customer();
    const { store } = metering;
    let calls = 0;
    metering.store = {
      settle: (charges) =>
        ++calls === 1 ? Promise.reject(Object.assign(new Error("violates partition"), { code: "23514" })) : store.settle(charges),
    };
    const once = ended();
    await metering.settle([once]);
    expect(await money.balance(workspace)).toBe(usd - cost);
    expect(await money.deadLetters(once.generation)).toEqual([]);
  });

  test("a settlement that fails because the database is gone is delivered again", async () => {
    const { workspace, metering, ended } = await money.customer();
    const { store } = metering;
    metering.store = { settle: () => Promise.reject(Object.assign(new Error("terminating connection"), { code: "57P01" })) };
    const given = event([ended()]);
    expect(String(await failureOf(metering.deliver(given)))).toContain("terminating connection");
    expect(metering.confirmed).toEqual([]);
    metering.store = store;
    await metering.deliver(given);
    expect(await money.balance(workspace)).toBe(usd - cost);
  });

  if (!runsAll) return;

  test("an invalid settlement among a thousand costs some transactions, not a thousand", async () => {
    const { workspace, metering, ended } = await money.customer();
    let transactions = 0;
    const { store } = metering;
    metering.store = { settle: (charges) => (transactions++, store.settle(charges)) };
    const invalid = ended({ durationMs: 2 ** 31 });
    await metering.settle([
      ...Array.from({ length: 500 }, () => ended()),
      invalid,
      ...Array.from({ length: 499 }, () => ended()),
    ]);
    expect(await money.balance(workspace)).toBe(usd - 999n * cost);
    expect(await money.deadLetters(invalid.generation)).toHaveLength(1);
    expect(transactions).toBeLessThan(25);
    await money.expectSound();
  });
});

/** What a transaction booked, as graphs show it. */

const clock = new ManualClock();

function report(settlements: Settlement[], fresh = settlements): void {
  const charges = settlements.map(chargeOf);
  const booked = new Map(fresh.map((one) => [one.generation, chargeOf(one)]));
  const parts = { fresh: booked, refused: new Set<string>(), late: new Set<string>(), accounts: [], keyMonths: [] };
  reportCharges({ charges, booked: parts }, { clock, log: silentLog });
}

async function shown(series: string): Promise<number> {
  const line = (await registry.metrics()).split("\n").find((text) => text.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? 0);
}

const customer = { workspace: "ws-a", key: "key-a", provider: "reported" };
const usage = { promptTokens: 100, cachedTokens: 30, cacheWriteTokens: 20, completionTokens: 50, reasoningTokens: 10 };

test("tokens are counted by kind, each once, and a settlement that was booked before is not counted again", async () => {
  const [one, again] = [0, 1].map(() => settlement({ ...customer, model: "reported/tokens", usage }));
  if (!one || !again) throw new Error("There are two settlements");
  report([one, again], [one]);
  const kinds = ["prompt", "cached", "cache_write", "completion", "reasoning"];
  const counts = await Promise.all(
    kinds.map((kind) => shown(`weir_tokens_total{provider="reported",model="reported/tokens",kind="${kind}"}`)),
  );
  expect(counts).toEqual([50, 30, 20, 40, 10]);
});

test("the delay of a transaction is that of the answer that ended first", async () => {
  const before = await shown("weir_settlement_delay_seconds_sum");
  const admittedAt = clock.now() - 10_000;
  report([4_000, 7_000].map((durationMs) => settlement({ ...customer, admittedAt, durationMs })));
  expect((await shown("weir_settlement_delay_seconds_sum")) - before).toBeCloseTo(6, 5);
});

test("metrics name a bounded number of models, and count all others as one", async () => {
  for (let model = 0; model < modelLabelsMax + 2; model++) report([settlement({ ...customer, model: `many/${model}` })]);
  const named = (await registry.metrics()).matchAll(/^weir_charged_usd_total\{.*model="([^"]*)"/gm);
  expect(new Set([...named].map(([, model]) => model)).size).toBe(modelLabelsMax + 1);
  expect(await shown('weir_tokens_total{provider="reported",model="other",kind="prompt"}')).toBeGreaterThanOrEqual(200);
});

test("workspaces are counted by the credit that they have left, and debts are no credit", () => {
  const left = new CreditLeft();
  for (const balance of [-1n, 0n, 1n, usd - 1n, usd, 10n * usd - 1n, 10n * usd]) left.add(balance);
  expect(left.workspaces).toEqual({ "below 0": 1, "0": 1, "below 1": 2, "below 10": 2, "10 or more": 1 });
  expect(left.total).toBe(22n * usd - 1n);
});
