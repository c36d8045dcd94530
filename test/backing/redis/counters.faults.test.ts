import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { pino } from "pino";
import { openDistributedCounters } from "../../../src/backing/redis/counters.ts";
import { CountersUnavailableError, type AdmitReply, type AdmitRequest, type Counters } from "../../../src/backing/counters.ts";
import { rateWindowMs } from "../../../src/backing/limits.ts";
import { monthOf, systemClock } from "../../../src/kernel/clock.ts";
import { silentLog, type Logger } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import type { Server } from "../../../scripts/services/server.ts";
import { newGeneration, request, resolve } from "../../contracts/counters/calls.ts";
import { connectClient, type Client } from "../../support/counters/redis.ts";
import { openTestRedis } from "../../support/servers/redis.ts";
import { testServers } from "../../support/servers/services.ts";
import { quickestMs } from "../quickest.ts";
import { until } from "../../support/until.ts";

/** How long a caller may wait for an answer, whatever Redis does. */
const answerMsMax = 1_000;
/** How soon after Redis is back it must be in use again. */
const healMsMax = 5_000;

const servers = await testServers();

describe.skipIf(servers === null)("counters in a Redis that fails", () => {
  let server: Server;
  let counters: Counters;

  beforeAll(async () => {
    const opened = await openTestRedis();
    if (opened) server = opened;
    counters = await open();
  });
  beforeEach(async () => {
    await ask((client) => client.flushAll());
    await load();
  });
  afterAll(async () => {
    await counters[Symbol.asyncDispose]();
    await server.stop();
  });

  const open = (log: Logger = silentLog): Promise<Counters> =>
    openDistributedCounters({ url: new Secret(server.url), clock: systemClock, log });

  async function ask<Reply>(question: (client: Client) => Promise<Reply>): Promise<Reply> {
    const client = await connectClient(server.url);
    try {
      return await question(client);
    } finally {
      client.destroy();
    }
  }

  async function load(): Promise<void> {
    const month = monthOf(Date.now());
    const account = { workspace: "w1", balance: 1_000n, sequence: 1n, months: [{ month, spent: 0n }] };
    await counters.load({ account, holds: await counters.holds("w1"), windows: [] });
    const keyMonths = ["k1", "k2"].map((key) => ({ workspace: "w1", key, month, spent: 0n, version: 1n, sequence: 1n }));
    await counters.resolveMany({ resolve: [], accounts: [], keyMonths });
  }

  async function admit(change: Partial<AdmitRequest> = {}, by = counters): Promise<AdmitReply> {
    const { replies } = await by.admitMany({ month: monthOf(Date.now()), requests: [request(change)] });
    if (!replies[0]) throw new Error("There is no reply");
    return replies[0];
  }

  /** Resolves to how long the refusal took. */
  async function refused(): Promise<number> {
    const start = performance.now();
    expect(await admit().then(String, (error: unknown) => error)).toBeInstanceOf(CountersUnavailableError);
    return performance.now() - start;
  }

  const succeeds = (asked: Promise<unknown>): Promise<boolean> =>
    asked.then(
      () => true,
      () => false,
    );
  const heals = (): Promise<void> => until(() => succeeds(admit()), healMsMax);
  const answers = (store: Counters): Promise<void> => until(() => succeeds(store.now()), healMsMax);
  const reserved = async (): Promise<bigint | undefined> => (await counters.read("w1", null)).account?.reserved;

  test("refuses in time while it hangs, all but the first at once, and goes on when it does", async () => {
    await server.kill("SIGSTOP");
    const waited = await Promise.all(Array.from({ length: 20 }, refused));
    expect(Math.max(...waited)).toBeLessThan(answerMsMax);
    expect(await quickestMs(refused)).toBeLessThan(50);
    await server.kill("SIGCONT");
    await heals();
  });

  test("refuses at once however long it hangs, over every attempt to connect anew", async () => {
    await server.kill("SIGSTOP");
    await refused();
    const frozenAt = performance.now();
    const waited: number[] = [];
    await until(async () => {
      waited.push(await refused());
      return performance.now() > frozenAt + 3_000;
    });
    expect(Math.max(...waited)).toBeLessThan(answerMsMax);
    expect(waited.toSorted((a, b) => a - b)[Math.floor(waited.length / 2)]).toBeLessThan(50);
    await server.kill("SIGCONT");
    await heals();
  }, 20_000);

  test("leaves no reservation of an admission that was given up, run late or not", async () => {
    await server.kill("SIGSTOP");
    const generation = newGeneration();
    await expect(admit({ generation })).rejects.toThrow(CountersUnavailableError);
    await server.kill("SIGCONT");
    await answers(counters);
    await resolve(counters, generation, "void");
    expect(await admit({ generation })).toEqual({ outcome: "already_resolved", as: "void" });
    expect(await reserved()).toBe(0n);
  });

  test("verifies each workspace after a restart, although its file brought everything back", async () => {
    expect(await admit({ generation: "gen-before" })).toMatchObject({ outcome: "admitted" });
    await server.kill("SIGKILL");
    await until(() =>
      counters.now().then(
        () => false,
        () => true,
      ),
    );
    expect(await quickestMs(refused)).toBeLessThan(50);
    await server.restart();
    await heals();
    expect(await admit()).toEqual({ outcome: "not_ready", what: "workspace" });
    expect(await counters.holds("w1")).toMatchObject([{ generation: "gen-before", amount: 10n }]);
    await load();
    expect(await admit({ generation: "gen-before" })).toMatchObject({ outcome: "admitted", replay: true, available: 990n });
    expect(await admit()).toMatchObject({ outcome: "admitted", available: 980n, window: { remaining: 58 } });
  }, 20_000);

  test("may be started before Redis is", async () => {
    await server.kill("SIGKILL");
    const start = performance.now();
    const early = await open();
    expect(performance.now() - start).toBeLessThan(answerMsMax);
    await expect(early.now()).rejects.toThrow(CountersUnavailableError);
    await server.restart();
    await answers(early);
    await early[Symbol.asyncDispose]();
    await heals();
  }, 20_000);

  test("says that its password is refused, tries on, and works once it is not", async () => {
    const lines: string[] = [];
    const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
    const url = server.url.replace(/:\/\/.*@/, `://late:${encodeURIComponent("p@ss/w:rd%25")}@`);
    const early = await openDistributedCounters({ url: new Secret(url), clock: systemClock, log });
    await expect(early.now()).rejects.toThrow(CountersUnavailableError);
    await ask((client) => client.sendCommand(["ACL", "SETUSER", "late", "on", ">p@ss/w:rd%25", "~*", "+@all"]));
    await answers(early);
    await early[Symbol.asyncDispose]();
    expect(lines.join("")).toContain("WRONGPASS");
    expect(lines.join("")).not.toMatch(/p@ss|p%40ss/);
  });

  test("sends its functions again when Redis has forgotten them", async () => {
    await ask((client) => client.sendCommand(["FUNCTION", "FLUSH"]));
    expect(await admit()).toMatchObject({ outcome: "admitted" });
    expect(await reserved()).toBe(10n);
  });

  test("admits nothing, and counts nothing, when Redis is out of memory", async () => {
    await admit({ generation: "gen-held" });
    await ask((client) => client.configSet("maxmemory", "1"));
    await refused();
    await ask((client) => client.configSet("maxmemory", "0"));
    expect(await reserved()).toBe(10n);
    expect(await admit()).toMatchObject({ outcome: "admitted", available: 980n, window: { remaining: 58 } });
  });

  test("refuses in time while somebody else's script keeps Redis busy, and goes on after it", async () => {
    await ask((client) => client.configSet("busy-reply-threshold", "20"));
    const other = await connectClient(server.url);
    const endless = other.eval("while true do end").catch(String);
    await until(() =>
      ask((client) => client.ping()).then(
        () => false,
        () => true,
      ),
    );
    const busySince = performance.now();
    await until(async () => {
      expect(await refused()).toBeLessThan(answerMsMax);
      return performance.now() > busySince + 1_200;
    });
    await ask((client) => client.scriptKill());
    expect(await endless).toMatch(/killed/i);
    other.destroy();
    await heals();
  });

  test("never gives more than the credit to all workers together", async () => {
    const workers = await Promise.all(Array.from({ length: 4 }, () => open()));
    const replies = await Promise.all(
      Array.from({ length: 400 }, (_, index) => admit({ requestsPerMinute: 1_000 }, workers[index % 4])),
    );
    expect(replies.filter(({ outcome }) => outcome === "admitted")).toHaveLength(100);
    expect(replies.filter(({ outcome }) => outcome === "insufficient_credit")).toHaveLength(300);
    expect(await reserved()).toBe(1_000n);
    for (const worker of workers) await worker[Symbol.asyncDispose]();
  });

  test("never admits more requests a minute to all workers together", async () => {
    const workers = await Promise.all(Array.from({ length: 4 }, () => open()));
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, index) => admit({ requestsPerMinute: 7, amount: 0n }, workers[index % 4])),
    );
    expect(replies.filter(({ outcome }) => outcome === "admitted")).toHaveLength(7);
    for (const worker of workers) await worker[Symbol.asyncDispose]();
  });

  test("admits by Redis's own clock, to the millisecond that it told", async () => {
    await ask((client) => client.hDel("{w1}:a", "head"));
    const now = await counters.now();
    expect(Math.abs(now - Date.now())).toBeLessThan(1_000);
    const months = [{ month: monthOf(now), spent: 0n }];
    const windows = [{ key: "k1", times: [now - 59_600] }];
    await counters.load({ account: { workspace: "w1", balance: 1_000n, sequence: 1n, months }, holds: [], windows });
    await load();
    const limit = { requestsPerMinute: 1 };
    const first = await admit(limit);
    expect(first).toMatchObject({ outcome: "rate_limited" });
    const seen = new Set<string>();
    await until(async () => {
      const before = await counters.now();
      const { outcome } = await admit(limit);
      const after = await counters.now();
      seen.add(outcome);
      if (outcome === "admitted") expect(after).toBeGreaterThanOrEqual(now + 400);
      else expect(before).toBeLessThan(now + 400);
      return outcome === "admitted";
    }, healMsMax);
    expect([...seen]).toEqual(["rate_limited", "admitted"]);
  });

  test("lets tombstones and windows end by themselves, and nothing else", async () => {
    await admit({ generation: "gen-ended" });
    await admit({ key: "k2" });
    await resolve(counters, "gen-ended");
    const lives = await ask(async (client) => {
      const names = (await client.keys("*")).toSorted();
      return Promise.all(names.map(async (name) => [name, Math.max(0, Math.ceil((await client.pTTL(name)) / 1_000))] as const));
    });
    expect(Object.fromEntries(lives)).toEqual({
      "{w1}:a": 0,
      "{w1}:n:k1": 121,
      "{w1}:n:k2": 121,
      "{w1}:t": 121,
    });
  });

  test("keeps a restored window as long as one that it counted itself, for admissions of the same minute do not renew it", async () => {
    await ask((client) => client.hDel("{w1}:a", "head"));
    const windows = [{ key: "k9", times: [(await counters.now()) - 1] }];
    await counters.load({ account: { workspace: "w1", balance: 0n, sequence: 1n, months: [] }, holds: [], windows });
    expect(await ask((client) => client.pTTL("{w1}:n:k9"))).toBeGreaterThan(2 * rateWindowMs);
  });

  test("says which settings of Redis endanger what is counted, and never its password", async () => {
    const lines: string[] = [];
    const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
    await ask((client) => client.configSet({ appendonly: "no", "maxmemory-policy": "allkeys-lru" }));
    const warned = await open(log);
    await until(() => lines.filter((line) => line.includes("redis.setting")).length === 2);
    await warned[Symbol.asyncDispose]();
    await ask((client) => client.configSet({ appendonly: "yes", "maxmemory-policy": "noeviction" }));
    await until(() => ask(async (client) => /aof_enabled:1[^]*aof_rewrite_in_progress:0/.test(await client.info("persistence"))));
    expect(lines.join("")).toMatch(/"setting":"appendonly","value":"no","wanted":"yes"/);
    expect(lines.join("")).toMatch(/"setting":"maxmemory-policy","value":"allkeys-lru","wanted":"noeviction"/);
    expect(lines.join("")).not.toContain(new URL(server.url).password);
  });

  test("ends what is under way when it is closed, and refuses what comes after", async () => {
    const closing = await open();
    await server.kill("SIGSTOP");
    const underWay = admit({}, closing).catch((error: unknown) => error);
    await closing[Symbol.asyncDispose]();
    expect(await underWay).toBeInstanceOf(CountersUnavailableError);
    await server.kill("SIGCONT");
    await expect(closing.now()).rejects.toThrow(CountersUnavailableError);
  });
});
