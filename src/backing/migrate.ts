/**
 * Brings a database to the schema of this version: migrations/*.sql in the order of their names, each exactly once, the missing ones in one
 * transaction. Processes take a lock one after another, so any number may start at once. An applied migration that was changed, or one that
 * this version does not know, is an error: the two do not match, and a person has to decide. Other processes of a fleet wait for the first
 * schema and need not be started in order.
 */
import { hash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Type, type Static } from "@sinclair/typebox";
import { sleep, withDeadline, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { type Database, type Transaction, allowStatements } from "./backing.ts";
import { migrationMsMax, schemaLookMs, schemaLookMsMax } from "./limits.ts";

/** The database and this version do not match; a person has to decide. */
export class MigrationError extends Error {
  override name = "MigrationError";
}

export interface Migration {
  name: string;
  text: string;
}

/** The transaction lock that migrating processes take one after another: "weir" in ASCII. */
const lockNumber = 0x77656972;

/**
 * Applies the missing migrations in one transaction: all of them or none.
 * @returns the names of those that were applied
 * @throws MigrationError when an applied migration was changed, or is unknown to this version
 */
export async function migrate(sql: Database, migrations?: Migration[]): Promise<string[]> {
  const known = migrations ?? (await readMigrations());
  return await sql.begin(async (tx) => {
    await allowStatements(migrationMsMax, tx);
    await tx`SELECT set_config('lock_timeout', '0', true)`;
    await tx`SELECT pg_advisory_xact_lock(${lockNumber})`;
    await tx.unsafe(
      "CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, sha256 text NOT NULL, at timestamptz NOT NULL DEFAULT now())",
    );
    const missing = await findMissing(tx, known);
    for (const migration of missing) await apply(tx, migration);
    return missing.map(({ name }) => name);
  });
}

export async function readMigrations(): Promise<Migration[]> {
  const folder = new URL("./migrations/", import.meta.url);
  const names = (await readdir(fileURLToPath(folder))).filter((name) => name.endsWith(".sql")).toSorted();
  return await Promise.all(names.map(async (name) => ({ name, text: await readFile(new URL(name, folder), "utf8") })));
}

async function findMissing(tx: Transaction, known: Migration[]): Promise<Migration[]> {
  const rows = await tx<{ name: string; sha256: string }[]>`SELECT name, sha256 FROM migrations ORDER BY name`;
  const applied = new Map(rows.map(({ name, sha256 }) => [name, sha256]));
  const names = new Set(known.map(({ name }) => name));
  for (const { name } of rows) {
    if (names.has(name)) continue;
    throw new MigrationError(
      `The database has migration "${name}", which this version of Weir does not know: start the version that applied it`,
    );
  }
  for (const migration of known) {
    const sha256 = applied.get(migration.name);
    if (sha256 === undefined || sha256 === hash("sha256", migration.text)) continue;
    throw new MigrationError(
      `Migration "${migration.name}" was changed after it had been applied to this database: restore its text and add a new one`,
    );
  }
  return known.filter(({ name }) => !applied.has(name));
}

async function apply(tx: Transaction, migration: Migration): Promise<void> {
  await tx.unsafe(migration.text);
  await tx`INSERT INTO migrations (name, sha256) VALUES (${migration.name}, ${hash("sha256", migration.text)})`;
}

// Comparing a database with this version

export const SchemaView = Type.Object({
  newest: Type.Union([Type.String(), Type.Null()], {
    description: "The last migration that the database has; null: it has none",
  }),
  missing: Type.Array(Type.String(), { description: "Migrations of this version that the database lacks" }),
  unknown: Type.Array(Type.String(), { description: "Migrations of the database that this version does not know" }),
});
export type SchemaView = Static<typeof SchemaView>;

/** Compares the database with this version. @throws when the database does not answer */
export async function readSchemaState(sql: Database): Promise<SchemaView> {
  const known = (await readMigrations()).map(({ name }) => name);
  const [table] = await sql<{ exists: boolean }[]>`SELECT to_regclass('migrations') IS NOT NULL AS exists`;
  const rows = table?.exists ? await sql<{ name: string }[]>`SELECT name FROM migrations ORDER BY name` : [];
  const applied = rows.map(({ name }) => name);
  return {
    newest: applied.at(-1) ?? null,
    missing: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}

/**
 * Whether the database is empty, as at a fleet's first start; a gateway or `weir migrate` fills it. @returns false also when it does not
 * answer
 */
export async function isWithoutSchema(sql: Database, clock: Clock): Promise<boolean> {
  const look = sql<{ empty: boolean }[]>`SELECT to_regclass('migrations') IS NULL AS empty`;
  try {
    const [row] = await withDeadline(clock, schemaLookMsMax, "The database's answer", look);
    return row?.empty ?? false;
  } catch {
    return false;
  }
}

/**
 * Resolves when the database has a schema, or at once if it does not answer: the parts of a process try again by themselves.
 * @param signal ends the wait
 */
export async function untilSchema(
  { sql, clock, log }: { sql: Database; clock: Clock; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  for (let looks = 0; !signal.aborted && (await isWithoutSchema(sql, clock)); looks++) {
    if (looks === 0) log.info({ event: "schema.awaited" }, "The database is empty: waiting for a gateway to make its tables");
    await sleep(clock, schemaLookMs, signal);
  }
}
