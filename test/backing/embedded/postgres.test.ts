import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  EmbeddedDatabaseError,
  openEmbeddedPostgres,
  keepUp,
  type OpenEmbedded,
} from "../../../src/backing/embedded/postgres.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { allowStatements } from "../../../src/backing/backing.ts";
import { embeddedStatementMsMax, upkeepWalBytesMax } from "../../../src/backing/limits.ts";
import { copyEmbeddedDatabase } from "../../support/servers/prepared-databases.ts";

describe("the embedded PostgreSQL", () => {
  let home: string;
  let folder: string;
  const open = (at: string = folder) => openEmbeddedPostgres({ folder: at, clock: systemClock, log: silentLog });

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "weir-embedded-"));
    folder = join(home, "data", "postgres");
    await copyEmbeddedDatabase(folder);
  }, 60_000);
  afterAll(() => rm(home, { recursive: true, force: true }));

  describe("while it is open", () => {
    let database: OpenEmbedded;
    beforeAll(async () => void (database = await open()), 60_000);
    afterAll(() => database[Symbol.asyncDispose]());

    test("gives bigint as bigint, numeric as text, and errors with their SQLSTATE", async () => {
      const { sql } = database;
      const [row] = await sql`SELECT 9007199254740993::bigint AS id, 0.1000::numeric AS amount, ARRAY[1, 2]::bigint[] AS numbers`;
      expect(row).toEqual({ id: 9_007_199_254_740_993n, amount: "0.1000", numbers: [1n, 2n] });
      const failure: unknown = await sql`SELECT 1 / ${0}::int`.catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "22012" });
      expect(await sql`SELECT 1 AS one`).toHaveLength(1);
    });

    test("carries a megabyte there and back, and many statements at once in order", async () => {
      const { sql } = database;
      const text = "weir".repeat(250_000);
      expect((await sql`SELECT ${text}::text AS text`)[0]?.["text"]).toBe(text);
      const rows = await Promise.all(Array.from({ length: 300 }, (_, index) => sql`SELECT ${index}::int AS index`));
      expect(rows.map(([row]) => row?.["index"])).toEqual(rows.map((_, index) => index));
    });

    test("begins a transaction behind any number of statements", async () => {
      const { sql } = database;
      for (let count = 95; count <= 105; count++) {
        const statements = Array.from({ length: count }, (_, index) =>
          sql`SELECT ${index}::int AS index`.then(([row]) => row?.["index"]),
        );
        const begun = sql.begin(async (tx) => (await tx`SELECT ${count}::int AS count`)[0]?.["count"]);
        expect(await begun).toBe(count);
        expect(await Promise.all(statements)).toEqual(statements.map((_, index) => index));
      }
    });

    let before: number | undefined;
    test("keeps nothing of what it answered", async () => {
      const megabytes = () => process.memoryUsage().rss / 1024 / 1024;
      // Many short values, since the parser makes a string of each.
      const ask = () =>
        database.sql`SELECT n::text AS one, (n + 1)::text AS other, 'a' || n AS third FROM generate_series(1, 20000) AS n`.raw();
      for (let n = 0; n < 10; n++) await ask();
      // Measured in the first attempt only: what that one left counts against the next.
      before ??= megabytes();
      for (let n = 0; n < 40; n++) await ask();
      expect(megabytes() - before).toBeLessThan(150);
    }, 60_000);

    test("does not hold up the process while a query runs long", async () => {
      const turns: number[] = [];
      const timer = setInterval(() => turns.push(performance.now()), 5);
      const startedAt = performance.now();
      await database.sql`SELECT count(*) FROM generate_series(1, 3000000)`;
      const tookMs = performance.now() - startedAt;
      clearInterval(timer);
      const gaps = turns.slice(1).map((at, index) => at - (turns[index] ?? at));
      expect(turns.length).toBeGreaterThan(20);
      // Held up, it would have one gap as long as the query. A busy machine has gaps of its own.
      expect(Math.max(...gaps)).toBeLessThan(tookMs / 3);
    });

    test("ends a statement that writes for longer than it may, undoes it, and answers on", async () => {
      const { sql } = database;
      await sql`CREATE TABLE IF NOT EXISTS endless (id integer)`;
      const failure: unknown = await sql
        .begin(async (tx) => {
          await allowStatements(200, tx);
          await tx`INSERT INTO endless SELECT generate_series(1, 100000000)`;
        })
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "57014" });
      expect(await sql`SELECT FROM endless`).toHaveLength(0);
      expect(await sql`SHOW statement_timeout`).toEqual([{ statement_timeout: `${embeddedStatementMsMax / 1_000}s` }] as never);
      await sql`DROP TABLE endless`;
    }, 60_000);

    test("keeps the write-ahead log and dead rows in bounds, for PGlite does not", async () => {
      const { sql } = database;
      await sql`CREATE TABLE heap (id bigint, filler text)`;
      await sql`INSERT INTO heap SELECT n, repeat('x', 1900) FROM generate_series(1, 40000) AS n`;
      await sql`DELETE FROM heap WHERE id % 2 = 0`;
      expect(await unsavedBytes()).toBeGreaterThan(upkeepWalBytesMax);
      await sql`SELECT pg_stat_force_next_flush()`;
      await keepUp(sql);
      await keepUp(sql);
      expect(await unsavedBytes()).toBeLessThan(upkeepWalBytesMax);
      const [table] =
        await sql`SELECT n_dead_tup, last_vacuum IS NOT NULL AS vacuumed FROM pg_stat_user_tables WHERE relname = 'heap'`;
      expect(table).toEqual({ n_dead_tup: 0n, vacuumed: true });

      async function unsavedBytes(): Promise<bigint> {
        const [wal] = await sql`SELECT (pg_current_wal_insert_lsn() - redo_lsn)::bigint AS bytes FROM pg_control_checkpoint()`;
        return wal?.["bytes"];
      }
    }, 30_000);
  });

  test("opens within two seconds the second time, with every row that was acknowledged before a kill -9", async () => {
    for (let round = 0; round < 2; round++) {
      const acknowledged = await writeUntilKilled(folder, 300);
      const startedAt = performance.now();
      await using database = await open();
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      const [row] = await database.sql`SELECT count(*) AS count, max(id) AS last FROM written`;
      expect(row?.["last"]).toBeGreaterThanOrEqual(acknowledged);
      expect(row?.["count"]).toBe(row?.["last"]);
    }
  }, 30_000);

  test("says which folder cannot be opened, and leaves it as it is", async () => {
    const corrupt = join(home, "corrupt");
    await mkdir(corrupt);
    await writeFile(join(corrupt, "PG_VERSION"), "18\n");
    const failure: unknown = await open(corrupt).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EmbeddedDatabaseError);
    expect(String(failure)).toContain(`Cannot open the database in "${corrupt}"`);
    expect(existsSync(join(corrupt, "PG_VERSION"))).toBe(true);
  });

  test("begins anew where a first start was killed before the database was whole", async () => {
    const unfinished = join(home, "first", "postgres.unfinished");
    await mkdir(unfinished, { recursive: true });
    await writeFile(join(unfinished, "PG_VERSION"), "18\n");
    await using database = await open(join(home, "first", "postgres"));
    expect(await database.sql`SELECT 1 AS one`).toHaveLength(1);
  }, 30_000);
});

/** Resolves to the last id that was acknowledged before the process was killed, which is soon after it wrote `count` rows. */
async function writeUntilKilled(folder: string, count: number): Promise<bigint> {
  const writer = spawn(process.execPath, [join(import.meta.dir, "../../support/processes/writing-process.ts"), folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let last = 0n;
  let lines = 0;
  for await (const line of createInterface({ input: writer.stdout })) {
    last = BigInt(line);
    if (++lines === count) writer.kill("SIGKILL");
  }
  return last;
}
