/**
 * Measures 2,000 open streams: how late events arrive, and the memory of an open stream.
 *
 * In production clients and providers run on other machines. On only two cores, the kernel sometimes runs the relay and one of them on
 * the same core for up to 0.2 s while the other core is idle, which makes 1 % of the events late. So client and provider run on the core
 * of the admission worker and its servers, and the relaying thread has the other core.
 */
import { shareCore, takeFirstCore } from "../../scripts/services/share-core.ts";
import type { Contender, Running } from "../contenders/contender.ts";
import { bareProxy, instantModel, pacedModel } from "../contenders/provider.ts";
import type { CurvePoint, Summary } from "../load/histogram.ts";
import type { Loaded } from "../measure/load-generator.ts";
import { runLoadProcess } from "../measure/load-process.ts";
import type { Usage } from "../processes/usage.ts";
import { pause } from "../until.ts";
import { openTestbed, type TestbedPlan } from "./testbed.ts";

export interface StreamTurn {
  contender: string;
  round: number;
  lateness: Summary | null;
  latenessCurve: CurvePoint[];
  firstEvent: Summary | null;
  gap: Summary | null;
  /** Resident bytes of the relaying processes: the bare relay, or all gateways. */
  idleBytes: number;
  loadedBytes: number;
  recoveredBytes: number;
  /** CPU seconds a second by process, from the first stream to the end of the last; 1 is a whole core. */
  cores: Record<string, number>;
  failed: number;
  codes: Record<string, number>;
}

export interface Streams {
  turns: StreamTurn[];
  /** For each round, Weir's p99 of the lateness of events minus the bare relay's, in milliseconds. */
  addedLatenessMs: number[];
  /** For each round, the memory that 2,000 streams add to Weir's gateways, divided by that for the bare relay. */
  memoryRatio: number[];
}

export interface StreamPlan extends TestbedPlan {
  rounds: number;
  streams: number;
}

const rampSeconds = 4;
const measuredSeconds = 12;
/** When memory is read: within the measured time, well after the start of the last stream. */
const lookAfterMs = 10_000;
const restMs = 3_000;
const recoveryMs = 5_000;
/** The warm-up before the idle memory is read: it compiles code and opens connections, without the memory of many streams. */
const warmUpArguments = ["--stream", "--connections", "8", "--warm-up", "0", "--seconds", "5", "--model"];

export async function runStreams(plan: StreamPlan): Promise<Streams> {
  await using testbed = await openTestbed(plan);
  shareCore([testbed.provider.pid]);
  const contenders = [bareProxy(testbed.provider), testbed.weir("spread")];
  const turns: StreamTurn[] = [];
  for (let round = 1; round <= plan.rounds; round++) {
    for (const contender of round % 2 === 1 ? contenders : contenders.toReversed()) {
      const turn = await takeTurn(contender, round, plan);
      turns.push(turn);
      await testbed.quiet();
      const { lateness, idleBytes, loadedBytes, failed, codes } = turn;
      const grown = ((loadedBytes - idleBytes) / 2 ** 20).toFixed(0);
      const failures = failed > 0 ? `, ${failed} FAILED ${JSON.stringify(codes)}` : "";
      plan.say(`round ${round}/${plan.rounds} ${contender.name}: lateness p99 ${lateness?.p99} ms, ${grown} MiB more${failures}`);
    }
  }
  return { turns, ...compare(turns) };
}

async function takeTurn(contender: Contender, round: number, { streams, rounds, say }: StreamPlan): Promise<StreamTurn> {
  await using running = await contender.start();
  if (running.front !== undefined) takeFirstCore(running.front);
  await runLoadProcess([...running.target, ...warmUpArguments, contender.model(instantModel)], { sharesCore: true });
  await pause(restMs);
  const idleBytes = relayBytes(running);
  const before = running.usage();
  const startedAt = performance.now();
  const opening = ["--connections", String(streams), "--ramp", String(rampSeconds), "--warm-up", String(rampSeconds + 1)];
  const answers = [
    "--stream",
    "--seconds",
    String(measuredSeconds),
    "--model",
    contender.model(pacedModel),
    "--max-tokens",
    "1024",
  ];
  const loading = runLoadProcess([...running.target, ...opening, ...answers], { sharesCore: true });
  await pause(lookAfterMs);
  const loadedBytes = relayBytes(running);
  const { result } = await loading;
  const cores = coresBetween({ before, after: running.usage(), seconds: (performance.now() - startedAt) / 1_000 });
  await running.settled?.();
  await pause(recoveryMs);
  const recoveredBytes = relayBytes(running);
  if (round === rounds) await running.verify?.(say);
  return { contender: contender.name, round, ...latenessOf(result), cores, idleBytes, loadedBytes, recoveredBytes };
}

function latenessOf({ eventLatenessMs, eventLatenessCurve, firstEventMs, gapMs, failedInAll, codes }: Loaded["result"]) {
  const lateness = { lateness: eventLatenessMs, latenessCurve: eventLatenessCurve };
  return { ...lateness, firstEvent: firstEventMs, gap: gapMs, failed: failedInAll, codes };
}

interface Span {
  before: Record<string, Usage>;
  after: Record<string, Usage>;
  seconds: number;
}

function coresBetween({ before, after, seconds }: Span): Record<string, number> {
  const cores = ([name, { cpuSeconds }]: [string, Usage]) => (cpuSeconds - (before[name]?.cpuSeconds ?? 0)) / seconds;
  return Object.fromEntries(Object.entries(after).map((one) => [one[0], Number(cores(one).toFixed(3))]));
}

function relayBytes(running: Running): number {
  return Object.entries(running.usage())
    .filter(([name]) => /^(bare proxy|gateway)/.test(name))
    .reduce((sum, [, { residentBytes }]) => sum + residentBytes, 0);
}

function compare(turns: StreamTurn[]): Pick<Streams, "addedLatenessMs" | "memoryRatio"> {
  const bare = turns.filter(({ contender }) => contender === "bare proxy").toSorted((one, other) => one.round - other.round);
  const pairs = bare.flatMap((turn) => {
    const own = turns.find(({ contender, round }) => contender !== "bare proxy" && round === turn.round);
    return own === undefined ? [] : [{ bare: turn, own }];
  });
  const grown = ({ loadedBytes, idleBytes }: StreamTurn) => loadedBytes - idleBytes;
  return {
    addedLatenessMs: pairs.map(({ bare, own }) => (own.lateness?.p99 ?? Number.NaN) - (bare.lateness?.p99 ?? Number.NaN)),
    memoryRatio: pairs.map(({ bare, own }) => grown(own) / grown(bare)),
  };
}
