/** Measures lists over a million findings: random calls, the database's time for each, and the cost of a scan's writes. */
import { join } from "node:path";
import type postgres from "postgres";
import { listFindings } from "../../src/security/findings/lists/list-findings.ts";
import { listVulnerabilities } from "../../src/security/findings/lists/list-vulnerabilities.ts";
import type { OperationParts } from "../../src/security/operation.ts";
import { findServers } from "../../scripts/services/find-servers.ts";
import { startPostgres } from "../../scripts/services/postgres.ts";
import { drawCall, naiveOf, type Draw } from "../lists/draw.ts";
import * as plan from "../lists/plan.ts";
import { connect, preparedLists } from "../lists/prepare.ts";
import * as store from "../lists/store.ts";
import { Histogram, type Summary } from "../load/histogram.ts";
import { tidy } from "../data/store.ts";
import { dataFolder } from "../paths.ts";
import { randomFrom } from "../../test/support/random.ts";

export interface Lists {
  seed: number;
  draws: number;
  /** The time of all statements of a call, as the server reports it, and of the whole call. */
  databaseMs: Summary | null;
  callMs: Summary | null;
  slowest: { databaseMs: number; call: Omit<Draw, "depth">; offset: number }[];
  /** The number of answers that were compared with a naive query. */
  compared: number;
  differing: string[];
  /** Writes a new project with as many findings as a document may have, in transactions like those of a scan. */
  scan: { findings: number; transactions: number; seconds: number; transactionMs: Summary | null };
}

export interface ListsPlan {
  /** null: a new seed in each run. */
  seed: number | null;
  say(line: string): void;
}

const draws = 1_000;
/** Unmeasured calls of another seed, which load the pages into memory that a running service would have there. */
const warmUpDraws = 300;
const comparedEvery = 40;

export async function runLists({ seed: given, say }: ListsPlan): Promise<Lists> {
  const servers = await findServers();
  if ("missing" in servers) throw new Error(`Cannot start PostgreSQL: ${servers.missing}`);
  await using server = await startPostgres({
    program: servers.postgres,
    folder: join(dataFolder, "lists/postgres"),
    durable: true,
  });
  const url = await preparedLists(server.url, say);
  const seed = given ?? 1 + Math.floor(Math.random() * 99_999);
  say(`${draws} random calls, seed ${seed}`);
  const drawn = await measureDraws(url, seed);
  say(`p99 ${drawn.databaseMs?.p99} ms in the database, ${drawn.differing.length} of ${drawn.compared} compared answers differ`);
  const scan = await measureScan(url);
  say(`${scan.findings} findings written in ${scan.seconds.toFixed(1)} s, the longest transaction ${scan.transactionMs?.max} ms`);
  return { seed, draws, ...drawn, scan };
}

async function measureDraws(
  url: string,
  seed: number,
): Promise<Pick<Lists, "databaseMs" | "callMs" | "slowest" | "compared" | "differing">> {
  const chance = randomFrom(seed);
  let databaseMs = 0;
  const onnotice = ({ message = "" }: postgres.Notice): void => void (databaseMs += durationIn(message));
  await using timed = connect(url, { onnotice });
  await using naive = connect(url);
  await store.reportDurations(timed);
  const [database, whole] = [new Histogram(), new Histogram()];
  const slowest: Lists["slowest"] = [];
  const differing: string[] = [];
  await warm(timed, seed + 1);
  for (let n = 0; n < draws; n++) {
    const { depth, ...call } = drawCall(chance);
    const offset = await offsetAt(depth, call, timed);
    databaseMs = 0;
    const startedAt = performance.now();
    const answer = await ask(call, offset, timed);
    whole.add(performance.now() - startedAt);
    database.add(databaseMs);
    slowest.push({ databaseMs, call, offset });
    if (n % comparedEvery === 0 && !(await agrees(answer, { ...call, depth }, offset, naive)))
      differing.push(JSON.stringify({ call, offset }));
  }
  const compared = Math.ceil(draws / comparedEvery);
  const worst = slowest.toSorted((one, other) => other.databaseMs - one.databaseMs).slice(0, 5);
  return { databaseMs: database.summary(), callMs: whole.summary(), slowest: worst, compared, differing };
}

async function warm(sql: postgres.Sql, seed: number): Promise<void> {
  const chance = randomFrom(seed);
  for (let n = 0; n < warmUpDraws; n++) {
    const { depth, ...call } = drawCall(chance);
    await ask(call, await offsetAt(depth, call, sql), sql);
  }
}

/** @param depth the position within the whole list, from 0 to 1 */
async function offsetAt(depth: number, call: Omit<Draw, "depth">, sql: postgres.Sql): Promise<number> {
  const { total } = await ask({ ...call, input: { ...call.input, limit: 1 } }, 0, sql);
  return Math.floor(depth * total);
}

/** The duration in a line such as `duration: 0.213 ms  execute x: SELECT …`, else 0. */
function durationIn(message: string): number {
  return Number(/^duration: ([\d.]+) ms/.exec(message)?.[1] ?? 0);
}

interface Answer {
  total: number;
  ids: unknown[];
}

async function ask({ list, inventory, scope, input }: Omit<Draw, "depth">, offset: number, sql: postgres.Sql): Promise<Answer> {
  const operation = list === "findings" ? listFindings : listVulnerabilities;
  const actor = { kind: "member", email: "bench", role: "member", carriedBy: "tools key" } as const;
  const caller = { key: "key-lists", workspace: inventory.workspace, actor, scope } as const;
  const call = { input: { ...input, offset }, caller, isForMcp: false, attachment: null, sbom: null, parts: partsOf(sql) };
  const { data } = await operation.run(call);
  const rows = data[list] as Record<string, unknown>[];
  return { total: Number(data["total"]), ids: rows.map((row) => row[list === "findings" ? "id" : "cve_id"]) };
}

/** Lists use only the database. */
function partsOf(sql: postgres.Sql): OperationParts {
  return { sql } as unknown as OperationParts;
}

async function agrees(answer: Answer, draw: Draw, offset: number, sql: postgres.Sql): Promise<boolean> {
  const question = naiveOf(draw, offset);
  const expected =
    draw.list === "findings" ? await store.findingsNaively(question, sql) : await store.vulnerabilitiesNaively(question, sql);
  return JSON.stringify(answer) === JSON.stringify(expected);
}

/** Writes the findings next to a million others, and deletes them afterwards. */
async function measureScan(url: string): Promise<Lists["scan"]> {
  await using sql = connect(url);
  const project = { number: 100_000, inventory: plan.scored };
  await store.deleteProject(project.number, sql);
  const latencies = new Histogram();
  const startedAt = performance.now();
  await store.insertProject(project, sql);
  const transactions = plan.sbomFindingsMax / plan.scanFindings;
  for (let n = 0; n < transactions; n++) {
    const begunAt = performance.now();
    const from = n * plan.scanFindings;
    const portion = { project, from, count: plan.scanFindings, first: 7 * from, at: new Date(), apartMs: 0 };
    await store.insertFindings(portion, sql);
    latencies.add(performance.now() - begunAt);
  }
  await store.insertOccurrences(project.number, sql);
  const seconds = (performance.now() - startedAt) / 1_000;
  await store.deleteProject(project.number, sql);
  // A server does this by itself within minutes. Without it, the next run would read the rows that this one left.
  await tidy(sql);
  return { findings: plan.sbomFindingsMax, transactions, seconds, transactionMs: latencies.summary() };
}
