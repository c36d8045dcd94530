/** Measures the first pages of the log among 20 million generations: of a workspace, a key, a member and a model. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { findServers } from "../../scripts/services/find-servers.ts";
import { startPostgres } from "../../scripts/services/postgres.ts";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { migrate, readMigrations } from "../../src/backing/migrate.ts";
import { listGenerations } from "../../src/gateway/generations/generations.ts";
import { GenerationsMonths } from "../../src/gateway/metering/store.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { newGenerationId } from "../../src/kernel/ids.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { randomFrom } from "../../test/support/random.ts";
import { createDatabase, databaseExists, dropDatabases, renameDatabase, tidy } from "../data/store.ts";
import { connect } from "../lists/prepare.ts";
import * as lists from "../lists/store.ts";
import { Histogram, type Summary } from "../load/histogram.ts";
import * as plan from "../log/plan.ts";
import * as store from "../log/store.ts";
import { dataFolder } from "../paths.ts";

export type LogOf = "workspace" | "key" | "member" | "model";

export interface Log {
  seed: number;
  draws: number;
  /** The time of all statements of a call, as the server reports it. */
  databaseMs: Record<LogOf, Summary | null>;
}

export interface LogPlan {
  /** null: a new seed in each run. */
  seed: number | null;
  say(line: string): void;
}

const draws = 1_000;
const operator = { kind: "operator" } as const;

export async function runLog({ seed: given, say }: LogPlan): Promise<Log> {
  const servers = await findServers();
  if ("missing" in servers) throw new Error(`Cannot start PostgreSQL: ${servers.missing}`);
  const folder = join(dataFolder, "log/postgres");
  await using server = await startPostgres({ program: servers.postgres, folder, durable: true });
  const url = await preparedLog(server.url, say);
  const seed = given ?? 1 + Math.floor(Math.random() * 99_999);
  say(`${draws} random pages of each kind, seed ${seed}`);
  const databaseMs: Log["databaseMs"] = { workspace: null, key: null, member: null, model: null };
  for (const kind of ["workspace", "key", "member", "model"] as const) {
    databaseMs[kind] = await measurePages(kind, { url, seed });
    say(`the log of a ${kind}: p50 ${databaseMs[kind]?.p50} ms, p99 ${databaseMs[kind]?.p99} ms in the database`);
  }
  return { seed, draws, databaseMs };
}

/** Asks for all pages twice and measures the second time, with rows in memory: the first measures the disk. */
async function measurePages(kind: LogOf, { url, seed }: { url: string; seed: number }): Promise<Summary | null> {
  let databaseMs = 0;
  const onnotice = ({ message = "" }: postgres.Notice): void => {
    databaseMs += Number(/^duration: ([\d.]+) ms/.exec(message)?.[1] ?? 0);
  };
  await using sql = connect(url, { onnotice, types: { bigint: postgres.BigInt } });
  await lists.reportDurations(sql);
  const askAll = async (times: Histogram): Promise<void> => {
    const chance = randomFrom(seed);
    for (let n = 0; n < draws; n++) {
      databaseMs = 0;
      await askPage(kind, chance, sql);
      times.add(databaseMs);
    }
  };
  await askAll(new Histogram());
  const times = new Histogram();
  await askAll(times);
  return times.summary();
}

/** Half of the pages are the newest, the others begin at any time. Half of the workspaces are the large one. */
async function askPage(kind: LogOf, chance: () => number, sql: postgres.Sql): Promise<void> {
  const draw = (count: number) => Math.floor(chance() * count);
  const isLarge = chance() < 0.5;
  const workspace = isLarge ? plan.large : plan.workspaceId(1 + draw(plan.workspaces - 1));
  const starts = store.monthStarts();
  const [first = 0, end = 0] = [starts[0], starts.at(-1)];
  const before = chance() < 0.5 ? null : newGenerationId(Math.floor(first + chance() * (end - first)));
  const page = { before, model: kind === "model" ? plan.modelId(draw(plan.models)) : null, fromMs: null, toMs: null, limit: 100 };
  const key = plan.keyId(isLarge ? draw(plan.keys.large) : plan.keys.large + draw(plan.keys.others));
  const filter = {
    workspace: kind === "member" ? plan.large : workspace,
    key: kind === "key" ? key : null,
    member: kind === "member" ? plan.member(draw(plan.membersOfLarge)) : null,
    status: null,
    code: null,
    endpoint: null,
    provider: null,
  };
  await listGenerations({ actor: operator, filter, page }, { sql: sql as never, clock: systemClock });
}

/** @param url the server's URL. @returns the URL of the loaded database, which an interrupted load continues */
async function preparedLog(url: string, say: LogPlan["say"]): Promise<string> {
  const name = await databaseName();
  await using server = connect(url);
  const made = new URL(url);
  made.pathname = `/${name}`;
  if (await databaseExists(name, server)) return made.href;
  const loading = `${name}_loading`;
  made.pathname = `/${loading}`;
  if (!(await databaseExists(loading, server))) {
    await dropDatabases("log_%", "", server);
    await createDatabase(loading, server);
    await bringToSchema(made.href);
  }
  await load(made.href, say);
  await renameDatabase(loading, name, server);
  made.pathname = `/${name}`;
  return made.href;
}

/** Each plan and each schema has its own database. */
async function databaseName(): Promise<string> {
  const texts = ["plan.ts", "store.ts"].map((file) => readFileSync(join(import.meta.dir, "../log", file), "utf8"));
  const schema = JSON.stringify(await readMigrations());
  return `log_${createHash("sha256")
    .update([...texts, schema].join("\0"))
    .digest("hex")
    .slice(0, 16)}`;
}

async function bringToSchema(url: string): Promise<void> {
  await using database = openPostgres({ url: new Secret(url), applicationName: "bench", clock: systemClock });
  await migrate(database.sql);
  const months = new GenerationsMonths(database.sql);
  await months.make(store.monthStarts().map((ms) => ({ generation: newGenerationId(ms), admittedAt: ms })));
}

async function load(url: string, say: LogPlan["say"]): Promise<void> {
  await using sql = connect(url, { connection: { synchronous_commit: "off" } });
  const loaded = await store.loadedGenerations(sql);
  if (loaded === 0) await store.insertCustomers(sql);
  for (let from = loaded === 0 ? 0 : loaded + 1; from < plan.generations; from += plan.batch) {
    say(`loading generations (once; they stay in bench/.data): ${from} of ${plan.generations}`);
    await store.insertGenerations({ from, to: Math.min(from + plan.batch, plan.generations) }, sql);
  }
  say("tidying up");
  await tidy(sql);
}
