/** Limits of a tools key: calls a minute, calls at once, and bytes of bodies. Ordinary use never reaches them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { diskFloorBytes, toolsCallsPerMinuteDefault, toolsCallsShareMs } from "../../../src/accounts/limits.ts";
import { ByteBudget } from "../../../src/accounts/quotas/byte-budget.ts";
import { CallRateLimiter, type Counts } from "../../../src/accounts/quotas/call-rate-limiter.ts";
import { DiskSpaceGuard } from "../../../src/accounts/quotas/disk-space-guard.ts";
import { FairSemaphore } from "../../../src/accounts/quotas/fair-semaphore.ts";
import type { Bus } from "../../../src/backing/bus.ts";
import { rateWindowMs } from "../../../src/backing/limits.ts";
import { sharedCallLimits } from "../../../src/security/api/call-limits.ts";
import { sbomFailedReadCalls, sbomReadHereBytesMax, toolsBodiesPerKeyBytesMax } from "../../../src/security/limits.ts";
import { ManualClock } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { ToolsApi, toolsStage, type ToolsStage } from "../../support/security/tools-api.ts";
import { openEmbeddedDatabase } from "../../support/servers/databases.ts";

let stage: ToolsStage;
beforeAll(async () => {
  stage = await toolsStage(openEmbeddedDatabase);
}, 60_000);
afterAll(() => stage[Symbol.asyncDispose]());

/** A service with its usual limits, on the test's clock. */
async function limited(settings: { rpm?: number; full?: boolean } = {}): Promise<{ api: ToolsApi; key: string }> {
  const { key } = await stage.control.key("w", {
    kind: "tools",
    owner: "member@w",
    ...(settings.rpm && { rate_limit_rpm: settings.rpm }),
  });
  const { clock, platforms, keyring } = stage.control;
  const disk = new DiskSpaceGuard(clock, async () => (settings.full ? diskFloorBytes - 1 : diskFloorBytes));
  const options = { clock, platforms, keyring, callsPerMinute: toolsCallsPerMinuteDefault, disk };
  return { api: new ToolsApi(stage.database.sql, key, options), key };
}

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
const mcpHeaders = { accept: "application/json, text/event-stream" };

describe("calls a minute", () => {
  test("a key is refused beyond its own limit, with the time until a call leaves the window", async () => {
    const { api } = await limited({ rpm: 3 });
    expect((await api.call("list_my_tickets")).status).toBe(200);
    stage.control.clock.advance(20_000);
    for (const _ of [1, 2]) expect((await api.call("list_my_tickets")).status).toBe(200);
    const { status, headers, body } = await api.call("list_my_tickets");
    const error = "Too many calls for this key: its limit is 3 calls a minute";
    expect([status, headers.get("retry-after"), body]).toEqual([429, "40", { success: false, error }]);
    stage.control.clock.advance(40_000);
    expect((await api.call("list_my_tickets")).status).toBe(200);
    expect((await api.call("list_my_tickets")).status).toBe(429);
  });

  test("a key without a limit has the default, and keys are counted separately", async () => {
    const [one, other] = [await limited(), await limited()];
    const answers = await Promise.all(Array.from({ length: 150 }, () => one.api.call("get_active_scope")));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 150 }, () => one.api.call("get_active_scope")));
    }
    expect((await one.api.call("get_active_scope")).status).toBe(429);
    expect((await other.api.call("get_active_scope")).status).toBe(200);
  }, 60_000);

  test("over MCP the refusal is a JSON-RPC error with Retry-After", async () => {
    const { api } = await limited({ rpm: 1 });
    expect((await api.call("list_my_tickets")).status).toBe(200);
    const { status, headers, body } = await api.send("/mcp", ping, { headers: mcpHeaders });
    expect([status, headers.get("retry-after")]).toEqual([429, "60"]);
    expect(body).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32000, message: expect.stringContaining("calls a minute") },
    });
  });

  test("a batch over MCP is refused as a whole, and none of it is done", async () => {
    const { api } = await limited();
    const file = (id: number) => {
      const call = { name: "platform_create_support_request", arguments: { subject: `Batch ${id}`, message: "x" } };
      return { jsonrpc: "2.0", id, method: "tools/call", params: call };
    };
    const { status, body } = await api.send("/mcp", [file(1), file(2)], { headers: mcpHeaders });
    expect([status, body]).toMatchObject([400, { jsonrpc: "2.0", id: null, error: { code: -32600 } }]);
    const rows = await stage.database.sql`SELECT 1 FROM tickets WHERE subject LIKE 'Batch%'`;
    expect(rows).toHaveLength(0);
  });

  test("a large document that cannot be read counts as many calls", async () => {
    const { api } = await limited({ rpm: sbomFailedReadCalls });
    const sbom = { bomFormat: "CycloneDX", specVersion: "9.9", x: "x".repeat(sbomReadHereBytesMax) };
    expect((await api.call("upload_sbom", { sbom, project: "p" })).status).toBe(400);
    expect((await api.call("list_my_tickets")).status).toBe(429);
  }, 30_000);

  test("gateways exchange their counts", async () => {
    const clock = new ManualClock();
    const sent: Counts[] = [];
    const here = new CallRateLimiter({ clock, share: (counts) => sent.push(counts) });
    const there = new CallRateLimiter({ clock });
    for (let call = 0; call < 3; call++) here.count("key", 5);
    clock.advance(1_000);
    expect(sent).toEqual([[["key", 3]]]);
    there.addOthers(sent[0] ?? []);
    for (let call = 0; call < 2; call++) there.count("key", 5);
    expect(String(await failureOf((async () => there.count("key", 5))()))).toContain("5 calls a minute");
    clock.advance(rateWindowMs);
    there.count("key", 5);
  });
});

test("while the disk is nearly full, documents are refused with 503, and all else continues", async () => {
  const { api } = await limited({ full: true });
  const { status, headers, body } = await api.call("upload_sbom", { sbom: { bomFormat: "CycloneDX" }, project: "p" });
  expect([status, headers.get("retry-after"), body["error"]]).toEqual([503, "60", expect.stringContaining("(diskFloorBytes)")]);
  expect((await api.call("list_my_tickets")).status).toBe(200);
});

describe("bodies in transfer", () => {
  const mebibyte = 1024 * 1024;
  const limits = { totalBytes: 10 * mebibyte, perWorkspaceBytes: 6 * mebibyte, perKeyBytes: 4 * mebibyte };

  test("bodies of a key, of a workspace and of all keys are bounded, and released completely", () => {
    const budget = new ByteBudget(limits);
    const of = (key: string, workspace: string, size: number) => {
      const lease = budget.lease({ key, workspace });
      lease.grow(size * mebibyte);
      return lease;
    };
    const first = of("a", "w", 4);
    expect(() => of("a", "w", 1)).toThrow("Request bodies of this key");
    const second = of("b", "w", 2);
    expect(() => of("c", "w", 1)).toThrow("Request bodies of this workspace");
    const third = of("d", "x", 4);
    expect(() => of("e", "y", 1)).toThrow("Request bodies of all callers");
    for (const lease of [first, second, third]) lease[Symbol.dispose]();
    expect(budget.total).toBe(0);
    of("a", "w", 4)[Symbol.dispose]();
  });

  test("large bodies never block small ones", () => {
    const budget = new ByteBudget({ ...limits, reserve: { bytes: mebibyte, smallBytes: 1_024 } });
    for (const name of ["a", "b", "c"]) budget.lease({ key: name, workspace: name }).grow(3 * mebibyte);
    expect(() => budget.lease({ key: "d", workspace: "d" }).grow(2_048)).toThrow("of all callers");
    budget.lease({ key: "e", workspace: "e" }).grow(1_024);
  });

  test("slow bodies of one key are refused beyond its budget by their declared lengths, and other keys are answered", async () => {
    const { api } = await limited();
    const slow = (declared: number) =>
      api.start("list_my_tickets", { body: new ReadableStream({ pull: () => new Promise(() => {}) }), declared });
    const waiting = Array.from({ length: toolsBodiesPerKeyBytesMax / mebibyte }, () => slow(mebibyte));
    const { status, headers, body } = await slow(mebibyte);
    expect([status, headers.get("retry-after"), body["error"]]).toEqual([429, "1", expect.stringContaining("of this key")]);
    expect(waiting).toHaveLength(24);
    const other = await limited();
    expect((await other.api.call("list_my_tickets")).status).toBe(200);
  });
});

describe("slots", () => {
  const limits = { runningMax: 2, runningPerHolderMax: 1, waitingMax: 4, waitingPerHolderMax: 3, waitMs: 1_000 };
  const turns = (clock = new ManualClock()) => new FairSemaphore({ clock, limits, busy: "Busy" });

  test("holders get slots in turn, however many calls one has waiting", async () => {
    const fair = turns();
    const order: string[] = [];
    const ends = [await fair.acquire("a"), await fair.acquire("b")];
    const wait = (holder: string) =>
      fair.acquire(holder).then((end) => {
        order.push(holder);
        ends.push(end);
      });
    const all = [wait("a"), wait("a"), wait("a"), wait("c")];
    for (let turn = 0; turn < 4; turn++) {
      ends.shift()?.();
      await Promise.race(all.slice(turn));
      await Promise.resolve();
    }
    for (const end of ends) end();
    await Promise.all(all);
    expect(order.slice(0, 2).toSorted()).toEqual(["a", "c"]);
  });

  test("the bound of a holder is answered with 429, and the bound of all or a long wait with 503", async () => {
    const clock = new ManualClock();
    const fair = turns(clock);
    await fair.acquire("a");
    const late = failureOf(fair.acquire("a"));
    const others = [1, 2].map(() => failureOf(fair.acquire("a")));
    expect(await failureOf(fair.acquire("a"))).toMatchObject({ status: 429, retryAfterMs: 1_000 });
    await fair.acquire("b");
    for (const holder of ["b", "c", "d"]) fair.acquire(holder).catch(() => {});
    // Whoever has most of the waiting room gives way: two of a.
    expect(await Promise.all(others)).toEqual([
      expect.objectContaining({ status: 429 }),
      expect.objectContaining({ status: 429 }),
    ]);
    expect(await failureOf(fair.acquire("f"))).toMatchObject({ status: 503 });
    clock.advance(1_000);
    expect(await late).toMatchObject({ status: 503 });
  });
});

/** The limit of a key holds for all gateways of a fleet together. */

test("a gateway gets the other's counts a quarter of a second later, and neither counts its own twice", () => {
  const clock = new ManualClock();
  const listeners: ((payload: Uint8Array) => void)[] = [];
  const bus: Pick<Bus, "broadcast" | "listen"> = {
    broadcast: (_topic, payload = new Uint8Array()) => listeners.forEach((listener) => listener(payload)),
    listen: (_topic, listener) => (listeners.push(listener), { [Symbol.dispose]() {} }),
  };
  const [one, other] = [sharedCallLimits(bus, clock), sharedCallLimits(bus, clock)];
  for (let call = 0; call < 4; call++) one.rates.count("key", 10);
  for (let call = 0; call < 5; call++) other.rates.count("key", 10);
  clock.advance(toolsCallsShareMs);
  one.rates.count("key", 10);
  expect(() => one.rates.count("key", 10)).toThrow("its limit is 10 calls a minute");
  clock.advance(toolsCallsShareMs);
  expect(() => other.rates.require("key")).toThrow("its limit is 10 calls a minute");
  clock.advance(rateWindowMs);
  one.rates.count("key", 10);
  expect([one.rates.knows("key"), other.rates.knows("another")]).toEqual([true, false]);
});
