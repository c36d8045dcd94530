import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Counters } from "../../src/backing/counters.ts";
import type { Settlement } from "../../src/generations/settlement.ts";
import { newGenerationId } from "../../src/kernel/ids.ts";
import { alarmsTotal, type Alarm } from "../../src/kernel/metrics.ts";
import { settlementStore } from "../../src/metering/store.ts";
import { verifyLedger } from "../../src/metering/verify.ts";
import { Control } from "../support/control.ts";
import { databases, type TestDatabase } from "../support/databases.ts";
import { failureOf } from "../support/failure-of.ts";
import { event, rawEvent, TestMetering } from "../support/metering.ts";
import { settlement } from "../support/settlements.ts";

const usd = 1_000_000_000n;

function failing(counters: Counters): Counters {
  return new Proxy(counters, { get: () => () => Promise.reject(new Error("Redis is down")) });
}

/** What a settlement of test/support/settlements.ts costs: 100 tokens of 1,000 and 50 of 2,000 nano-USD. */
const cost = 200_000n;

describe.each(databases)("settlement on $name", ({ name, open }) => {
  let database: TestDatabase;
  let control: Control;
  let number = 0;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  /** A workspace of its own with 1 USD, a key, and metering over it. */
  async function customer() {
    const called = `w${++number}`;
    const workspace = await control.workspace(called, "1");
    const { id: key } = await control.key(called);
    const metering = new TestMetering(database.sql);
    const ended = (fields: Partial<Settlement> = {}): Settlement => settlement({ workspace, key, ...fields });
    return { called, workspace, key, metering, ended };
  }

  async function balance(workspace: string): Promise<bigint> {
    const [row] = await database.sql<{ balance_nano: bigint }[]>`
      SELECT balance_nano FROM credit_accounts WHERE workspace_id = ${workspace}`;
    return row?.balance_nano ?? -1n;
  }

  const chargesOf = async (workspace: string) => [
    ...(await database.sql<{ generation_id: string; outcome: string; cost_nano: bigint; late: boolean }[]>`
      SELECT generation_id, outcome, cost_nano, late FROM charges WHERE workspace_id = ${workspace} ORDER BY generation_id`),
  ];
  const lettersOf = async (id: string) => [
    ...(await database.sql<{ reason: string; payload: Uint8Array }[]>`
      SELECT reason, payload FROM dead_letters WHERE message_id = ${id}`),
  ];
  const verify = async () => expect((await verifyLedger({ sql: database.sql })).broken).toBeNull();
  const alarms = async (alarm: Alarm) =>
    (await alarmsTotal.get()).values.find(({ labels }) => labels.alarm === alarm)?.value ?? 0;

  /** Makes the workspace ready, with this generation open in it. */
  async function hold({ counters }: TestMetering, { workspace, generation, key, month, admittedAt }: Settlement): Promise<void> {
    const open = { generation, fingerprint: "f0", amount: 1_000_000n, key, month, admittedAt, deadline: admittedAt + 1 };
    await counters.load({ account: { workspace, balance: usd, sequence: 1n, months: [] }, holds: [open], windows: [] });
  }

  describe("charges each generation exactly once", () => {
    test("however often it stands in a batch, in a delivery, and in deliveries after it", async () => {
      const { workspace, metering, ended } = await customer();
      const [one, two] = [ended(), ended()];
      await metering.settle([one, two, one], [two, one]);
      await metering.settle([one], [two]);
      await metering.settle([two, one]);
      expect(await balance(workspace)).toBe(usd - 2n * cost);
      expect(await chargesOf(workspace)).toHaveLength(2);
      await verify();
    });

    test("with several writers at once that were all given the same", async () => {
      const customers = [await customer(), await customer(), await customer()];
      const all = customers.flatMap(({ ended }) => Array.from({ length: 40 }, () => ended()));
      const shuffled = (seed: number) => all.toSorted((a, b) => hashOf(a, seed) - hashOf(b, seed));
      const hashOf = ({ generation }: Settlement, seed: number) => Bun.hash.crc32(generation, seed);
      const writers = Array.from({ length: 6 }, (_, seed) => {
        const metering = new TestMetering(database.sql);
        const list = shuffled(seed);
        return Promise.all([metering.settle(list.slice(0, 60)), metering.settle(list.slice(40))]);
      });
      await Promise.all(writers);
      for (const { workspace } of customers) expect(await balance(workspace)).toBe(usd - 40n * cost);
      await verify();
    });

    test("though the counters failed after the ledger had it: the redelivery only pushes and releases", async () => {
      const { workspace, metering, ended } = await customer();
      const once = ended();
      await hold(metering, once);
      const { counters } = metering;
      const given = event([once]);
      metering.counters = failing(counters);
      expect(String(await failureOf(metering.deliver(given)))).toContain("Redis is down");
      expect(metering.confirmed).toEqual([]);
      expect(await balance(workspace)).toBe(usd - cost);
      metering.counters = counters;
      await metering.deliver(given);
      expect(metering.confirmed).toEqual([given.id]);
      expect(await balance(workspace)).toBe(usd - cost);
      expect(await counters.read(workspace, null)).toMatchObject({ account: { balance: usd - cost, reserved: 0n } });
    });

    test("and costs nothing where nothing was used: it is booked, without an entry", async () => {
      const { workspace, metering, ended } = await customer();
      const free = ended({
        usage: { ...ended().usage, promptTokens: 0, completionTokens: 0 },
        status: 502,
        code: "upstream_error",
      });
      await metering.settle([free]);
      expect(await balance(workspace)).toBe(usd);
      expect(await chargesOf(workspace)).toEqual([
        { generation_id: free.generation, outcome: "settled", cost_nano: 0n, late: false },
      ]);
      await verify();
    });
  });

  describe("a generation whose end was not known", () => {
    test.each(["unknown", "expired"] as const)(
      "as %s, is charged once when its end is told late, and flagged",
      async (outcome) => {
        const { workspace, metering, ended } = await customer();
        const truth = ended();
        const lost = {
          ...truth,
          outcome,
          usage: { ...truth.usage, promptTokens: 0, completionTokens: 0 },
          status: 500,
          model: "unknown",
        };
        const [before, lateBefore] = [await alarms(`generation.${outcome}`), await alarms("charge.late")];
        await metering.settle([lost], [lost]);
        expect(await balance(workspace)).toBe(usd);
        expect(await alarms(`generation.${outcome}`)).toBe(before + 1);

        await metering.settle([truth]);
        await metering.settle([truth, lost]);
        expect(await balance(workspace)).toBe(usd - cost);
        expect(await chargesOf(workspace)).toEqual([
          { generation_id: truth.generation, outcome: "settled", cost_nano: cost, late: true },
        ]);
        expect(await alarms("charge.late")).toBe(lateBefore + 1);
        const [row] = await database.sql`SELECT model, status FROM request_log WHERE generation_id = ${truth.generation}`;
        expect(row).toEqual({ model: truth.model, status: 200 });
        await verify();
      },
    );

    test("is not late where both come together, in whatever order", async () => {
      const { workspace, metering, ended } = await customer();
      for (const turned of [false, true]) {
        const truth = ended();
        const both: Settlement[] = [{ ...truth, outcome: "unknown" }, truth];
        await metering.settle(turned ? both.toReversed() : both);
      }
      expect((await chargesOf(workspace)).map(({ outcome, late }) => [outcome, late])).toEqual([
        ["settled", false],
        ["settled", false],
      ]);
    });

    test("is not taken back when it was charged before", async () => {
      const { workspace, metering, ended } = await customer();
      const truth = ended();
      await metering.settle([truth]);
      await metering.settle([{ ...truth, outcome: "expired" }]);
      expect(await balance(workspace)).toBe(usd - cost);
      expect(await chargesOf(workspace)).toMatchObject([{ outcome: "settled", late: false }]);
    });
  });

  describe("what is written with a charge", () => {
    test("totals of the month of admission, by workspace and by key", async () => {
      const { called, workspace, key, metering, ended } = await customer();
      const other = (await control.key(called)).id;
      const november = Date.UTC(2026, 10, 30, 23, 59, 59, 999);
      const settlements = [
        ended({ admittedAt: november }),
        ended({ admittedAt: november + 1 }),
        ended({ admittedAt: november + 1, key: other }),
        ended({ admittedAt: november + 2 }),
      ];
      await metering.settle(settlements);
      expect(
        await database.sql`SELECT month, spent_nano FROM workspace_months WHERE workspace_id = ${workspace} ORDER BY month`,
      ).toEqual(
        expect.arrayContaining([
          { month: "2026-11", spent_nano: cost },
          { month: "2026-12", spent_nano: 3n * cost },
        ]),
      );
      const keys = await database.sql`
        SELECT key_id, month, spent_nano, version FROM key_months WHERE key_id = ANY(${[key, other]}::text[]) ORDER BY month, spent_nano`;
      expect([...keys]).toEqual([
        { key_id: key, month: "2026-11", spent_nano: cost, version: 1n },
        { key_id: other, month: "2026-12", spent_nano: cost, version: 1n },
        { key_id: key, month: "2026-12", spent_nano: 2n * cost, version: 1n },
      ]);
      await verify();
    });

    test("one row of the log, with all that was told", async () => {
      const { workspace, key, metering, ended } = await customer();
      const usage = { promptTokens: 70, cachedTokens: 30, cacheWriteTokens: 5, completionTokens: 9, reasoningTokens: 4 };
      const told = ended({
        usage,
        usageEstimated: true,
        status: 504,
        code: "upstream_timeout",
        streamed: true,
        firstTokenMs: null,
      });
      await metering.settle([told], [told]);
      const rows = await database.sql`SELECT * FROM request_log WHERE generation_id = ${told.generation}`;
      expect([...rows]).toEqual([
        {
          generation_id: told.generation,
          at: new Date(told.admittedAt),
          request_id: told.request,
          workspace_id: workspace,
          key_id: key,
          model: told.model,
          provider: told.provider,
          status: 504,
          code: "upstream_timeout",
          streamed: true,
          prompt_tokens: 70n,
          cached_tokens: 30n,
          completion_tokens: 9n,
          reserved_nano: 1_000_000n,
          cost_nano: 88_000n,
          usage_estimated: true,
          first_token_ms: null,
          duration_ms: 34,
        },
      ]);
    });

    test("costs are rounded half up to the nano-dollar, once for the generation", async () => {
      const { workspace, metering, ended } = await customer();
      const of = (input: string, promptTokens: number) =>
        ended({
          generation: newGenerationId(Date.UTC(2026, 10, 20)),
          prices: { input, output: "0", cacheRead: "0", cacheWrite: "0" },
          usage: { ...ended().usage, promptTokens },
        });
      const list = [of("499", 1), of("500", 1), of("1499", 1), of("1", 1_500), of("37500", 1)];
      await metering.settle(list);
      const costs = new Map((await chargesOf(workspace)).map((row) => [row.generation_id, row.cost_nano]));
      expect(list.map(({ generation }) => costs.get(generation))).toEqual([0n, 1n, 1n, 2n, 38n]);
      await verify();
    });

    test("when a key was last used, by the time of admission and never backwards", async () => {
      const { key, metering, ended } = await customer();
      const lastUsed = async () =>
        (await database.sql<{ at: Date | null }[]>`SELECT last_used_at AS at FROM api_keys WHERE id = ${key}`)[0]?.at;
      expect(await lastUsed()).toBeNull();
      const noon = Date.UTC(2026, 10, 20, 12);
      await metering.settle([ended({ admittedAt: noon }), ended({ admittedAt: noon + 5_000 })]);
      expect(await lastUsed()).toEqual(new Date(noon + 5_000));
      await metering.settle([ended({ admittedAt: noon + 2_000 })]);
      expect(await lastUsed()).toEqual(new Date(noon + 5_000));
      await metering.settle([ended({ admittedAt: noon + 7_000 })]);
      expect(await lastUsed()).toEqual(new Date(noon + 7_000));
    });

    test("an alarm where a provider counted more than was reserved, and all of it is charged", async () => {
      const { workspace, metering, ended } = await customer();
      const before = await alarms("charge.above_reservation");
      await metering.settle([ended({ reserved: (cost - 1n).toString() }), ended({ reserved: cost.toString() })]);
      expect(await alarms("charge.above_reservation")).toBe(before + 1);
      expect(await balance(workspace)).toBe(usd - 2n * cost);
    });
  });

  describe("what cannot be booked", () => {
    test("for a workspace that does not exist is put aside whole, and all else is charged and confirmed", async () => {
      const { workspace, metering, ended } = await customer();
      const homeless = settlement({ workspace: "ws-nowhere", key: "key-nowhere" });
      const given = event([ended(), homeless, ended()]);
      const before = await alarms("settlement.dead");
      await metering.deliver(given);
      expect(await balance(workspace)).toBe(usd - 2n * cost);
      expect(metering.confirmed).toEqual([given.id]);
      const [letter] = await lettersOf(homeless.generation);
      expect(letter?.reason).toBe("There is no such workspace");
      expect(JSON.parse(Buffer.from(letter?.payload ?? []).toString())).toEqual(homeless);
      expect(await alarms("settlement.dead")).toBe(before + 1);
    });

    test.each([
      ["a duration beyond what is stored", { durationMs: 2 ** 31 }],
      ["a zero byte in a name", { model: "a\u0000b" }],
      ["half of a surrogate pair", { model: "a\ud800b" }],
      ["more reserved than can be counted", { reserved: "9999999999999999999" }],
      [
        "a cost beyond what can be counted",
        {
          usage: { ...settlement({ workspace: "", key: "" }).usage, promptTokens: Number.MAX_SAFE_INTEGER },
          prices: { input: "9999999999999", output: "0", cacheRead: "0", cacheWrite: "0" },
        },
      ],
      ["a key that no index takes", { key: Array.from({ length: 400 }, () => newGenerationId(0)).join("") }],
    ])("because of %s is put aside alone, and all else is charged", async (_, fields: Partial<Settlement>) => {
      const { workspace, metering, ended } = await customer();
      const bad = ended(fields);
      const given = [event([ended(), bad]), event([ended()])];
      await metering.deliver(...given);
      expect(await balance(workspace)).toBe(usd - 2n * cost);
      expect(await lettersOf(bad.generation)).toHaveLength(1);
      expect(metering.confirmed).toEqual(given.map(({ id }) => id));
      await metering.deliver(event([ended({ ...bad, generation: newGenerationId(0) })]), event([ended()]));
      expect(await balance(workspace)).toBe(usd - 3n * cost);
      await verify();
    });

    test("because it is no settlement is put aside with its reason", async () => {
      const { workspace, metering, ended } = await customer();
      const good = event([ended()]);
      const odd = rawEvent(JSON.stringify({ batch: "odd", settlements: [{ ...ended(), generation: "gen-1" }, ended()] }));
      const unreadable = [rawEvent(""), rawEvent("\u0000"), rawEvent("{"), rawEvent('{"batch":5}')];
      await metering.deliver(...unreadable, odd, good);
      expect(await balance(workspace)).toBe(usd - 2n * cost);
      expect((await lettersOf(odd.id))[0]?.reason).toContain("/generation");
      for (const { id, payload } of unreadable) {
        const [letter] = await lettersOf(id);
        expect(Buffer.from(letter?.payload ?? [1])).toEqual(Buffer.from(payload));
      }
      expect(metering.confirmed).toEqual(["odd", good.id]);
    });

    test("in passing, as while a partition is attached, is tried once more before it is put aside", async () => {
      const { workspace, metering, ended } = await customer();
      const { store } = metering;
      let calls = 0;
      metering.store = {
        settle: (charges) =>
          ++calls === 1
            ? Promise.reject(Object.assign(new Error("violates partition"), { code: "23514" }))
            : store.settle(charges),
      };
      const once = ended();
      await metering.settle([once]);
      expect(await balance(workspace)).toBe(usd - cost);
      expect(await lettersOf(once.generation)).toEqual([]);
    });

    test("because the database is gone is not put aside: it comes again", async () => {
      const { workspace, metering, ended } = await customer();
      const { store } = metering;
      metering.store = { settle: () => Promise.reject(Object.assign(new Error("terminating connection"), { code: "57P01" })) };
      const given = event([ended()]);
      expect(String(await failureOf(metering.deliver(given)))).toContain("terminating connection");
      expect(metering.confirmed).toEqual([]);
      metering.store = store;
      await metering.deliver(given);
      expect(await balance(workspace)).toBe(usd - cost);
    });
  });

  test("tells the counters the head of the chain and the totals, and releases the holds", async () => {
    const { workspace, key, metering, ended } = await customer();
    const { counters } = metering;
    const one = ended();
    await hold(metering, one);
    await metering.settle([one, ended()]);
    expect(await counters.read(workspace, key)).toMatchObject({
      account: { balance: usd - 2n * cost, reserved: 0n, sequence: 3n },
      keySpent: 2n * cost,
    });
    expect(await counters.holds(workspace)).toEqual([]);
  });

  test("waits for nobody who is editing a key at that moment", async () => {
    // One connection cannot wait for itself: there is no such moment on the embedded database.
    if (name === "the embedded database") return;
    const { workspace, key, metering, ended } = await customer();
    await database.sql.begin(async (tx) => {
      await tx`SELECT 1 FROM api_keys WHERE id = ${key} FOR UPDATE`;
      await metering.settle([ended()]);
    });
    expect(await balance(workspace)).toBe(usd - cost);
  });

  test("does nothing with nothing", async () => {
    const metering = new TestMetering(database.sql);
    await metering.deliver();
    await metering.deliver(rawEvent('{"batch":"empty","settlements":[]}'));
    expect(metering.confirmed).toEqual(["empty"]);
    expect(await settlementStore(database.sql).settle([])).toMatchObject({ accounts: [], keyMonths: [] });
  });
});
