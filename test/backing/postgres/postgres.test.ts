import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Server } from "../../../scripts/services/server.ts";
import { openPostgres, type OpenDatabase } from "../../../src/backing/postgres/postgres.ts";
import { allowStatements } from "../../../src/backing/backing.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { databaseConnectionsMax, databaseDeadlineMs, databaseSessionIdleMsMax } from "../../../src/backing/limits.ts";
import { ManualClock } from "../../support/clock.ts";
import { RawServer } from "../../support/servers/raw-server.ts";
import { until } from "../../support/until.ts";
import { freeze, openPostgresServer, serversMissing } from "../servers.ts";

describe.skipIf(serversMissing)("PostgreSQL over TCP", () => {
  let server: Server;
  let database: OpenDatabase;

  beforeAll(async () => {
    server = await openPostgresServer();
    database = openPostgres({ url: new Secret(server.url), applicationName: "weir test", clock: systemClock });
    await database.sql`CREATE TABLE notes (id bigint PRIMARY KEY, amount numeric, words text[])`;
  }, 60_000);
  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  test("gives bigint as bigint, numeric as text and arrays as arrays", async () => {
    const { sql } = database;
    const note = { id: 9_007_199_254_740_993n, amount: "0.1000", words: ["a", "b"] };
    await sql`INSERT INTO notes ${sql(note)}`;
    const rows = await sql`
      SELECT id, amount, words, ARRAY[1, 2]::bigint[] AS numbers, '{3,NULL}'::integer[] AS small, count(*) OVER () AS count FROM notes`;
    expect([...rows]).toEqual([{ ...note, numbers: [1n, 2n], small: [3, null], count: 1n }]);
  });

  test("takes arrays as parameters", async () => {
    const sent = { texts: ["a", '{"'], small: [1, -2], whole: [3], none: [] };
    const [received] = await database.sql`
      SELECT ${sent.texts}::text[] AS texts, ${sent.small}::smallint[] AS small, ${sent.whole}::integer[] AS whole,
        ${sent.none}::text[] AS none`;
    expect({ ...received }).toEqual(sent);
  });

  test("composes fragments, and rolls a transaction and a savepoint back", async () => {
    const { sql } = database;
    const outcome = sql.begin(async (tx) => {
      await tx`INSERT INTO notes (id) VALUES (1)`;
      await tx.savepoint((inner) => inner`INSERT INTO notes (id) VALUES (1)`).catch(() => {});
      const condition = tx`id = ${1n}`;
      expect(await tx`SELECT id FROM notes WHERE ${condition}`).toHaveLength(1);
      throw new Error("changed my mind");
    });
    expect(await outcome.catch(String)).toBe("Error: changed my mind");
    expect(await sql`SELECT id FROM notes WHERE id = 1`).toHaveLength(0);
  });

  test("keeps a reserved connection, with its session's locks, until it is released", async () => {
    const { sql } = database;
    const reserved = await sql.reserve();
    await reserved`SELECT pg_advisory_lock(5)`;
    expect((await sql`SELECT pg_try_advisory_lock(5) AS taken`)[0]?.["taken"]).toBe(false);
    await reserved`SELECT pg_advisory_unlock(5)`;
    reserved.release();
  });

  test("after its sessions were terminated a statement fails or is answered, but never hangs and is never answered with nothing", async () => {
    const { sql } = database;
    for (let round = 0; round < 10; round++) {
      await until(() => everyConnectionWorks(database), 2_000);
      const busy = sql`SELECT pg_sleep(3)`.catch(String);
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'weir test' AND pid <> pg_backend_pid()`;
      expect(await busy).toContain("Error: ");
      const startedAt = performance.now();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () =>
          sql`SELECT 1 AS one`.then(
            (rows) => rows.length,
            () => "failed",
          ),
        ),
      );
      expect(performance.now() - startedAt).toBeLessThan(1_000);
      expect(outcomes).not.toContain(0);
    }
  }, 30_000);

  test("fails at once while the server is down, and works within two seconds of its return", async () => {
    const { sql } = database;
    await server.kill("SIGKILL");
    // What the dead server leaves behind may still answer for a moment.
    await until(async () => (await outcomesOf(database)).every((status) => status === "rejected"));
    const startedAt = performance.now();
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => sql`SELECT 1`));
    expect(outcomes.map(({ status }) => status)).not.toContain("fulfilled");
    expect(performance.now() - startedAt).toBeLessThan(databaseDeadlineMs);
    await server.restart();
    await until(async () => (await sql`SELECT 1`.catch(() => [])).length === 1, 2_000);
  }, 30_000);

  test("fails within its deadline while the server is frozen, in every kind of statement, and works when it thaws", async () => {
    const { sql } = database;
    await until(() => everyConnectionWorks(database));
    const inWork = Promise.withResolvers<void>();
    const frozen = Promise.withResolvers<void>();
    const transaction = sql.begin(async (tx) => {
      await tx`SELECT 1`;
      inWork.resolve();
      await frozen.promise;
    });
    await inWork.promise;
    const thaw = await freeze(server);
    frozen.resolve();
    const startedAt = performance.now();
    const statements = Array.from({ length: 30 }, (_, index) => sql`SELECT ${index}::int`);
    const begins = [sql.begin((tx) => tx`SELECT 1`), sql.begin(async () => {})];
    const outcomes = await Promise.allSettled([transaction, ...statements, ...begins]);
    const elapsedMs = performance.now() - startedAt;
    thaw();
    expect(outcomes.map(({ status }) => status)).not.toContain("fulfilled");
    expect(elapsedMs).toBeLessThan(databaseDeadlineMs + 200);
    await until(() => everyConnectionWorks(database), 3_000);
  }, 30_000);

  test("ends a statement that runs too long, save in a transaction that asked for longer", async () => {
    const { sql } = database;
    const short = sql`SELECT pg_sleep(${databaseDeadlineMs / 1_000})`.catch(String);
    const long = sql.begin(async (tx) => {
      await allowStatements(60_000, tx);
      await tx`SELECT pg_sleep(${databaseDeadlineMs / 1_000})`;
      return "done";
    });
    expect(await short).toContain("statement timeout");
    expect(await long).toBe("done");
  }, 30_000);

  test("closes the connections that a burst opened and nobody used for a while, and keeps the one that is used", async () => {
    const clock = new ManualClock();
    await using burst = openPostgres({ url: new Secret(server.url), applicationName: "weir burst", clock });
    await Promise.all(Array.from({ length: 3 }, () => burst.sql`SELECT pg_sleep(0.1)`));
    const connections = async () =>
      (await database.sql`SELECT FROM pg_stat_activity WHERE application_name = 'weir burst'`).length;
    expect(await connections()).toBe(3);
    clock.advance(databaseSessionIdleMsMax);
    await burst.sql`SELECT 1`;
    expect(await connections()).toBe(3);
    clock.advance(1);
    await burst.sql`SELECT 1`;
    await until(async () => (await connections()) === 1);
  });

  test("refuses after a second in line when every connection is taken", async () => {
    const { sql } = database;
    const holders = Array.from({ length: databaseConnectionsMax }, () => sql`SELECT pg_sleep(2)`.then(() => "held"));
    expect(await sql`SELECT 1`.catch(String)).toContain("No database connection became free");
    expect(await Promise.all(holders)).toEqual(holders.map(() => "held"));
  });
});

async function everyConnectionWorks(database: OpenDatabase): Promise<boolean> {
  return (await outcomesOf(database)).every((status) => status === "fulfilled");
}

async function outcomesOf({ sql }: OpenDatabase): Promise<string[]> {
  const statements = Array.from({ length: 2 * databaseConnectionsMax }, () => sql`SELECT pg_sleep(0.01)`);
  return (await Promise.allSettled(statements)).map(({ status }) => status);
}

test("a connection that breaks right after its greeting rejects its statement, and nothing that nobody waits for", async () => {
  const authenticatedAndReady = Buffer.from("R\0\0\0\b\0\0\0\0Z\0\0\0\x05I", "latin1");
  let greeted = 0;
  await using server = await new RawServer((socket) => {
    if (++greeted === 1) socket.write(authenticatedAndReady);
    else socket.destroy();
  }).listen();
  const unawaited: unknown[] = [];
  const note = (reason: unknown): void => void unawaited.push(reason);
  process.on("unhandledRejection", note);
  const url = new Secret(`postgres://weir:key@127.0.0.1:${server.port}/weir`);
  await using database = openPostgres({ url, applicationName: "weir test", clock: systemClock });
  expect(await database.sql`SELECT 1`.catch(String)).toBe("Error: The connection to the database was lost");
  await until(() => server.connections.every(({ destroyed }) => destroyed));
  await new Promise((resolve) => setTimeout(resolve, 0));
  process.off("unhandledRejection", note);
  expect(unawaited).toEqual([]);
});
