/** Measures questions about usage over ten million generations, and compares some answers with sums of the generations themselves. */
import { join } from "node:path";
import type postgres from "postgres";
import { findServers } from "../../scripts/services/find-servers.ts";
import { startPostgres } from "../../scripts/services/postgres.ts";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import type { Database } from "../../src/backing/backing.ts";
import { selectCallerIds } from "../../src/accounts/keys/store.ts";
import { chartSeriesDefault, usageRowsDefault } from "../../src/gateway/limits.ts";
import { type ChartFields, showChart } from "../../src/gateway/usage/chart.ts";
import { keyUsage, type ReadKeyUsage, showUsage } from "../../src/gateway/usage/usage.ts";
import type { UsageView } from "../../src/gateway/usage/schema.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { parseUsd } from "../../src/kernel/money.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { randomFrom } from "../../test/support/random.ts";
import { connect } from "../lists/prepare.ts";
import { Histogram, type Summary } from "../load/histogram.ts";
import { dataFolder } from "../paths.ts";
import { drawQuestion, questionKinds, type Question, type QuestionKind } from "../usage/draw.ts";
import { clockOfData, preparedUsage } from "../usage/prepare.ts";
import { usageNaively } from "../usage/store.ts";

export interface Usage {
  seed: number;
  /** Of each kind. */
  draws: number;
  /** From the question to the answer as JSON, with all calls of the database. */
  answerMs: Partial<Record<QuestionKind, Summary | null>>;
  /** The slowest question of each kind. */
  slowest: { ms: number; question: Question }[];
  /** The number of answers that were compared with a sum of the generations. */
  compared: number;
  differing: string[];
}

export interface UsagePlan {
  /** null: a new seed in each run. */
  seed: number | null;
  say(line: string): void;
}

const draws = 300;
/** Unmeasured questions of each kind, which load the pages into memory that a running service would have there. */
const warmUpDraws = 100;
const comparedEvery = 75;
const operator = { kind: "operator" } as const;

interface Asked {
  sql: Database;
  clock: Clock;
  readKeyUsage: ReadKeyUsage;
}

export async function runUsage({ seed: given, say }: UsagePlan): Promise<Usage> {
  const servers = await findServers();
  if ("missing" in servers) throw new Error(`Cannot start PostgreSQL: ${servers.missing}`);
  const folder = join(dataFolder, "usage/postgres");
  await using server = await startPostgres({ program: servers.postgres, folder, durable: true });
  const url = await preparedUsage(server.url, say);
  const seed = given ?? 1 + Math.floor(Math.random() * 99_999);
  say(`${draws} random questions of each kind, seed ${seed}`);
  const clock = clockOfData();
  await using database = openPostgres({ url: new Secret(url), applicationName: "bench", clock });
  await using naive = connect(url);
  const asked = { sql: database.sql, clock, readKeyUsage: keyUsage({ sql: database.sql, clock }) };
  const measured = new Map<QuestionKind, Measured>();
  for (const kind of questionKinds) {
    const one = await measureKind({ kind, chance: randomFrom(seed) }, asked, naive);
    measured.set(kind, one);
    say(`usage by ${kind}: p50 ${one.answerMs?.p50} ms, p99 ${one.answerMs?.p99} ms; slowest ${JSON.stringify(one.slowest)}`);
  }
  const all = [...measured.values()];
  const answerMs = Object.fromEntries([...measured].map(([kind, one]) => [kind, one.answerMs]));
  return {
    seed,
    draws,
    answerMs,
    slowest: all.map((one) => one.slowest),
    compared: all.reduce((sum, one) => sum + one.compared, 0),
    differing: all.flatMap((one) => one.differing),
  };
}

interface Measured extends Pick<Usage, "compared" | "differing"> {
  answerMs: Summary | null;
  slowest: Usage["slowest"][number];
}

async function measureKind(
  { kind, chance }: { kind: QuestionKind; chance: () => number },
  asked: Asked,
  naive: postgres.Sql,
): Promise<Measured> {
  const times = new Histogram();
  let slowest: Measured["slowest"] | null = null;
  const differing: string[] = [];
  let compared = 0;
  for (let n = -warmUpDraws; n < draws; n++) {
    const question = drawQuestion(kind, chance);
    const startedAt = performance.now();
    const view = await ask(question, asked);
    JSON.stringify(view);
    const ms = performance.now() - startedAt;
    if (n < 0) continue;
    times.add(ms);
    if (slowest === null || ms > slowest.ms) slowest = { ms, question };
    if (n % comparedEvery !== 0) continue;
    compared++;
    if (!(await agrees(view, question, asked, naive))) differing.push(JSON.stringify(question));
  }
  if (slowest === null) throw new Error("No question was drawn");
  return { answerMs: times.summary(), slowest, compared, differing };
}

function ask(question: Question, { sql, clock, readKeyUsage }: Asked): Promise<Pick<UsageView, "total">> {
  const { kind, workspace, key, member, by, tz, from, to } = question;
  const chart = charts[kind];
  if (chart !== undefined) {
    const shared = {
      actor: operator,
      workspace,
      key,
      member,
      model: null,
      provider: null,
      fields: { ...chart, tz, from, to, before: "true" as const },
    };
    return showChart({ ...shared, seriesMax: chartSeriesDefault, rowsMax: usageRowsDefault }, { sql, clock });
  }
  const fields = { by, tz, from, to };
  if (kind === "a key holder's" && key !== null) return readKeyUsage({ workspace, key, fields });
  const all = { actor: operator, workspace, key, member, model: null, fields, rowsMax: usageRowsDefault, seriesMax: null };
  return showUsage(all, { sql, clock });
}

const charts: Partial<Record<QuestionKind, Pick<ChartFields, "measure" | "by">>> = {
  "a chart by key": { measure: "spend", by: "key" },
  "a chart of codes": { measure: "errors", by: "code" },
  "a chart of times": { measure: "first_token" },
  "a key's chart of times": { measure: "first_token" },
};

async function agrees(
  { total }: Pick<UsageView, "total">,
  question: Question,
  { sql }: Asked,
  naive: postgres.Sql,
): Promise<boolean> {
  const { workspace, key, member, from, to } = question;
  const keys = key !== null ? [key] : member !== null ? await selectCallerIds({ workspace, owner: member }, sql) : null;
  const sums = await usageNaively({ workspace, keys, fromMs: Date.parse(from), toMs: Date.parse(to) }, naive);
  return sums.requests === String(total.requests) && sums.charge === String(parseUsd(total.cost_usd));
}
