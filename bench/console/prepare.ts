/** The database of the console part. It is loaded once and kept in bench/.data; each run gets a copy. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { migrate, readMigrations } from "../../src/backing/migrate.ts";
import { GenerationsMonths } from "../../src/gateway/metering/store.ts";
import { verifyLedger } from "../../src/gateway/metering/verify.ts";
import { rollUpUsage } from "../../src/gateway/usage/roll-up.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { mintKey, newGenerationId, newKeyId } from "../../src/kernel/ids.ts";
import { Secret } from "../../src/kernel/secret.ts";
import * as data from "../data/store.ts";
import { connect } from "../lists/prepare.ts";
import * as lists from "../lists/store.ts";
import { dataFolder, root } from "../paths.ts";
import * as generations from "./generations-store.ts";
import * as plan from "./plan.ts";
import * as security from "./security-store.ts";

type Say = (line: string) => void;

/** One full key a line, for the load generator. */
export const consoleKeysFile = join(dataFolder, "keys/console.txt");

/** @param url the server's URL. @returns the URL of a copy of the loaded database for one run */
export async function freshConsoleCopy(url: string, say: Say): Promise<string> {
  const name = await databaseName();
  await using server = connect(url);
  if (!existsSync(consoleKeysFile) || !(await data.databaseExists(name, server))) await prepare({ url, name, say });
  say("copying the prepared database");
  await data.copyDatabase({ from: name, to: "run" }, server);
  await data.checkpoint(server);
  return databaseUrl(url, "run");
}

/** Each plan and each schema has its own database. */
async function databaseName(): Promise<string> {
  const files = readdirSync(import.meta.dir).filter((name) => /^plan\.ts$|store\.ts$|^prepare\.ts$/.test(name));
  const texts = files.toSorted().map((name) => readFileSync(join(import.meta.dir, name), "utf8"));
  const schema = JSON.stringify(await readMigrations());
  return `console_${createHash("sha256")
    .update([...texts, schema].join("\0"))
    .digest("hex")
    .slice(0, 16)}`;
}

async function prepare({ url, name, say }: { url: string; name: string; say: Say }): Promise<void> {
  const startedAt = performance.now();
  say("loading 2 million generations and 1 million findings (once; they stay in bench/.data)");
  await using server = connect(url);
  await data.dropDatabases("console_%", "", server);
  const loading = `${name}_loading`;
  await data.createDatabase(loading, server);
  const loadingUrl = databaseUrl(url, loading);
  const nowMs = Date.now();
  await bringToSchema(loadingUrl, nowMs);
  {
    // Nothing needs to be on disk before the end.
    await using sql = connect(loadingUrl, { connection: { synchronous_commit: "off", work_mem: "256MB" } });
    await loadGenerations(nowMs, sql, say);
    await loadSecurity(sql, say);
    say("tidying up");
    await data.tidy(sql);
  }
  await finish(loadingUrl, say);
  await data.renameDatabase(loading, name, server);
  say(`prepared in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
}

async function bringToSchema(url: string, nowMs: number): Promise<void> {
  await using database = openPostgres({ url: new Secret(url), applicationName: "bench", clock: systemClock });
  await migrate(database.sql);
  const months = new GenerationsMonths(database.sql);
  const times = [nowMs - plan.days * 86_400_000, nowMs, nowMs + plan.days * 86_400_000];
  await months.make(times.map((admittedAt) => ({ generation: newGenerationId(admittedAt), admittedAt })));
}

async function loadGenerations(nowMs: number, sql: postgres.Sql, say: Say): Promise<void> {
  const keys = mintKeys(nowMs);
  await generations.insertPeople(sql);
  await generations.insertKeys(keys, sql);
  await generations.insertCredit(sql);
  say("drawing the facts of generations");
  await generations.makeGenerations({ keys, nowMs }, sql);
  for (let from = 0; from < plan.generations; from += plan.batch) {
    say(`loading generations: ${from} of ${plan.generations}`);
    await generations.insertGenerations({ from, to: Math.min(from + plan.batch, plan.generations) }, sql);
  }
  say("loading ledger entries and totals");
  await generations.insertEntries(sql);
  await security.insertAudit(sql);
  await security.insertConnections(connectorIds(), sql);
  await security.insertProviderKeys(sql);
  await security.insertPayments(sql);
  await security.insertRefusals(sql);
}

function mintKeys(nowMs: number): data.PreparedKey[] {
  const { large, others } = plan.keys;
  const minted = Array.from({ length: large + others }, () => mintKey("platform"));
  const active = minted.filter((_, n) => (n + 1) % plan.revokedEvery !== 0);
  mkdirSync(join(dataFolder, "keys"), { recursive: true });
  writeFileSync(consoleKeysFile, active.map(({ full }) => `${full}\n`).join(""), { mode: 0o600 });
  return minted.map(({ hash, start, lastFour }, n) => {
    const place = n < large ? 0 : 1 + ((n - large) % (plan.workspaces - 1));
    return { id: newKeyId(nowMs), workspace: plan.workspaceId(place), hash, start, lastFour };
  });
}

function connectorIds(): string[] {
  const folder = join(root, "catalog-data/connectors");
  const names = readdirSync(folder).toSorted().slice(0, plan.connections);
  return names.map((name) => String(JSON.parse(readFileSync(join(folder, name), "utf8")).id));
}

async function loadSecurity(sql: postgres.Sql, say: Say): Promise<void> {
  say("loading vulnerabilities");
  await lists.insertProducts(plan.inventories, sql);
  await lists.insertPackages(sql);
  await lists.insertVulnerabilities(sql);
  await security.insertNames(sql);
  await sql`ANALYZE`;
  await loadFindings(sql, say);
  say("loading components, history and tickets");
  await security.insertComponents(sql);
  await security.insertEcosystems(sql);
  await security.insertHistory(sql);
  await security.insertTickets(sql);
}

const reportMs = 5_000;

async function loadFindings(sql: postgres.Sql, say: Say): Promise<void> {
  let first = 0;
  let reportedAt = 0;
  await sql.begin(async (tx) => {
    await security.silenceTriggers(tx);
    for (const project of plan.plannedProjects()) {
      await lists.insertProject(project, tx);
      const at = new Date(Date.UTC(2026, 0, 1) + project.number * 3_600_000);
      await lists.insertFindings({ project, from: 0, count: project.findings, first, at, apartMs: 0 }, tx);
      first += project.findings;
      if (performance.now() - reportedAt < reportMs) continue;
      reportedAt = performance.now();
      say(`loading findings: ${first} of ${plan.findings}`);
    }
    say("adding up what lists keep of findings");
    await security.addUpLists(tx);
  });
}

/** Rolls usage up as metering would have done. @throws Error when the loaded money does not add up */
async function finish(url: string, say: Say): Promise<void> {
  await using database = openPostgres({ url: new Secret(url), applicationName: "bench", clock: systemClock });
  say("rolling usage up");
  await rollUpUsage({ sql: database.sql, clock: systemClock });
  const onChecked = ({ invariant, rows }: { invariant: string; rows: number }) => say(`verified ${invariant} over ${rows} rows`);
  const { broken } = await verifyLedger({ sql: database.sql, onChecked });
  if (broken !== null) throw new Error(`The prepared data violates ${broken.invariant}: ${broken.detail}`);
}

function databaseUrl(url: string, database: string): string {
  const made = new URL(url);
  made.pathname = `/${database}`;
  return made.href;
}
