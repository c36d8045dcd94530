import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { failureOf } from "../../support/failure-of.ts";
import { event, rawEvent } from "../../support/gateway/metering.ts";
import { settlement } from "../../support/gateway/settlements.ts";
import { alarmsRaised, cost, StoredMoney, usd } from "../../support/gateway/stored-money.ts";

describe.each(databases)("a settlement that cannot be booked on $name", ({ open }) => {
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

  test("a payload that is not a settlement becomes a dead letter with its reason", async () => {
    const { workspace, metering, ended } = await money.customer();
    const good = event([ended()]);
    const odd = rawEvent(JSON.stringify({ batch: "odd", settlements: [{ ...ended(), generation: "gen-1" }, ended()] }));
    const unreadable = [rawEvent(""), rawEvent("\u0000"), rawEvent("{"), rawEvent('{"batch":5}')];
    await metering.deliver(...unreadable, odd, good);
    expect(await money.balance(workspace)).toBe(usd - 2n * cost);
    expect((await money.deadLetters(odd.id))[0]?.reason).toContain("/generation");
    for (const { id, payload } of unreadable) {
      const [letter] = await money.deadLetters(id);
      expect(Buffer.from(letter?.payload ?? [1])).toEqual(Buffer.from(payload));
    }
    expect(metering.confirmed).toEqual(["odd", good.id]);
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
});
