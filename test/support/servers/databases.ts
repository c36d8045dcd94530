/** Fresh databases with the schema, opened as the service opens them: embedded, and on a PostgreSQL server if there is one. */
import { join } from "node:path";
import type { Database } from "../../../src/backing/backing.ts";
import { openPostgres } from "../../../src/backing/postgres/postgres.ts";
import { openEmbeddedPostgres } from "../../../src/backing/embedded/postgres.ts";
import { migrate } from "../../../src/backing/migrate.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { atEnd } from "../processes/at-end.ts";
import { emptyDatabase, schemaDigest } from "./empty-database.ts";
import { copyEmbeddedDatabase, createMigratedDatabase } from "./prepared-databases.ts";
import { temporaryFolder, testServices } from "./services.ts";

export interface TestDatabase extends AsyncDisposable {
  sql: Database;
}

interface Embedded {
  database: TestDatabase;
  schema: string;
}

let embedded: Promise<Embedded> | null = null;

async function startEmbedded(): Promise<Embedded> {
  const folder = join(await temporaryFolder("database"), "postgres");
  await copyEmbeddedDatabase(folder);
  const database = await openEmbeddedPostgres({ folder, clock: systemClock, log: silentLog });
  atEnd(() => database[Symbol.asyncDispose]());
  return { database, schema: await schemaDigest(database.sql) };
}

/** Empty, and used by one test at a time: PGlite takes longer to open another data folder than to empty this one. */
export async function openEmbeddedDatabase(): Promise<TestDatabase> {
  const { database, schema } = await (embedded ??= startEmbedded());
  const { sql } = database;
  if ((await schemaDigest(sql)) === schema) await emptyDatabase(sql);
  else {
    await sql.unsafe("DROP SCHEMA public CASCADE; CREATE SCHEMA public").simple();
    await migrate(sql);
  }
  return { sql, async [Symbol.asyncDispose]() {} };
}

interface ServerDatabase {
  url: string;
  schema: string;
  /** Stays connected, since a connection costs more CPU time than emptying. */
  cleaner: TestDatabase;
}

/** Empty databases of earlier tests. */
const free: ServerDatabase[] = [];

async function openServerDatabase(server: string): Promise<TestDatabase> {
  const { url, schema, cleaner } = free.pop() ?? (await createServerDatabase(server));
  const database = openAt(url);
  return {
    sql: database.sql,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      if ((await schemaDigest(cleaner.sql)) !== schema) return cleaner[Symbol.asyncDispose]();
      await emptyDatabase(cleaner.sql);
      free.push({ url, schema, cleaner });
    },
  };
}

async function createServerDatabase(server: string): Promise<ServerDatabase> {
  const created = await createMigratedDatabase(server);
  atEnd(() => created[Symbol.asyncDispose]());
  const cleaner = openAt(created.url);
  atEnd(() => cleaner[Symbol.asyncDispose]());
  return { url: created.url, schema: await schemaDigest(cleaner.sql), cleaner };
}

function openAt(url: string): TestDatabase {
  return openPostgres({ url: new Secret(url), applicationName: "weir tests", clock: systemClock });
}

interface DatabaseKind {
  name: string;
  /** Empty, with the whole schema. */
  open: () => Promise<TestDatabase>;
  /**
   * false: the embedded database, where a PostgreSQL server runs the rest. It runs the same SQL at several times the CPU time, so files
   * with many cases give it those that show the store on it, and leave the others to PostgreSQL.
   */
  runsAll: boolean;
}

const services = await testServices();
const server = services?.urls.DATABASE_URL ?? null;
const embeddedKind: DatabaseKind = {
  name: "the embedded database",
  open: openEmbeddedDatabase,
  runsAll: server === null,
};

/** For `describe.each`: a promise holds on every database. */
export const databases: DatabaseKind[] =
  server === null
    ? [embeddedKind]
    : [
        embeddedKind,
        {
          name: "PostgreSQL",
          open: () => openServerDatabase(server),
          runsAll: true,
        },
      ];

/** Where each case runs once: PostgreSQL, or the embedded database on a machine without a server. */
export const oneDatabase = databases.filter(({ runsAll }) => runsAll);
