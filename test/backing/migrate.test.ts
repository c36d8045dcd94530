import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateSchema } from "../../scripts/weir/verbs/service.ts";
import type { Database } from "../../src/backing/backing.ts";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { openEmbeddedPostgres } from "../../src/backing/embedded/postgres.ts";
import { isWithoutSchema, untilSchema, migrate, type Migration } from "../../src/backing/migrate.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { serversMissing, openPostgresServer } from "./servers.ts";

interface Opened extends AsyncDisposable {
  sql: Database;
  /** Another connection to the same database; null where there is only one. */
  other: Database | null;
  /** null: the embedded database. */
  url: Secret | null;
}

async function openEmbedded(): Promise<Opened> {
  const home = await mkdtemp(join(tmpdir(), "weir-migrate-"));
  const database = await openEmbeddedPostgres({ folder: join(home, "postgres"), clock: systemClock, log: silentLog });
  return {
    sql: database.sql,
    other: null,
    url: null,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function openServer(): Promise<Opened> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await openPostgresServer({ isEmpty: true }));
  const [one, two] = [0, 1].map(() =>
    stack.use(openPostgres({ url: new Secret(server.url), applicationName: "test", clock: systemClock })),
  );
  const kept = stack.move();
  if (!one || !two) throw new Error("Two connections were to be opened");
  return { sql: one.sql, other: two.sql, url: new Secret(server.url), [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

const kinds = [
  { name: "the embedded database", open: openEmbedded, skipped: false },
  { name: "a PostgreSQL server", open: openServer, skipped: serversMissing },
];

for (const { name, open, skipped } of kinds) {
  describe.skipIf(skipped)(`migrating ${name}`, () => {
    let opened: Opened;
    beforeAll(async () => void (opened = await open()), 60_000);
    afterAll(() => opened[Symbol.asyncDispose]());

    test("applies what is missing once, also when two processes start together", async () => {
      const handles = [opened.sql, opened.other].filter((sql) => sql !== null);
      expect(await isWithoutSchema(opened.sql, systemClock)).toBe(true);
      const waiting = untilSchema({ sql: opened.sql, clock: systemClock, log: silentLog }, new AbortController().signal);
      const applied = await Promise.all(handles.map((sql) => migrate(sql)));
      expect(applied.flat().filter((file) => file === "0001-accounts.sql")).toHaveLength(1);
      expect(await migrate(opened.sql)).toEqual([]);
      await waiting;
    });

    test("keeps the ledger append-only, even for a superuser", async () => {
      await opened.sql`INSERT INTO workspaces (id, name) VALUES ('ws-1', 'one')`;
      await opened.sql`INSERT INTO credit_accounts (workspace_id) VALUES ('ws-1')`;
      await opened.sql`INSERT INTO ledger_entries VALUES ('ws-1', 1, 'credit', 5, 5, 'first')`;
      expect(await failureOf(opened.sql`UPDATE ledger_entries SET amount_nano = 6`)).toContain("append-only");
      expect(await failureOf(opened.sql`DELETE FROM ledger_entries`)).toContain("append-only");
      expect(await failureOf(opened.sql`TRUNCATE ledger_entries`)).toContain("append-only");
    });

    test("keeps charges final, even for a superuser", async () => {
      const row = (id: string, fields: string) =>
        opened.sql.unsafe(`
        INSERT INTO generations (generation_id, entry, outcome, reserved_nano, cost_nano, excess_nano, cost_pico, admitted_at, prompt_tokens,
          cached_tokens, completion_tokens, duration_ms, status, late, streamed, usage_estimated, request_id, workspace_id, key_id,
          model, provider)
        SELECT first_generation_id(now()) || '${id}', ${fields}, 5, 0, 5000, now(), 1, 0, 1, 1, 200, false, false, false, 'req-1', 'ws-1',
          'key-1', 'model', 'provider'`);
      await row("settled", "2, 'settled', 5");
      expect(await failureOf(row("outside", "NULL, 'unknown', 5"))).toContain("generations_check");
      for (const change of [
        "cost_nano = 6",
        "entry = 3",
        "workspace_id = 'ws-2'",
        "key_id = 'key-2'",
        "excess_nano = 1",
        "late = true",
      ]) {
        expect(await failureOf(opened.sql.unsafe(`UPDATE generations SET ${change}`))).toContain("final: UPDATE refused");
      }
      expect(await failureOf(opened.sql`DELETE FROM generations`)).toContain("final: DELETE refused");
      expect(await failureOf(opened.sql`TRUNCATE generations`)).toContain("final: TRUNCATE refused");
      const [month] = await opened.sql<{ name: string }[]>`SELECT DISTINCT tableoid::regclass::text AS name FROM generations`;
      expect(await failureOf(opened.sql`TRUNCATE ${opened.sql(month?.name ?? "")}`)).toContain("final: TRUNCATE refused");
      await opened.sql`UPDATE generations SET model = 'renamed'`;
    });

    test("refuses a migration that was changed after it had been applied", async () => {
      await opened.sql`DROP TABLE migrations`;
      const migrations = [migration("1.sql", "CREATE TABLE first ()")];
      await migrate(opened.sql, migrations);
      const changed = [migration("1.sql", "CREATE TABLE first (id int)")];
      expect(await failureOf(migrate(opened.sql, changed))).toContain('MigrationError: Migration "1.sql" was changed');
    });

    test("refuses a database with a migration that the code does not know", async () => {
      await migrate(opened.sql, [migration("1.sql", "CREATE TABLE first ()"), migration("2.sql", "CREATE TABLE second ()")]);
      const older = migrate(opened.sql, [migration("1.sql", "CREATE TABLE first ()")]);
      expect(await failureOf(older)).toContain(
        'MigrationError: The database has migration "2.sql", which this version of Weir does not know',
      );
    });

    test("leaves nothing of a migration that fails, nor of those before it", async () => {
      const known = [migration("1.sql", "CREATE TABLE first ()"), migration("2.sql", "CREATE TABLE second ()")];
      const bad = [...known, migration("3.sql", "CREATE TABLE third ()"), migration("4.sql", "CREATE TABLE fourth (; nonsense")];
      expect(await failureOf(migrate(opened.sql, bad))).toContain("syntax error");
      expect(await opened.sql`SELECT 1 FROM pg_tables WHERE tablename IN ('third', 'fourth')`).toHaveLength(0);
      expect(await migrate(opened.sql, known)).toEqual([]);
    });

    test("weir migrate says what it applied, that nothing is missing, and what failed", async () => {
      if (opened.url === null) return;
      const refused = await migrateSchema(opened.url);
      expect(refused.body["ok"]).toBe(false);
      expect(refused.errors.join()).toContain("which this version of Weir does not know");
      await opened.sql.unsafe("DROP SCHEMA public CASCADE; CREATE SCHEMA public").simple();
      const { text, body } = await migrateSchema(opened.url);
      expect(text).toStartWith("Applied:\n0001-accounts.sql\n");
      expect(await migrateSchema(opened.url)).toMatchObject({ body: { ok: true, applied: [], newest: body["newest"] } });
    });
  });
}

function migration(name: string, text: string): Migration {
  return { name, text };
}

/** The error as text; `expect().rejects` waits in a way that lets no message from another thread in. */
function failureOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(() => "nothing failed", String);
}
