import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { tryAdvisoryLock } from "../../src/backing/advisory-lock.ts";
import type { Database } from "../../src/backing/backing.ts";
import { databaseConnectionsMax } from "../../src/backing/limits.ts";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { DeadlineError, systemClock } from "../../src/kernel/clock.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { ManualClock } from "../support/clock.ts";
import { failureOf } from "../support/failure-of.ts";
import { testServices } from "../support/servers/services.ts";
import { until } from "../support/until.ts";

const services = await testServices();
const clock = systemClock;

describe.skipIf(services === null)("a lock of PostgreSQL", () => {
  const stack = new AsyncDisposableStack();
  let here: Database;
  let there: Database;

  beforeAll(() => {
    here = open(services?.urls.DATABASE_URL ?? "");
    there = open(services?.urls.DATABASE_URL ?? "");
  });
  afterAll(() => stack.disposeAsync(), 15_000);

  function open(url: string): Database {
    return stack.use(openPostgres({ url: new Secret(url), applicationName: "test", clock })).sql;
  }

  test("is held by one process at a time, and by another once it is released", async () => {
    const held = await tryAdvisoryLock("weir one at a time", { sql: here, clock });
    expect(held).not.toBeNull();
    expect(await tryAdvisoryLock("weir one at a time", { sql: there, clock })).toBeNull();
    await using _other = await tryAdvisoryLock("weir something else", { sql: there, clock });
    expect(_other).not.toBeNull();
    await held?.[Symbol.asyncDispose]();
    await using next = await tryAdvisoryLock("weir one at a time", { sql: there, clock });
    expect(next).not.toBeNull();
  });

  test("is lost by a process that hangs, and nothing else of that process is", async () => {
    // A clock that stands still sends no sign of life.
    const hanging = await tryAdvisoryLock("weir hanging", { sql: here, clock: new ManualClock() });
    expect(hanging).not.toBeNull();
    let next: AsyncDisposable | null = null;
    await until(async () => (next = await tryAdvisoryLock("weir hanging", { sql: there, clock })) !== null, 10_000);
    await using _next: AsyncDisposable | null = next;
    await hanging?.[Symbol.asyncDispose]();
    expect(await here`SELECT 1 AS one`).toMatchObject([{ one: 1 }]);
  }, 15_000);

  test("that cannot be taken leaves the connection to others", async () => {
    const lonely = open("postgres://weir@127.0.0.1:1/weir");
    for (let attempt = 0; attempt <= databaseConnectionsMax; attempt++) {
      expect(await failureOf(tryAdvisoryLock("weir lonely", { sql: lonely, clock }))).not.toBeInstanceOf(DeadlineError);
    }
  });
});
