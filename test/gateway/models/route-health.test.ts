import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { silentLog } from "../../../src/kernel/log.ts";
import { routeHealthMs } from "../../../src/gateway/limits.ts";
import { RouteHealth } from "../../../src/gateway/models/route-health.ts";
import { ManualClock } from "../../support/clock.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { aRoute } from "../../support/providers/models.ts";
import { until } from "../../support/until.ts";

const route = aRoute();
const other = aRoute({ base_url: "http://127.0.0.1:9/elsewhere" });
const hourMs = 3_600_000;

describe.each(oneDatabase)("latency and uptime on $name", ({ open }) => {
  let database: TestDatabase;
  let clock: ManualClock;
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    database = stack.use(await open());
  }, 60_000);
  beforeEach(async () => {
    clock = new ManualClock();
    await database.sql`TRUNCATE route_hours`;
  });
  afterAll(() => stack.disposeAsync());

  async function gateway(): Promise<RouteHealth> {
    const health = new RouteHealth({ sql: database.sql, clock, log: silentLog });
    await health.share();
    return health;
  }

  test("latency and uptime are null without measurements", async () => {
    const health = await gateway();
    health.recordAnswer(other, 10);
    expect(health.measure(route)).toBeNull();
  });

  test("a gateway shows its own measurements at once", async () => {
    const health = await gateway();
    health.recordAnswer(route, 100);
    health.recordAnswer(route, 301);
    health.recordFailure(route);
    expect(health.measure(route)).toEqual({ latencyMs: 201, uptimePercent: 66.67 });
  });

  test("a gateway shows the measurements of all gateways, with each answer counted once", async () => {
    const [first, second] = [await gateway(), await gateway()];
    first.recordAnswer(route, 100);
    second.recordAnswer(route, 300);
    second.recordFailure(route);
    await first.share();
    await second.share();
    await first.share();
    expect(first.measure(route)).toEqual({ latencyMs: 200, uptimePercent: 66.67 });
    expect(second.measure(route)).toEqual(first.measure(route));
  });

  test("an answer without a time counts for uptime and does not change the latency", async () => {
    const health = await gateway();
    health.recordAnswer(route, null);
    expect(health.measure(route)).toEqual({ latencyMs: null, uptimePercent: 100 });
    health.recordAnswer(route, 50);
    expect(health.measure(route)).toEqual({ latencyMs: 50, uptimePercent: 100 });
  });

  test("a route that only fails has an uptime of zero", async () => {
    const health = await gateway();
    health.recordFailure(route);
    expect(health.measure(route)).toEqual({ latencyMs: null, uptimePercent: 0 });
  });

  test("measurements survive a restart for one day, and older hours are deleted", async () => {
    const health = await gateway();
    health.recordFailure(route);
    await health[Symbol.asyncDispose]();
    clock.advance(24 * hourMs);
    const restarted = await gateway();
    expect(restarted.measure(route)).toEqual({ latencyMs: null, uptimePercent: 0 });
    await restarted[Symbol.asyncDispose]();
    clock.advance(hourMs);
    restarted.recordAnswer(other, 1);
    await restarted.share();
    expect(restarted.measure(route)).toBeNull();
    const hours = await database.sql<{ entry: string }[]>`SELECT entry FROM route_hours`;
    expect(hours.map((row) => row.entry)).toEqual([other.entry]);
  });

  test("a gateway shares its counts when it ends, and leaves no timer", async () => {
    const health = await gateway();
    health.recordAnswer(route, 7);
    await health[Symbol.asyncDispose]();
    expect(clock.pending).toBe(0);
    expect((await gateway()).measure(route)).toEqual({ latencyMs: 7, uptimePercent: 100 });
  });

  test("gateways share their counts regularly", async () => {
    const [first, second] = [await gateway(), await gateway()];
    first.recordAnswer(route, 40);
    await until(() => {
      clock.advance(routeHealthMs);
      return second.measure(route) !== null;
    });
    expect(second.measure(route)).toEqual({ latencyMs: 40, uptimePercent: 100 });
  });
});

test("counts are kept while the database does not answer, and shared once it does", async () => {
  await using database = await (oneDatabase[0]?.open() ?? Promise.reject(new Error("There is no database")));
  const clock = new ManualClock();
  await database.sql`ALTER TABLE route_hours RENAME TO hidden`;
  const health = new RouteHealth({ sql: database.sql, clock, log: silentLog });
  health.recordAnswer(route, 30);
  await health.share();
  expect(health.measure(route)).toEqual({ latencyMs: 30, uptimePercent: 100 });
  await database.sql`ALTER TABLE hidden RENAME TO route_hours`;
  await health.share();
  expect(health.measure(route)).toEqual({ latencyMs: 30, uptimePercent: 100 });
  const [row] = await database.sql<{ answered: bigint }[]>`SELECT answered FROM route_hours`;
  expect(row?.answered).toBe(1n);
});
