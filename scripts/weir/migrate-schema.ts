/** Brings a fleet's database to the schema of this version, before its processes start. */
import { migrate, readMigrations } from "../../src/backing/migrate.ts";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import type { Secret } from "../../src/kernel/secret.ts";
import type { LocalAnswer } from "./verb.ts";

export async function migrateSchema(url: Secret): Promise<LocalAnswer> {
  await using database = openPostgres({ url, applicationName: "weir migrate", clock: systemClock });
  try {
    const applied = await migrate(database.sql);
    const newest = (await readMigrations()).at(-1)?.name ?? null;
    const text = applied.length === 0 ? `The database is up to date: ${newest}` : `Applied:\n${applied.join("\n")}`;
    return { body: { ok: true, applied, newest }, text, errors: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { body: { ok: false, error: message }, text: "", errors: [`weir: The database cannot be migrated: ${message}`] };
  }
}
