/** Refused calls on their way from a gateway's memory to their rows: what a flood costs, what a death loses, what is forgotten. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import pino from "pino";
import type { Database } from "../../../src/backing/backing.ts";
import * as limits from "../../../src/gateway/refusals/limits.ts";
import { forgetRefusals, RefusedCalls, type RefusedCall } from "../../../src/gateway/refusals/refused-calls.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { ManualClock } from "../../support/clock.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";

const noon = Date.UTC(2026, 10, 20, 12);
const minute = noon / 60_000;

function call(parts: Partial<RefusedCall> = {}): RefusedCall {
  return {
    workspace: "ws-1",
    key: "key-1",
    endpoint: "chat",
    code: "rate_limited",
    status: 429,
    model: null,
    message: "Too many requests",
    param: null,
    retryAfterMs: 1_500,
    ...parts,
  };
}

describe.each(databases)("refused calls on $name", ({ open }) => {
  let database: TestDatabase;
  let clock: ManualClock;
  beforeEach(async () => {
    await database?.[Symbol.asyncDispose]();
    database = await open();
    clock = new ManualClock(noon);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const gateway = (sql: Database = database.sql, log = silentLog): RefusedCalls => new RefusedCalls({ sql, clock, log });
  const counts = async () =>
    (
      await database.sql<{ row: string; calls: bigint }[]>`
        SELECT concat_ws(' ', workspace_id, span, start - ${minute}, key_id, code) AS row, calls FROM refused_calls
        ORDER BY workspace_id, span, start, key_id, code`
    ).map(({ row, calls }) => `${row}: ${calls}`);
  const kept = (workspace = "ws-1") =>
    database.sql<{ message: string; key_id: string }[]>`
      SELECT * FROM refused_requests WHERE workspace_id = ${workspace} ORDER BY id`;

  test("a flood of one key costs one write of one count and its newest 200 calls, however long it is", async () => {
    const refused = gateway();
    for (let nth = 0; nth < 20_000; nth++) refused.note(call({ message: `nth ${nth}` }));
    expect([refused.waiting, clock.pending]).toEqual([{ counts: 2, calls: limits.refusedKeptMax }, 1]);
    await refused.flushed(10_000);
    expect([refused.waiting, clock.pending]).toEqual([{ counts: 0, calls: 0 }, 0]);
    expect(await counts()).toEqual(["ws-1 1 0 key-1 rate_limited: 20000", "ws-1 1440 -720 key-1 rate_limited: 20000"]);
    const newest = Array.from({ length: 200 }, (_, nth) => `nth ${19_800 + nth}`);
    expect((await kept()).map(({ message }) => message).toSorted()).toEqual(newest);
  });

  test("a flood over many workspaces, keys and wrong keys stays within its bounds, and no call is uncounted", async () => {
    const refused = gateway();
    const calls = 2 * limits.refusedCountsWaitingMax;
    for (let nth = 0; nth < calls; nth++) refused.note(call({ workspace: `ws-${nth % 50}`, key: `key-${nth}` }));
    for (let nth = 0; nth < 100; nth++) refused.note(call({ workspace: null, key: null, code: "invalid_api_key" }));
    const { counts: sums, calls: rows } = refused.waiting;
    expect([sums <= limits.refusedCountsWaitingMax + limits.refusedSumsWaitingMax, rows]).toEqual([
      true,
      limits.refusedWaitingMax,
    ]);
    await refused.flushed(30_000);
    const sumsBySpan = await database.sql<{ calls: bigint; keyless: bigint }[]>`
      SELECT sum(calls)::bigint AS calls, sum(calls) FILTER (WHERE code = 'invalid_api_key')::bigint AS keyless
      FROM refused_calls GROUP BY span`;
    const sum = { calls: BigInt(calls + 100), keyless: 100n };
    expect([...sumsBySpan]).toEqual([sum, sum]);
  });

  test("a workspace of many keys makes 51 rows a minute, and its days are exact by key", async () => {
    const refused = gateway();
    for (let nth = 0; nth < 600; nth++) refused.note(call({ key: `key-${nth % 300}` }));
    await refused.flushed(10_000);
    clock.advance(60_000);
    for (let nth = 299; nth >= 0; nth--) refused.note(call({ key: `key-${nth}` }));
    await refused.flushed(10_000);
    const rows = await database.sql<{ span: number; start: number; rows: number; least: number; calls: number }[]>`
      SELECT span, start - ${minute} AS start, count(*)::integer AS rows, min(calls)::integer AS least, sum(calls)::integer AS calls
      FROM refused_calls GROUP BY span, start ORDER BY span, start`;
    expect([...rows]).toEqual([
      { span: 1, start: 0, rows: limits.refusedPairsMax + 1, least: 2, calls: 600 },
      { span: 1, start: 1, rows: limits.refusedPairsMax + 1, least: 1, calls: 300 },
      { span: 1_440, start: -720, rows: 300, least: 3, calls: 900 },
    ]);
  });

  test("two gateways add up, and a workspace keeps its 200 newest of both", async () => {
    const [one, other] = [gateway(), gateway()];
    for (let round = 0; round < 3; round++) {
      for (let nth = 0; nth < 90; nth++) {
        one.note(call());
        other.note(call({ key: "key-2", code: "insufficient_credit", status: 402 }));
      }
      clock.advance(1_000);
      await Promise.all([one.flushed(10_000), other.flushed(10_000)]);
    }
    one.note(call({ workspace: "ws-2" }));
    one.note(call());
    await one.flushed(10_000);
    expect((await counts()).filter((row) => row.startsWith("ws-1 1 "))).toEqual([
      "ws-1 1 0 key-1 rate_limited: 271",
      "ws-1 1 0 key-2 insufficient_credit: 270",
    ]);
    const rows = await kept();
    expect([rows.length, rows.filter(({ key_id: key }) => key === "key-1").length > 60]).toEqual([200, true]);
    expect(await kept("ws-2")).toHaveLength(1);
  });

  test("what was refused is written within two seconds; a gateway that dies loses no more than that", async () => {
    const refused = gateway();
    refused.note(call());
    expect(await counts()).toEqual([]);
    clock.advance(limits.refusedWriteMs);
    await refused.flushed(10_000);
    refused.note(call());
    // It dies here: nothing else writes what waits in its memory.
    expect(refused.waiting.counts).toBe(2);
    expect(await counts()).toEqual(["ws-1 1 0 key-1 rate_limited: 1", "ws-1 1440 -720 key-1 rate_limited: 1"]);
  });

  test("while the database does not answer, counts wait and are written later, once", async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    let isAway = true;
    const away = () => Promise.reject(new Error("The database is away"));
    const flaky = new Proxy(database.sql, {
      get: (sql, name) => (name === "begin" && isAway ? away : Reflect.get(sql, name)),
    });
    const refused = gateway(flaky, log);
    refused.note(call());
    await refused.flushed(10_000);
    refused.note(call());
    await refused.flushed(10_000);
    expect([refused.waiting, lines.length]).toEqual([{ counts: 2, calls: 2 }, 2]);
    isAway = false;
    clock.advance(limits.refusedWriteMs);
    await refused.flushed(10_000);
    expect(await counts()).toEqual(["ws-1 1 0 key-1 rate_limited: 2", "ws-1 1440 -720 key-1 rate_limited: 2"]);
    expect(await kept()).toHaveLength(2);
  });

  test("a wrong key is counted without a key, and nothing of it is kept", async () => {
    const refused = gateway();
    refused.note(call({ workspace: null, key: null, code: "invalid_api_key", status: 401, message: "The API key is invalid" }));
    await refused.flushed(10_000);
    expect(await counts()).toEqual([" 1 0  invalid_api_key: 1", " 1440 -720  invalid_api_key: 1"]);
    expect(await database.sql`SELECT FROM refused_requests`).toHaveLength(0);
  });

  test("counts and calls are deleted after 31 days, and not before", async () => {
    const refused = gateway();
    refused.note(call());
    await refused.flushed(10_000);
    clock.advance(31 * 86_400_000);
    await forgetRefusals({ sql: database.sql, clock });
    expect([(await counts()).length, (await kept()).length]).toEqual([2, 1]);
    clock.advance(86_400_000);
    await forgetRefusals({ sql: database.sql, clock });
    expect([await counts(), await kept()]).toEqual([[], []]);
  });
});
