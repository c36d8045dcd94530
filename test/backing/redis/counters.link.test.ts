import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { pino } from "pino";
import { openDistributedCounters } from "../../../src/backing/redis/counters.ts";
import { CountersUnavailableError, type Counters } from "../../../src/backing/counters.ts";
import { countersDeadlineMs } from "../../../src/backing/limits.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { ManualClock, settled } from "../../support/clock.ts";
import { FakeRedis } from "../../support/servers/fake-redis.ts";
import { RawServer } from "../../support/servers/raw-server.ts";
import { until } from "../../support/until.ts";

const storeMs = 7_000;
const pingMs = 500;
const callsUnderWayMax = 5_000;

describe("counters and their one connection to Redis", () => {
  let stack: AsyncDisposableStack;
  let clock: ManualClock;
  let redis: FakeRedis;
  let lines: string[];

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    clock = new ManualClock();
    lines = [];
    redis = stack.use(await FakeRedis.listen());
  });
  afterEach(() => stack.disposeAsync());

  async function begin(url: string): Promise<Counters> {
    const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
    return stack.use(await openDistributedCounters({ url: new Secret(url), clock, log }));
  }

  /** Resolves when Redis was reached and nothing more is asked. */
  async function open(): Promise<Counters> {
    const opened = await begin(redis.url);
    await until(() => redis.times("CONFIG") === 2);
    return opened;
  }

  /** Where Redis is not reached in time. */
  async function openInVain(url = redis.url): Promise<Counters> {
    const opened = begin(url);
    await until(() => clock.pending > 0);
    clock.advance(countersDeadlineMs);
    return opened;
  }

  const refusal = (counters: Counters): Promise<unknown> => counters.now().catch((error: unknown) => error);
  const works = (counters: Counters): Promise<boolean> =>
    counters.now().then(
      (now) => now === storeMs,
      () => false,
    );

  /** Redis leaves one call unanswered past its deadline: the next is refused at once, and not sent. */
  async function hang(counters: Counters): Promise<void> {
    redis.hush();
    const late = refusal(counters);
    await until(() => redis.times("TIME") === 1);
    clock.advance(countersDeadlineMs);
    expect(await late).toBeInstanceOf(CountersUnavailableError);
    expect(await refusal(counters)).toBeInstanceOf(CountersUnavailableError);
    expect(redis.times("TIME")).toBe(1);
  }

  /** Moves time on, a little at a time, until the condition holds. */
  const passUntil = (condition: () => boolean | Promise<boolean>): Promise<void> =>
    until(async () => {
      if (await condition()) return true;
      clock.advance(50);
      return false;
    });

  test("a Redis that takes the connection and never answers is dialled anew each second, and nobody waits for it", async () => {
    const mute = stack.use(await new RawServer(() => {}).listen());
    const counters = await openInVain(`redis://127.0.0.1:${mute.port}`);
    for (let dials = 1; dials <= 3; dials++) {
      await passUntil(() => mute.connections.length === dials);
      expect(await refusal(counters)).toBeInstanceOf(CountersUnavailableError);
      await passUntil(() => mute.connections[dials - 1]?.destroyed === true);
    }
    expect(clock.monotonic()).toBeGreaterThanOrEqual(3_000);
    expect(lines.join("")).toContain("did not answer within 1000 ms");
  });

  test("several servers that form no cluster are not used: each would have the credit for itself", async () => {
    const other = stack.use(await FakeRedis.listen());
    const counters = await begin(`${redis.url},${other.url}`);
    await until(() => redis.times("INFO") + other.times("INFO") === 2);
    expect(await refusal(counters)).toBeInstanceOf(CountersUnavailableError);
    expect(lines.join("")).toContain("not those of a Redis Cluster: none is used");
  });

  test("a ping asks each 500 ms whether Redis is there, and while it is the connection stays", async () => {
    const counters = await open();
    const before = redis.times("PING");
    for (let pings = 1; pings <= 20; pings++) {
      await settled();
      clock.advance(pingMs);
      await until(() => redis.times("PING") === before + pings);
    }
    expect(redis.connections).toHaveLength(1);
    expect(await works(counters)).toBe(true);
  });

  test("a Redis that falls silent is left after two seconds and dialled anew, and the old connection changes nothing more", async () => {
    const counters = await open();
    const silentSince = clock.monotonic();
    await hang(counters);

    await passUntil(() => redis.open.length === 0);
    expect(clock.monotonic() - silentSince).toBeGreaterThanOrEqual(2_000);
    redis.speak();
    await passUntil(() => works(counters));
    expect(redis.connections).toHaveLength(2);
    expect(redis.open).toHaveLength(1);
    redis.connections[0]?.destroy();
    await settled();
    expect(await works(counters)).toBe(true);
  });

  test("a call whose connection is cut fails at once, and the next connection serves", async () => {
    const counters = await open();
    redis.hush();
    const cut = refusal(counters);
    await until(() => redis.times("TIME") === 1);
    redis.open[0]?.destroy();
    expect(await cut).toBeInstanceOf(CountersUnavailableError);
    expect(await refusal(counters)).toBeInstanceOf(CountersUnavailableError);
    redis.speak();
    await passUntil(() => works(counters));
    expect(redis.connections).toHaveLength(2);
  });

  test("a late answer ends the refusals that its lateness began", async () => {
    const counters = await open();
    await hang(counters);
    redis.speak();
    await until(() => works(counters));
    expect(redis.connections).toHaveLength(1);
  });

  test("no more calls are under way than 5,000", async () => {
    const counters = await open();
    redis.hush();
    const waiting = Array.from({ length: callsUnderWayMax }, () => refusal(counters));
    expect(await refusal(counters)).toBeInstanceOf(CountersUnavailableError);
    await until(() => redis.times("TIME") === callsUnderWayMax);
    await counters[Symbol.asyncDispose]();
    for (const end of await Promise.all(waiting)) expect(end).toBeInstanceOf(CountersUnavailableError);
  });

  test("a Redis that is still loading keeps its connection, and is greeted again until it is of use", async () => {
    Object.assign(redis.saying, { PING: "-LOADING Redis is loading\r\n", INFO: "-BUSY Redis is busy\r\n" });
    const counters = await openInVain();
    await until(() => redis.times("INFO") === 1);
    expect(await refusal(counters)).toBeInstanceOf(CountersUnavailableError);
    await passUntil(() => redis.times("INFO") > 2);
    delete redis.saying["INFO"];
    await passUntil(() => works(counters));
    expect(redis.connections).toHaveLength(1);
    expect(lines.join("")).toContain("BUSY Redis is busy");
  });

  test.each(["open", "dialling", "between two connections", "greeting"])(
    "nothing is left of it when it is closed: %s",
    async (when) => {
      if (when === "dialling") redis.hush();
      if (when === "greeting") redis.saying["INFO"] = "-BUSY Redis is busy\r\n";
      const opened = when === "open" || when === "between two connections";
      const counters = await (opened ? open() : openInVain());
      if (when === "greeting") await until(() => redis.times("INFO") === 1);
      if (when === "between two connections") {
        redis.open[0]?.destroy();
        await until(async () => (await refusal(counters)) instanceof CountersUnavailableError);
      }
      await settled();
      await counters[Symbol.asyncDispose]();
      await until(() => redis.open.length === 0);
      expect(clock.pending).toBe(0);
      clock.advance(10_000);
      await settled();
      expect(redis.connections).toHaveLength(1);
    },
  );
});
