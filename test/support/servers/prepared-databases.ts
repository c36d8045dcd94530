/**
 * Databases that have the schema before a test opens them. They are made once and then copied, which costs less than every
 * migration.
 */
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { createDatabase } from "../../../scripts/services/postgres.ts";
import { openEmbeddedPostgres } from "../../../src/backing/embedded/postgres.ts";
import type { Database } from "../../../src/backing/backing.ts";
import { migrate, readMigrations, type Migration } from "../../../src/backing/migrate.ts";
import { openPostgres } from "../../../src/backing/postgres/postgres.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { repository } from "../processes/process.ts";

const modules = join(repository, "node_modules");

/** Changes with every migration and every version of PGlite. */
async function digestOfSchema(migrations: Migration[]): Promise<string> {
  const pglite = await readFile(join(modules, "@electric-sql/pglite/package.json"), "utf8");
  return createHash("sha256")
    .update(JSON.stringify([pglite, migrations]))
    .digest("hex")
    .slice(0, 16);
}

let folder: Promise<string> | null = null;

/** Copies a data folder of the embedded database to `target`, which must not exist. It has the schema and no rows of tests. */
export async function copyEmbeddedDatabase(target: string): Promise<void> {
  await cp(await (folder ??= prepareFolder()), target, { recursive: true });
}

/**
 * What `copyEmbeddedDatabase` copies, kept for later runs in the cache folder that npm's tools use. `npm test` makes it before its suites
 * start: several processes may make it at the same time, but each pays for it.
 */
export async function prepareFolder(): Promise<string> {
  const kept = join(modules, ".cache", "weir", `small-test-database-${await digestOfSchema(await readMigrations())}`);
  if (existsSync(kept)) return kept;
  const unfinished = `${kept}.${process.pid}`;
  const database = await openEmbeddedPostgres({ folder: unfinished, clock: systemClock, log: silentLog });
  await migrate(database.sql);
  await dropTemplates(database.sql);
  await database[Symbol.asyncDispose]();
  await rename(unfinished, kept).catch(async (error: unknown) => {
    await rm(unfinished, { recursive: true, force: true });
    if (!existsSync(kept)) throw error;
  });
  return kept;
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
  const template = templates.get(url) ?? prepareTemplate(url, await readMigrations());
  templates.set(url, template);
  await onServer(url, `CREATE DATABASE ${name} TEMPLATE ${await template}`);
  return {
    url: urlOf(url, name),
    async [Symbol.asyncDispose]() {
      await onServer(url, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** Kept on the server for other processes. The first process that completes it gives it its name. */
async function prepareTemplate(url: string, migrations: Migration[]): Promise<string> {
  const name = `test_template_${await digestOfSchema(migrations)}`;
  const found = await onServer(url, `SELECT FROM pg_database WHERE datname = '${name}'`);
  if (found.length > 0) return name;
  const unfinished = `${name}_${process.pid}`;
  await createDatabase(url, unfinished);
  const unfinishedUrl = new Secret(urlOf(url, unfinished));
  const database = openPostgres({ url: unfinishedUrl, applicationName: "weir tests", clock: systemClock });
  await migrate(database.sql, migrations);
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
