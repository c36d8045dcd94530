/** The hot path: how many requests a second, at what cost, and how much later than the provider alone. */
import type { Contender, Running } from "../contenders/contender.ts";
import { installPortkey, portkey } from "../contenders/portkey.ts";
import { bareProxy, direct, instantModel, type Provider } from "../contenders/provider.ts";
import { modelId } from "../contenders/weir.ts";
import { runLoadProcess } from "../measure/load-process.ts";
import { measure, type Measurement } from "../measure/measure.ts";
import { pause } from "../until.ts";
import { openSetting, type SettingPlan } from "./setting.ts";

export interface HotPathPlan extends SettingPlan {
  rounds: number;
  seconds: number;
}

export interface HotPath {
  measurements: Measurement[];
  /** Seconds until the ledger had confirmed everything after the last load of each turn. */
  lagSeconds: Record<string, number[]>;
}

/** The ceiling is the best of these; one in flight tells the added latency. */
export const ceilingConnections = [8, 32, 128];
const connectionCounts = [1, ...ceilingConnections];
/** Far below everybody's ceiling, so that latency is the way's and not a queue's. */
export const openLoopRate = 200;
const warmUpSeconds = 1;
const wakeConnections = 64;
const restMs = 1_000;

export async function runHotPath(plan: HotPathPlan): Promise<HotPath> {
  const { rounds, say } = plan;
  await installPortkey(say);
  await using setting = await openSetting(plan);
  const { provider } = setting;
  const contenders = [direct(provider), bareProxy(provider), portkey(provider), setting.weir("hot"), setting.weir("spread")];
  const found: HotPath = { measurements: [], lagSeconds: {} };
  for (let round = 1; round <= rounds; round++) {
    // Every second round goes backwards, so that nobody always comes after the same one.
    for (const contender of round % 2 === 1 ? contenders : contenders.toReversed()) {
      await takeTurn({ contender, provider, round, plan, found });
      await setting.quiet();
      await pause(restMs);
    }
  }
  return found;
}

interface Turn {
  contender: Contender;
  provider: Provider;
  round: number;
  plan: HotPathPlan;
  found: HotPath;
}

async function takeTurn(turn: Turn): Promise<void> {
  const { contender, round, plan, found } = turn;
  await using running = await contender.start();
  await measureAll(turn, running);
  const lag = await running.settled?.();
  if (lag !== undefined) (found.lagSeconds[contender.name] ??= []).push(Number(lag.toFixed(3)));
  if (round === plan.rounds) await running.verify?.(plan.say);
}

async function measureAll({ contender, provider, round, plan, found }: Turn, running: Running): Promise<void> {
  const model = contender.name.startsWith("Weir") ? modelId(instantModel) : instantModel;
  const always = ["--model", model, "--warm-up", String(warmUpSeconds), "--seconds", String(plan.seconds)];
  const waking = ["--model", model, "--warm-up", "0", "--seconds", String(contender.wakeSeconds)];
  await runLoadProcess([...running.target, ...waking, "--connections", String(wakeConnections)]);
  const loads = [
    ...connectionCounts.map((count) => ({ load: `${count} connections`, words: ["--connections", String(count)] })),
    { load: `${openLoopRate}/s`, words: ["--rate", String(openLoopRate)] },
  ];
  for (const { load, words } of loads) {
    const measured = await measure({ contender: contender.name, running, provider, load, words: [...always, ...words], round });
    found.measurements.push(measured);
    const { perSecond, failedInAll, latencyMs } = measured.result;
    const failures = failedInAll > 0 ? `, ${failedInAll} FAILED ${JSON.stringify(measured.result.codes)}` : "";
    plan.say(
      `round ${round}/${plan.rounds} ${contender.name}, ${load}: ${perSecond} /s, p50 ${latencyMs?.p50} ms, p99 ${latencyMs?.p99} ms${failures}`,
    );
  }
}
