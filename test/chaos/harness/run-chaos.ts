/** One run: starts everything, injects faults under load, waits for recovery and for the end of all work, and checks the results. */
import type { Servers } from "../../../scripts/services/find-servers.ts";
import { recoveryMsMax } from "../../invariants/checks/recovery.ts";
import { brokenLines, checkAll, type Result } from "../../invariants/invariants.ts";
import { gather } from "./checks/gather.ts";
import type { RunNotes } from "./checks/notes.ts";
import { untilQuiet } from "./checks/quiet.ts";
import { SpooledBlocks } from "./checks/spooled-blocks.ts";
import { badAnswersOf, recoveryOf, type Recovery } from "./checks/recovery.ts";
import type { Stored } from "./checks/stored.ts";
import { moneyLines, tallyOf, type Tally } from "./checks/tally.ts";
import type { Episode } from "./faults/episode.ts";
import { describeFault, type Fault } from "./faults/fault.ts";
import { injectFault } from "./faults/inject-fault.ts";
import { planFaults, type ClusterTargets } from "./faults/plan-faults.ts";
import { CardPayments } from "./load/card-payments.ts";
import { makeCustomers } from "./load/customers.ts";
import { OperatorActions } from "./load/operator-actions.ts";
import { Traffic } from "./load/traffic.ts";
import { healedNow } from "./world/engines/engine.ts";
import { openTestbed, type Testbed } from "./world/testbed.ts";

export interface RunPlan {
  servers: Servers;
  seed: number;
  /** How long faults are injected. Starting, recovering and checking take additional time. */
  seconds: number;
  /** The longest duration of a fault. */
  longestFaultMs: number;
  requestsPerSecond: number;
  logLevel: string;
  say(line: string): void;
  /** Clusters in place of single servers, and a larger fleet. */
  clusters?: boolean;
  /** Faults in place of those of the seed. */
  faults?: Iterable<Fault[]>;
  /** How long after a fault the service may take until it refuses nothing, 5 s if absent. A busy machine starts processes later. */
  steadyMsMax?: number;
}

export interface RunResult {
  seed: number;
  tally: Tally;
  /** The results of all invariants that have evidence. */
  results: Result[];
  /** One line for each violation. */
  violations: string[];
  recoveries: { episode: Episode; recovery: Recovery }[];
  notes: RunNotes;
  stored: Stored;
  /** The output of each process of the fleet. */
  logs: Record<string, string>;
  /** The kinds of faults that were skipped, and why. */
  skipped: string[];
}

export async function runChaos(plan: RunPlan): Promise<RunResult> {
  await using testbed = await openTestbed(plan);
  const skipped = missingOf(testbed).map(({ kind, problem }) => `${kind}: ${problem}`);
  const customers = await makeCustomers(testbed);
  const startedAt = Date.now();
  plan.say(`ready: ${testbed.parts.size} processes of Weir, data in ${testbed.folder}`);
  const spooled = new SpooledBlocks(testbed.disk.path);
  const { seed, requestsPerSecond } = plan;
  const traffic = new Traffic({ testbed, customers, seed, requestsPerSecond, isFull: true });
  const actions = new OperatorActions(testbed, customers);
  const payments = await CardPayments.begin(testbed, customers);
  const { recoveries, problems } = await injectFaults({ testbed, traffic, plan });
  const { topUps, revoked } = await actions.stop();
  await traffic.stop();
  const cards = await payments.end();
  const quiet = await untilQuiet(testbed, customers);
  const blocks = await spooled.stop();
  plan.say(`quiet after ${seconds(quiet.afterMs)}`);
  const episodes = recoveries.map(({ episode }) => episode);
  const { calls: clients } = traffic;
  const { calls: provider } = testbed.provider;
  const notes: RunNotes = { customers, startedAt, clients, provider, episodes, topUps, revoked, cards, blocks, quiet };
  const { evidence, stored } = await gather(testbed, notes);
  const tally = tallyOf(notes, stored);
  const results = checkAll(evidence);
  const slow = recoveries.flatMap((one) => tooSlow(one, traffic, plan));
  const violations = [...brokenLines(results), ...moneyLines(tally), ...quiet.unfinished, ...slow, ...problems];
  const logs = Object.fromEntries([...testbed.parts].map(([name, part]) => [name, part.output]));
  return { seed: plan.seed, tally, results, violations, recoveries, notes, stored, logs, skipped };
}

interface Injection {
  testbed: Testbed;
  traffic: Traffic;
  plan: RunPlan;
}

/** Injects one fault after the other; each is over before the next begins. `problems` lists the faults that could not be ended. */
async function injectFaults({
  testbed,
  traffic,
  plan,
}: Injection): Promise<Pick<RunResult, "recoveries"> & { problems: string[] }> {
  const problems: string[] = [];
  await steadySince(Date.now(), { traffic, testbed, plan });
  const { seed, longestFaultMs, say } = plan;
  const without = missingOf(testbed).map(({ kind }) => kind);
  const recoveries: RunResult["recoveries"] = [];
  const endsAt = Date.now() + plan.seconds * 1_000;
  const clusters = plan.clusters === true ? targetsOf(testbed) : null;
  for (const faults of plan.faults ?? planFaults({ seed, longestMs: longestFaultMs, without, fleet: testbed.size, clusters })) {
    if (Date.now() >= endsAt) break;
    const injectedAt = Date.now();
    const failed = (fault: Fault) => (error: unknown) =>
      void problems.push(`${describeFault(fault)} could not be ended: ${String(error)}`);
    const healed = await Promise.all(
      faults.map(async (fault) => {
        const { at, whole } = (await injectFault(fault, testbed).catch(failed(fault))) ?? healedNow();
        return { at, whole: whole.catch(failed(fault)) };
      }),
    );
    const episode = { faults, injectedAt, healedAt: Math.max(...healed.map(({ at }) => at)) };
    const recovery = await steadySince(episode.healedAt, { traffic, testbed, plan });
    recoveries.push({ episode, recovery });
    await Promise.all(healed.map(({ whole }) => whole));
    say(`${namesOf(episode)}: first ${seconds(recovery.firstMs)}, steady ${seconds(recovery.steadyMs)}`);
  }
  return { recoveries, problems };
}

/** The faults that this machine cannot inject. */
function missingOf({ disk, network }: Testbed): { kind: Fault["kind"]; problem: string }[] {
  const needed = { "full-disk": disk.problem, unplug: network.problem } as const;
  return (["full-disk", "unplug"] as const).flatMap((kind) => {
    const problem = needed[kind];
    return problem === null ? [] : [{ kind, problem }];
  });
}

function targetsOf({ engines: { redis, nats, postgres } }: Testbed): ClusterTargets {
  const isolated = [redis, nats, postgres].flatMap((engine) => engine.isolated);
  return { redis: redis.targets, nats: nats.targets, isolated, postgres: postgres.targets };
}

/** Waits twice as long as it may take, so that a violation says how long it took. */
async function steadySince(healedAt: number, { traffic: { calls }, testbed: { gateways }, plan }: Injection): Promise<Recovery> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const recovery = recoveryOf(calls, { healedAt, until: Date.now(), gateways: gateways.length });
    if (recovery.steadyMs !== null || Date.now() > healedAt + 2 * limitOf(plan)) return recovery;
  }
}

function tooSlow(
  { episode, recovery: { steadyMs } }: RunResult["recoveries"][number],
  { calls }: Traffic,
  plan: RunPlan,
): string[] {
  const limitMs = limitOf(plan);
  if (steadyMs !== null && steadyMs <= limitMs) return [];
  const { healedAt } = episode;
  const bad = badAnswersOf(calls, { healedAt, until: healedAt + (steadyMs ?? 2 * limitMs), gateways: 0 });
  return [`${namesOf(episode)}: steady ${seconds(steadyMs)} after healing, until then ${bad}`];
}

function limitOf({ steadyMsMax = recoveryMsMax }: RunPlan): number {
  return steadyMsMax;
}

function namesOf({ faults }: Episode): string {
  return faults.map(describeFault).join(" and ");
}

function seconds(ms: number | null): string {
  return ms === null ? "not in time" : `${(ms / 1_000).toFixed(1)} s`;
}
