/** The prepared database: loaded once, checked, and copied for every run. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { migrate } from "../../src/backing/migrate.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { mintKey, newKeyId, newWorkspaceId } from "../../src/kernel/ids.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { makeMonthsAhead } from "../../src/gateway/metering/store.ts";
import { rollUpUsage } from "../../src/gateway/usage/roll-up.ts";
import { verifyLedger } from "../../src/gateway/metering/verify.ts";
import { dataFolder, root } from "../paths.ts";
import { planVersion, populations, type Population } from "./plan.ts";
import * as store from "./store.ts";

type Say = (line: string) => void;

const slug = "platform";
const keysFolder = join(dataFolder, "keys");

/** The file with one full key a line, for the load generator. */
export function keysFile(name: Population["name"]): string {
  return join(keysFolder, `${name}.txt`);
}

/** For reading only. @param url the server's URL. @returns the URL of the prepared database, which is loaded if it is missing */
export async function preparedDatabase(url: string, say: Say): Promise<string> {
  return databaseUrl(url, await prepareOnce(url, say));
}

/** @param url the server's URL. @returns the URL of a copy of the prepared database for one run */
export async function freshCopy(url: string, say: Say): Promise<string> {
  const name = await prepareOnce(url, say);
  await using sql = connect(url);
  say("copying the prepared database");
  await store.copyDatabase({ from: name, to: "run" }, sql);
  await store.checkpoint(sql);
  return databaseUrl(url, "run");
}

/** @param url the server's URL. @returns the URL of an empty database */
export async function emptyDatabase(url: string, name: string): Promise<string> {
  await using sql = connect(url);
  await store.dropDatabases(name, "", sql);
  await store.createDatabase(name, sql);
  return databaseUrl(url, name);
}

async function prepareOnce(url: string, say: Say): Promise<string> {
  await using sql = connect(url);
  const name = preparedName();
  const keysThere = populations.every((population) => existsSync(keysFile(population.name)));
  if (!keysThere || !(await store.databaseExists(name, sql))) await prepare({ url, name, say });
  return name;
}

/** Waits until the server has written its dirty pages to the disk. */
export async function settleDisk(url: string): Promise<void> {
  await using sql = connect(url);
  await store.checkpoint(sql);
}

/** @param url the database's URL */
export async function storedIn(url: string): Promise<store.Stored> {
  await using sql = connect(url);
  return await store.readStored(sql);
}

/** Each schema and each plan has its own database. */
function preparedName(): string {
  const folder = join(root, "src/backing/migrations");
  const texts = readdirSync(folder)
    .toSorted()
    .map((file) => readFileSync(join(folder, file), "utf8"));
  const plan = JSON.stringify([planVersion, populations]);
  return `prepared_${createHash("sha256")
    .update([plan, ...texts].join("\0"))
    .digest("hex")
    .slice(0, 16)}`;
}

async function prepare({ url, name, say }: { url: string; name: string; say: Say }): Promise<void> {
  const startedAt = performance.now();
  say("loading 2 million settled generations (once; they stay in bench/.data)");
  await using server = connect(url);
  await store.dropDatabases("prepared_%", "", server);
  const loading = `${name}_loading`;
  await store.createDatabase(loading, server);
  const loadingUrl = databaseUrl(url, loading);
  await bringToSchema(loadingUrl);
  {
    await using sql = connect(loadingUrl);
    for (const population of populations) await load(population, sql, say);
    say("tidying up");
    await store.tidy(sql);
  }
  await rollUp(loadingUrl);
  await verify(loadingUrl, say);
  await store.renameDatabase(loading, name, server);
  say(`prepared in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
}

/** As a service has done long before; else it would do so while something is measured. */
async function rollUp(url: string): Promise<void> {
  await using database = openPostgres({ url: new Secret(url), applicationName: "bench", clock: systemClock });
  await rollUpUsage({ sql: database.sql, clock: systemClock });
}

async function bringToSchema(url: string): Promise<void> {
  await using database = openPostgres({ url: new Secret(url), applicationName: "bench", clock: systemClock });
  await migrate(database.sql);
  await makeMonthsAhead(Date.now(), database.sql);
}

async function load(population: Population, sql: postgres.Sql, say: Say): Promise<void> {
  const keys = mintKeys(population);
  await sql.begin(async (tx) => {
    await store.insertCustomers({ name: population.name, keys }, tx);
    const steps = {
      generations: () => store.makeGenerations(population, keys, tx),
      rows: () => store.insertGenerations(tx),
      "ledger entries": () => store.insertEntries(tx),
      totals: () => store.insertTotals(tx),
    };
    for (const [name, step] of Object.entries(steps)) {
      say(`loading ${population.name}: ${name}`);
      await step();
    }
  });
}

function mintKeys({ name, workspaces, keys }: Population): store.PreparedKey[] {
  const ids = Array.from({ length: workspaces }, () => newWorkspaceId(Date.now()));
  const minted = Array.from({ length: keys }, () => mintKey(slug));
  mkdirSync(keysFolder, { recursive: true });
  writeFileSync(keysFile(name), minted.map(({ full }) => `${full}\n`).join(""), { mode: 0o600 });
  return minted.map(({ hash, start, lastFour }, n) => {
    return { id: newKeyId(Date.now()), workspace: ids[n % ids.length] ?? "", hash, start, lastFour };
  });
}

async function verify(url: string, say: Say): Promise<void> {
  await using database = openPostgres({ url: new Secret(url), applicationName: "bench", clock: systemClock });
  const onChecked = ({ invariant, rows }: { invariant: string; rows: number }) => say(`verified ${invariant} over ${rows} rows`);
  const { broken } = await verifyLedger({ sql: database.sql, onChecked });
  if (broken !== null) throw new Error(`The prepared data violates ${broken.invariant}: ${broken.detail}`);
}

function connect(url: string): postgres.Sql & AsyncDisposable {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) });
}

function databaseUrl(url: string, database: string): string {
  const made = new URL(url);
  made.pathname = `/${database}`;
  return made.href;
}
