/** Fresh databases with the schema, opened like the service opens them: embedded, and on a PostgreSQL server if there is one. */
import { join } from "node:path";
import type { Database } from "../../../src/backing/backing.ts";
import { openPostgres } from "../../../src/backing/postgres/postgres.ts";
import { openEmbeddedPostgres } from "../../../src/backing/embedded/postgres.ts";
import { migrate } from "../../../src/backing/migrate.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { atEnd } from "../processes/at-end.ts";
import { copyEmbeddedDatabase, createMigratedDatabase } from "./prepared-databases.ts";
import { temporaryFolder, testServices } from "./services.ts";

export interface TestDatabase extends AsyncDisposable {
  sql: Database;
}

let embedded: Promise<TestDatabase> | null = null;

async function startEmbedded(): Promise<TestDatabase> {
  const folder = join(await temporaryFolder("database"), "postgres");
  await copyEmbeddedDatabase(folder);
  const database = await openEmbeddedPostgres({ folder, clock: systemClock, log: silentLog });
  atEnd(() => database[Symbol.asyncDispose]());
  return database;
}

/** Empty, and used by one test at a time: PGlite takes longer to open another data folder than to empty this one. */
export async function openEmbeddedDatabase(): Promise<TestDatabase> {
  const { sql } = await (embedded ??= startEmbedded());
  await sql.unsafe("DROP SCHEMA public CASCADE; CREATE SCHEMA public").simple();
  await migrate(sql);
  return { sql, async [Symbol.asyncDispose]() {} };
}

async function openServerDatabase(server: string): Promise<TestDatabase> {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await createMigratedDatabase(server));
  const { sql } = stack.use(openPostgres({ url: new Secret(url), applicationName: "weir tests", clock: systemClock }));
  const kept = stack.move();
  return { sql, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

const services = await testServices();

/** For `describe.each`: a promise holds on every database. */
export const databases: { name: string; open: () => Promise<TestDatabase> }[] = [
  { name: "the embedded database", open: openEmbeddedDatabase },
  ...(services === null ? [] : [{ name: "PostgreSQL", open: () => openServerDatabase(services.urls.DATABASE_URL) }]),
];
