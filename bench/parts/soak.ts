/** Runs a minute at 80 % of the ceiling: whether metering keeps up, whether memory is released, and how much the database grows. */
import type { Running } from "../contenders/contender.ts";
import { instantModel } from "../contenders/provider.ts";
import type { Stored } from "../data/store.ts";
import type { Result } from "../load/tally.ts";
import { runLoadProcess } from "../measure/load-process.ts";
import type { Usage } from "../processes/usage.ts";
import { pause } from "../until.ts";
import { openTestbed, type TestbedPlan } from "./testbed.ts";

export interface Soak {
  /** The rate of a closed loop just before. */
  ceilingPerSecond: number;
  /** The rate of the soak: 80 % of the ceiling. */
  perSecond: number;
  result: Result;
  /** From the last answer until the ledger had confirmed everything. */
  lagSeconds: number;
  /** The number of generations without a confirmed settlement, once a second: open ones and ones in transit. */
  unsettled: { second: number; generations: number }[];
  memory: { process: string; idleBytes: number; loadedBytes: number; recoveredBytes: number }[];
  /** The growth of database and write-ahead log per request. */
  stored: Stored;
}

export interface SoakPlan extends TestbedPlan {
  seconds: number;
}

const share = 0.8;
const recoveryMs = 10_000;
const timerStepMs = 1_000;
/** The size of a client pool. A request without a free connection waits, and its latency counts from when it was due. */
const connectionsMax = "256";
/** Measures the last five of 15 s, since a short burst is no ceiling. */
const ceilingWords = ["--connections", "128", "--warm-up", "10", "--seconds", "5"];

export async function runSoak({ seconds, say, ...sizes }: SoakPlan): Promise<Soak> {
  await using testbed = await openTestbed({ say, ...sizes });
  const contender = testbed.weir("hot");
  await using running = await contender.start();
  await pause(1_000);
  const idle = running.usage();
  const words = [...running.target, "--model", contender.model(instantModel)];
  const { result: ceiling } = await runLoadProcess([...words, ...ceilingWords]);
  await running.settled?.();
  await testbed.quiet();
  const perSecond = Math.floor(ceiling.perSecond * share);
  say(`soak: ${seconds} s at ${perSecond} /s, 80 % of ${ceiling.perSecond} /s`);
  const storedBefore = await testbed.stored();
  const rate = ["--rate", String(perSecond), "--connections-max", connectionsMax, "--warm-up", "2"];
  const looking = pause(seconds * 800).then(() => running.usage());
  const watching = watchUnsettled(running);
  const { result } = await runLoadProcess([...words, ...rate, "--seconds", String(seconds)], {
    onProgress: (line) => say(`soak: ${line}`),
  });
  const settledAt = (await running.settled?.()) ?? Number.NaN;
  const unsettled = await watching.end();
  const lagSeconds = (settledAt - result.lastEndedAt) / 1_000;
  say(`soak: p99 ${result.latencyMs?.p99} ms; the ledger had everything after ${lagSeconds} s`);
  const stored = grownBy({ before: storedBefore, after: await testbed.stored(), requests: result.endedInAll });
  await pause(recoveryMs);
  const memory = memoryOf({ idle, loaded: await looking, recovered: running.usage() });
  await running.verify?.(say);
  return { ceilingPerSecond: ceiling.perSecond, perSecond, result, lagSeconds, unsettled, memory, stored };
}

/** Reads the gauge once a second, until `end`. */
function watchUnsettled(running: Running): { end(): Promise<Soak["unsettled"]> } {
  const startedAt = performance.now();
  const found: Soak["unsettled"] = [];
  let ended = false;
  const look = async (): Promise<void> => {
    const generations = (await running.unsettled?.()) ?? 0;
    found.push({ second: (performance.now() - startedAt) / 1_000, generations });
  };
  const looking = (async () => {
    for (; !ended; await pause(timerStepMs)) await look();
  })();
  return {
    async end() {
      ended = true;
      await looking;
      await look();
      return found;
    },
  };
}

function grownBy({ before, after, requests }: { before: Stored; after: Stored; requests: number }): Stored {
  const each = (read: (stored: Stored) => number) => Math.round((read(after) - read(before)) / requests);
  return { databaseBytes: each((stored) => stored.databaseBytes), logBytes: each((stored) => stored.logBytes) };
}

type Usages = Record<string, Usage>;

function memoryOf({ idle, loaded, recovered }: { idle: Usages; loaded: Usages; recovered: Usages }): Soak["memory"] {
  return Object.entries(idle).map(([process, { residentBytes }]) => {
    const bytesIn = (usages: Usages) => usages[process]?.residentBytes ?? 0;
    return { process, idleBytes: residentBytes, loadedBytes: bytesIn(loaded), recoveredBytes: bytesIn(recovered) };
  });
}
