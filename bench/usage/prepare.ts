/** The database of the usage part. It is loaded once and kept in bench/.data; an interrupted load continues. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { migrate, readMigrations } from "../../src/backing/migrate.ts";
import { GenerationsMonths } from "../../src/gateway/metering/store.ts";
import { rollUpUsage } from "../../src/gateway/usage/roll-up.ts";
import { systemClock, type Clock } from "../../src/kernel/clock.ts";
import { newGenerationId } from "../../src/kernel/ids.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { createDatabase, databaseExists, dropDatabases, renameDatabase, tidy } from "../data/store.ts";
import { connect } from "../lists/prepare.ts";
import * as plan from "./plan.ts";
import * as store from "./store.ts";

type Say = (line: string) => void;

/** Of everything that asks: the end of the data, so that its last minute is not rolled up, as in a running service. */
export function clockOfData(): Clock {
  const end = plan.monthStarts().at(-1) ?? 0;
  return { ...systemClock, now: () => end - 1 };
}

/** @param url the server's URL. @returns the URL of the loaded database */
export async function preparedUsage(url: string, say: Say): Promise<string> {
  const name = await databaseName();
  await using server = connect(url);
  if (await databaseExists(name, server)) return databaseUrl(url, name);
  const loading = `${name}_loading`;
  if (!(await databaseExists(loading, server))) {
    await dropDatabases("usage_%", "", server);
    await createDatabase(loading, server);
    await bringToSchema(databaseUrl(url, loading));
  }
  const startedAt = performance.now();
  await load(databaseUrl(url, loading), say);
  await rollUp(databaseUrl(url, loading), say);
  await renameDatabase(loading, name, server);
  say(`prepared in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
  return databaseUrl(url, name);
}

/** Each plan and each schema has its own database. */
async function databaseName(): Promise<string> {
  const texts = ["plan.ts", "store.ts"].map((file) => readFileSync(join(import.meta.dir, file), "utf8"));
  const schema = JSON.stringify(await readMigrations());
  return `usage_${createHash("sha256")
    .update([...texts, schema].join("\0"))
    .digest("hex")
    .slice(0, 16)}`;
}

async function bringToSchema(url: string): Promise<void> {
  await using database = openPostgres({ url: new Secret(url), applicationName: "bench", clock: systemClock });
  await migrate(database.sql);
  const months = new GenerationsMonths(database.sql);
  await months.make(plan.monthStarts().map((ms) => ({ generation: newGenerationId(ms), admittedAt: ms })));
}

async function load(url: string, say: Say): Promise<void> {
  await using sql = connect(url, { connection: { synchronous_commit: "off" } });
  const loaded = await store.loadedGenerations(sql);
  if (loaded === 0) await store.insertCustomers(sql);
  for (let from = loaded; from < plan.generations; from += plan.batch) {
    say(`loading generations (once; they stay in bench/.data): ${from} of ${plan.generations}`);
    await store.insertGenerations({ from, to: Math.min(from + plan.batch, plan.generations) }, sql);
  }
  say("tidying up");
  await tidy(sql);
}

/** As metering does. */
async function rollUp(url: string, say: Say): Promise<void> {
  say("rolling usage up");
  const clock = clockOfData();
  {
    await using database = openPostgres({ url: new Secret(url), applicationName: "bench", clock });
    await rollUpUsage({ sql: database.sql, clock }, { rowsMax: plan.rollUpRows });
  }
  say("tidying up");
  await using sql = connect(url);
  await tidy(sql);
}

function databaseUrl(url: string, database: string): string {
  const made = new URL(url);
  made.pathname = `/${database}`;
  return made.href;
}
