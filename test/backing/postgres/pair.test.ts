/** Several hosts in DATABASE_URL and a replica in DATABASE_READ_URL, on a real primary and its standby. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPostgres, openPostgresPair } from "../../../src/backing/postgres/postgres.ts";
import { databaseReadLagMsMax } from "../../../src/backing/limits.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { startPostgresPair, type PostgresPair } from "../../support/clusters/postgres-pair.ts";
import { temporaryFolder, testServers } from "../../support/servers/services.ts";
import { until } from "../../support/until.ts";

const servers = await testServers();

describe.skipIf(servers === null)("a primary of PostgreSQL and its standby", () => {
  const stack = new AsyncDisposableStack();
  let pair: PostgresPair;
  const parts = { applicationName: "weir test", clock: systemClock, log: silentLog };

  beforeAll(async () => {
    if (servers === null) return;
    pair = stack.use(await startPostgresPair({ program: servers.postgres, folder: await temporaryFolder("pair") }));
  }, 60_000);
  afterAll(() => stack.disposeAsync(), 30_000);

  test("reads go to the replica while it keeps up, and to the primary while it is behind or away", async () => {
    await using database = openPostgresPair({
      ...parts,
      url: new Secret(pair.primary.url),
      readUrl: new Secret(pair.standby.url),
    });
    const { sql, reads } = database;
    await sql`CREATE TABLE read_notes (id bigint PRIMARY KEY)`;
    const isReplica = async () => (await reads`SELECT pg_is_in_recovery() AS here`)[0]?.["here"];
    await until(isReplica);
    expect((await sql`SELECT pg_is_in_recovery() AS here`)[0]?.["here"]).toBe(false);

    await using standby = openPostgres({ ...parts, url: new Secret(pair.standby.url) });
    await standby.sql`SELECT pg_wal_replay_pause()`;
    await sql`INSERT INTO read_notes VALUES (1)`;
    await until(async () => !(await isReplica()), databaseReadLagMsMax + 3_000);
    expect(await reads`SELECT id FROM read_notes`).toHaveLength(1);
    await standby.sql`SELECT pg_wal_replay_resume()`;
    await until(isReplica);

    await pair.standby.kill("SIGQUIT");
    expect(await reads`SELECT id FROM read_notes`).toHaveLength(1);
    await pair.standby.restart();
    await until(isReplica);
  }, 30_000);

  test("statements find the host that takes writes, and follow a promotion within three seconds", async () => {
    await using database = openPostgres({ ...parts, url: new Secret(pair.url) });
    const { sql } = database;
    await sql`CREATE TABLE notes (id bigint PRIMARY KEY)`;
    const write = async (id: number) => (await sql`INSERT INTO notes VALUES (${id}) ON CONFLICT DO NOTHING`).count;
    await Promise.all([1, 2, 3].map(write));
    await pair.caughtUp();
    await pair.primary.kill("SIGQUIT");
    await expect(write(4)).rejects.toThrow();
    const promotedAt = performance.now();
    await pair.promote();
    await until(() => write(4).then(Boolean, () => false), 3_000);
    expect(performance.now() - promotedAt).toBeLessThan(3_000);
    expect(await sql`SELECT id FROM notes`).toHaveLength(4);
  }, 30_000);

  test("a server that stops taking writes is left, although it goes on answering", async () => {
    await using database = openPostgres({ ...parts, url: new Secret(pair.standby.url) });
    const { sql } = database;
    await sql`CREATE TABLE later_notes (id bigint)`;
    await sql`ALTER SYSTEM SET default_transaction_read_only = on`;
    await sql`SELECT pg_reload_conf()`;
    const before = (await sql`SELECT pg_backend_pid() AS pid`)[0]?.["pid"];
    await until(() =>
      sql`INSERT INTO later_notes VALUES (1)`.then(
        () => false,
        () => true,
      ),
    );
    expect((await sql`SELECT pg_backend_pid() AS pid`)[0]?.["pid"]).not.toBe(before);
  }, 30_000);
});
