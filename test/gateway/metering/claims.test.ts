import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { selectClaims } from "../../../src/gateway/credit/store.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { idempotencyMs } from "../../../src/gateway/limits.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { alarmsRaised, cost, StoredMoney, usd } from "../../support/gateway/stored-money.ts";

const noon = Date.UTC(2026, 10, 20, 12);
const free = { usage: { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 } };
const noPrices = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };
const failed = { ...free, status: 502, code: "upstream_error" as const };

describe.each(databases)("charges of requests with one idempotency key on $name", ({ open }) => {
  let database: TestDatabase;
  let money: StoredMoney;
  let claims = 0;
  beforeAll(async () => {
    database = await open();
    money = new StoredMoney(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  /** A customer, and the ends of generations that all have one claim. */
  async function repeating() {
    const customer = await money.customer();
    const claim = { id: `claim-${++claims}`, body: "body" };
    const ended = (fields: Partial<Settlement> = {}): Settlement => {
      const { admittedAt = noon } = fields;
      return customer.ended({ generation: newGenerationId(admittedAt), admittedAt, claim, ...fields });
    };
    const costs = async (...ends: Settlement[]): Promise<unknown[]> => {
      const rows = new Map((await money.charges(customer.workspace)).map((row) => [row.generation_id, row.cost_nano]));
      return ends.map(({ generation }) => rows.get(generation));
    };
    const spent = async () =>
      (await selectClaims({ claims: [claim.id], since: 0, skewMs: 0 }, money.sql)).map((one) => one.generation);
    return { ...customer, claim, ended, costs, spent };
  }

  test("the first is charged, others cost nothing, in one transaction and later, and the service bears them", async () => {
    const { workspace, metering, ended, costs } = await repeating();
    const before = [await alarmsRaised("charge.repeated"), await alarmsRaised("charge.above_reservation")];
    const ends = [ended(), ended({ admittedAt: noon + 1 }), ended({ admittedAt: noon + 2 })];
    await metering.settle(ends.slice(0, 2));
    await metering.settle(ends.slice(2), ends.slice(0, 1));
    expect(await costs(...ends)).toEqual([cost, 0n, 0n]);
    expect(await money.balance(workspace)).toBe(usd - cost);
    const [row] = await money.sql<{ excess: bigint }[]>`
      SELECT sum(excess_nano)::bigint AS excess FROM generations WHERE workspace_id = ${workspace}`;
    expect(row?.excess).toBe(2n * cost);
    expect([await alarmsRaised("charge.repeated"), await alarmsRaised("charge.above_reservation")]).toEqual([
      (before[0] ?? 0) + 2,
      before[1] ?? 0,
    ]);
    await money.expectSound();
  });

  test("a settlement that comes a day late finds the charge of its key, whichever was admitted first", async () => {
    const { metering, ended, costs } = await repeating();
    const late = ended({ admittedAt: noon - idempotencyMs + 1 });
    const first = ended();
    await metering.settle([first]);
    await metering.settle([late]);
    expect(await costs(first, late)).toEqual([cost, 0n]);
  });

  test("a day later the key buys again", async () => {
    const { metering, ended, costs } = await repeating();
    const ends = [ended(), ended({ admittedAt: noon + idempotencyMs - 1 }), ended({ admittedAt: noon + idempotencyMs })];
    for (const end of ends) await metering.settle([end]);
    expect(await costs(...ends)).toEqual([cost, 0n, cost]);
    await money.expectSound();
  });

  test("a true charge that replaces an expired end costs nothing where the key was spent meanwhile", async () => {
    const { metering, ended, costs } = await repeating();
    const lost = ended();
    const { claim: _unknown, ...expired } = {
      ...lost,
      ...free,
      outcome: "expired" as const,
      status: 500,
      code: "internal_error" as const,
    };
    await metering.settle([expired]);
    const second = ended({ admittedAt: noon + 1 });
    await metering.settle([second]);
    await metering.settle([lost]);
    expect(await costs(lost, second)).toEqual([0n, cost]);
    await money.expectSound();
  });

  test.each([
    ["an answer that costs nothing", free, true],
    ["a failure that costs nothing", failed, false],
    ["a failure that was charged", { status: 504, code: "upstream_timeout" as const }, true],
    ["an answer that broke off before its first part", { ...free, code: "upstream_error" as const }, false],
    ["a part of a free model's answer", { prices: noPrices, code: "upstream_error" as const }, true],
    ["a free model's answer whose client left", { prices: noPrices, status: 499, code: "client_gone" as const }, true],
    ["a failure that an own key's provider bills", { ...failed, ownKey: { id: "okey-1", listCost: "5" } }, true],
    ["an end without an answer", { ...free, outcome: "unknown" as const, status: 500, code: "internal_error" as const }, false],
  ])("%s: the key is spent: %p", async (_name, fields, isSpent) => {
    const { metering, ended, spent, costs } = await repeating();
    const first = ended(fields);
    await metering.settle([first]);
    expect(await spent()).toEqual(isSpent ? [first.generation] : []);
    const second = ended({ admittedAt: noon + 1 });
    await metering.settle([second]);
    expect(await costs(second)).toEqual([isSpent ? 0n : cost]);
  });

  test("a part of an answer that the balance could not pay spends the key", async () => {
    const { metering, ended, spent, costs, workspace } = await repeating();
    const { claim: _none, ...dear } = ended({
      usage: { ...free.usage, promptTokens: 1_000_000 },
      reserved: String(usd),
    });
    await metering.settle([dear]);
    expect(await money.balance(workspace)).toBe(0n);
    const broken = ended({ admittedAt: noon + 1, code: "upstream_error" });
    await metering.settle([broken]);
    expect(await costs(broken)).toEqual([0n]);
    expect(await spent()).toEqual([broken.generation]);
  });

  test.each([
    ["left nothing gives its claim away at once", failed, "admitted" as const],
    ["was charged keeps it for its minute", {}, "claimed" as const],
    ["left a part that cost nothing keeps it", { prices: noPrices, code: "upstream_error" as const }, "claimed" as const],
  ])("a generation that %s", async (_name, fields, outcome) => {
    const { metering, ended, workspace, key, claim } = await repeating();
    const { counters, clock } = metering;
    clock.advance(noon - clock.now());
    const first = ended(fields);
    const { generation, month } = first;
    const open = { generation, fingerprint: "f0", amount: 1_000_000n, key, month, admittedAt: noon, deadline: noon + 1 };
    const account = { workspace, balance: usd, sequence: 1n, months: [{ month, spent: 0n }] };
    await counters.load({ account, holds: [open], windows: [], claims: [{ claim: claim.id, generation }] });
    const limits = { requestsPerMinute: 60, keyLimit: null, workspaceLimit: null, modelRefusal: null, deadline: null };
    const second = {
      ...limits,
      generation: newGenerationId(noon),
      workspace,
      key,
      fingerprint: "f1",
      amount: 1n,
      claim: claim.id,
    };
    const ask = async () => (await counters.admitMany({ month, requests: [second] })).replies[0]?.outcome;
    expect(await ask()).toBe("claimed");
    await metering.settle([first]);
    expect(await ask()).toBe(outcome);
  });

  test("ledger verify finds a key that was charged twice", async () => {
    const { metering, ended, workspace, claim } = await repeating();
    const { claim: _none, ...other } = ended({ admittedAt: noon + 1 });
    await metering.settle([ended()]);
    await metering.settle([{ ...other, claim: { ...claim, id: `${claim.id}-other` } }]);
    await money.expectSound();
    await money.sql`ALTER TABLE generations DISABLE TRIGGER charges_are_final`;
    await money.sql`UPDATE generations SET claim = ${claim.id} WHERE workspace_id = ${workspace}`;
    const { broken } = await verifyLedger({ sql: money.sql });
    await money.sql`UPDATE generations SET claim = NULL WHERE workspace_id = ${workspace}`;
    await money.sql`ALTER TABLE generations ENABLE TRIGGER charges_are_final`;
    expect(broken).toMatchObject({ invariant: "one_charge_a_key", detail: expect.stringContaining("are both charged") });
  });
});
