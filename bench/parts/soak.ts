/** A minute at 80 % of the ceiling: whether metering keeps up, and whether memory comes back. */
import type { Running } from "../contenders/contender.ts";
import { instantModel } from "../contenders/provider.ts";
import { modelId } from "../contenders/weir.ts";
import type { Result } from "../load/tally.ts";
import { runLoadProcess } from "../measure/load-process.ts";
import { pause } from "../until.ts";
import { openSetting, type SettingPlan } from "./setting.ts";

export interface Soak {
  ceilingPerSecond: number;
  perSecond: number;
  result: Result;
  /** From the last answer until the ledger had confirmed everything. */
  lagSeconds: number;
  memory: { process: string; idleBytes: number; loadedBytes: number; recoveredBytes: number }[];
}

export interface SoakPlan extends SettingPlan {
  seconds: number;
}

const share = 0.8;
const recoveryMs = 10_000;
/** As a pool of clients has; a request that finds none free waits, and its latency counts from when it was due. */
const connectionsMax = "256";
const ceilingCounts = ["8", "32", "128"];

export async function runSoak({ seconds, say, ...sizes }: SoakPlan): Promise<Soak> {
  await using setting = await openSetting({ say, ...sizes });
  await using running = await setting.weir("hot").start();
  await pause(1_000);
  const idle = running.usage();
  const ceilingPerSecond = await findCeiling(running, say);
  const perSecond = Math.floor(ceilingPerSecond * share);
  say(`soak: ${seconds} s at ${perSecond} /s, 80 % of ${ceilingPerSecond} /s`);
  const loading = runLoadProcess(
    [
      ...wordsFor(running),
      "--rate",
      String(perSecond),
      "--connections-max",
      connectionsMax,
      "--warm-up",
      "2",
      "--seconds",
      String(seconds),
    ],
    (line) => say(`soak: ${line}`),
  );
  const looking = pause(seconds * 800).then(() => running.usage());
  const { result } = await loading;
  const lagSeconds = Number(((await running.settled?.()) ?? Number.NaN).toFixed(3));
  say(`soak: p99 ${result.latencyMs?.p99} ms; the ledger had everything after ${lagSeconds} s`);
  const loaded = await looking;
  await pause(recoveryMs);
  const recovered = running.usage();
  await running.verify?.(say);
  const memory = Object.entries(idle).map(([process, { residentBytes: idleBytes }]) => {
    return {
      process,
      idleBytes,
      loadedBytes: loaded[process]?.residentBytes ?? 0,
      recoveredBytes: recovered[process]?.residentBytes ?? 0,
    };
  });
  return { ceilingPerSecond, perSecond, result, lagSeconds, memory };
}

function wordsFor({ target }: Running): string[] {
  return [...target, "--model", modelId(instantModel)];
}

async function findCeiling(running: Running, say: (line: string) => void): Promise<number> {
  let best = 0;
  for (const count of ceilingCounts) {
    const { result } = await runLoadProcess([...wordsFor(running), "--connections", count, "--warm-up", "2", "--seconds", "4"]);
    say(`ceiling with ${count} connections: ${result.perSecond} /s`);
    if (result.failedInAll === 0) best = Math.max(best, result.perSecond);
  }
  return best;
}
