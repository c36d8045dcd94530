/**
 * Databases that have the schema before a test opens them. They are made once and then copied, which costs less than every
 * migration.
 */
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import postgres from "postgres";
import { createDatabase } from "../../../scripts/services/postgres.ts";
import { openEmbeddedPostgres } from "../../../src/backing/embedded/postgres.ts";
import type { Database } from "../../../src/backing/backing.ts";
import { migrate, readMigrations } from "../../../src/backing/migrate.ts";
import { openPostgres } from "../../../src/backing/postgres/postgres.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { LockedError, takeLock } from "../../../src/process/lock.ts";
import { repository } from "../processes/process.ts";
import { until } from "../until.ts";

const modules = join(repository, "node_modules");

/** Changes with every migration and every version of PGlite. */
async function digestOfSchema(): Promise<string> {
  const pglite = await readFile(join(modules, "@electric-sql/pglite/package.json"), "utf8");
  return createHash("sha256")
    .update(JSON.stringify([pglite, await readMigrations()]))
    .digest("hex")
    .slice(0, 16);
}

let folder: Promise<string> | null = null;

/** Copies a data folder of the embedded database to `target`, which must not exist. It has the schema and no rows of tests. */
export async function copyEmbeddedDatabase(target: string): Promise<void> {
  await cp(await (folder ??= prepareFolder()), target, { recursive: true });
}

/** How long one process makes it while others wait, also on a busy machine. */
const makeMsMax = 60_000;

/** Kept for later runs in the cache folder that npm's tools use. One process makes it, since that costs seconds of CPU time. */
async function prepareFolder(): Promise<string> {
  const kept = join(modules, ".cache", "weir", `small-test-database-${await digestOfSchema()}`);
  await using stack = new AsyncDisposableStack();
  await until(async () => {
    if (existsSync(kept)) return true;
    const lock = await takeLock(join(dirname(kept), "making")).catch((error: unknown) => {
      if (error instanceof LockedError) return null;
      throw error;
    });
    if (lock !== null) stack.use(lock);
    return lock !== null;
  }, makeMsMax);
  if (!existsSync(kept)) await makeFolder(kept);
  return kept;
}

async function makeFolder(kept: string): Promise<void> {
  const unfinished = `${kept}.${process.pid}`;
  const database = await openEmbeddedPostgres({ folder: unfinished, clock: systemClock, log: silentLog });
  await migrate(database.sql);
  await dropTemplates(database.sql);
  await database[Symbol.asyncDispose]();
  await rename(unfinished, kept);
}

/** Half of the files. Nothing opens these databases, and each copy would have them. */
async function dropTemplates(sql: Database): Promise<void> {
  for (const name of ["template0", "template1"]) {
    await sql.unsafe(`ALTER DATABASE ${name} IS_TEMPLATE false`).simple();
    await sql.unsafe(`DROP DATABASE ${name}`).simple();
  }
}

const templates = new Map<string, Promise<string>>();

export interface ServerDatabase extends AsyncDisposable {
  url: string;
}

/** A new database with the schema on the server of `url`. Disposing it closes its connections. */
export async function createMigratedDatabase(url: string): Promise<ServerDatabase> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const template = templates.get(url) ?? prepareTemplate(url);
  templates.set(url, template);
  await onServer(url, `CREATE DATABASE ${name} TEMPLATE ${await template}`);
  return {
    url: urlOf(url, name),
    async [Symbol.asyncDispose]() {
      await onServer(url, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** The name of the database that `createMigratedDatabase` copies, by its schema. */
export async function nameOfTemplate(): Promise<string> {
  return `test_template_${await digestOfSchema()}`;
}

/** Kept on the server for other processes. The first process that completes it gives it its name. `npm test` begins with one. */
async function prepareTemplate(url: string): Promise<string> {
  const name = await nameOfTemplate();
  const found = await onServer(url, `SELECT FROM pg_database WHERE datname = '${name}'`);
  if (found.length > 0) return name;
  const unfinished = `${name}_${process.pid}`;
  await createDatabase(url, unfinished);
  const unfinishedUrl = new Secret(urlOf(url, unfinished));
  const database = openPostgres({ url: unfinishedUrl, applicationName: "weir tests", clock: systemClock });
  await migrate(database.sql);
  await database[Symbol.asyncDispose]();
  await onServer(url, `ALTER DATABASE ${unfinished} RENAME TO ${name}`).catch(async (error: { code?: string }) => {
    await onServer(url, `DROP DATABASE ${unfinished}`);
    if (error.code !== alreadyThere) throw error;
  });
  return name;
}

const alreadyThere = "42P04";

async function onServer(url: string, statement: string): Promise<readonly unknown[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function urlOf(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
