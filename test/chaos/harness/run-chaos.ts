/** One run: start everything, disturb it while it is used, heal it, wait for quiet, and look at what came of it. */
import type { Servers } from "../../../scripts/services/find-servers.ts";
import { checkLimits } from "./checks/limits.ts";
import { checkMoney, type Money } from "./checks/money.ts";
import { untilQuiet } from "./checks/quiet.ts";
import { badAnswersOf, recoveryOf, type Recovery } from "./checks/recovery.ts";
import { readStored } from "./checks/stored.ts";
import type { Evidence } from "./checks/evidence.ts";
import type { Violation } from "./checks/violation.ts";
import type { Episode } from "./faults/episode.ts";
import { describeFault, type Fault } from "./faults/fault.ts";
import { inflict } from "./faults/inflict.ts";
import { planFaults } from "./faults/plan-faults.ts";
import { makeCustomers, type Customer } from "./load/customers.ts";
import { TopUps } from "./load/top-ups.ts";
import { Traffic } from "./load/traffic.ts";
import { Control } from "./world/control.ts";
import { openSite, type Site } from "./world/site.ts";

export interface RunPlan {
  servers: Servers;
  seed: number;
  /** How long faults go on; starting, healing and checking come on top. */
  seconds: number;
  /** The longest of those that last. */
  longestFaultMs: number;
  requestsPerSecond: number;
  logLevel: string;
  say(line: string): void;
  /** Faults in place of those that the seed gives. */
  faults?: Iterable<Fault[]>;
}

export interface RunResult {
  seed: number;
  money: Money;
  violations: Violation[];
  recoveries: { episode: Episode; recovery: Recovery }[];
  evidence: Evidence;
  quietMs: number;
  /** What was left out, and why. */
  skipped: string[];
}

export const recoveryMsMax = 5_000;
/** After healing, until the service is steady; then the next fault comes. */
const patienceMs = 10_000;

export async function runChaos(plan: RunPlan): Promise<RunResult> {
  const { seed, seconds, longestFaultMs, requestsPerSecond, say } = plan;
  await using site = await openSite(plan);
  const skipped = site.disk.problem === null ? [] : [`full disk: ${site.disk.problem}`];
  const customers = await makeCustomers(site);
  say(`ready: ${site.parts.size} processes on ${site.folder}`);
  const traffic = new Traffic({ site, customers, seed, requestsPerSecond });
  const topUps = new TopUps(site, customers);
  await steadySince(traffic, site, Date.now());
  const without: Fault["kind"][] = skipped.length === 0 ? [] : ["full-disk"];
  const faults = plan.faults ?? planFaults({ seed, longestMs: longestFaultMs, without });
  const episodes: Episode[] = [];
  const recoveries: RunResult["recoveries"] = [];
  const endsAt = Date.now() + seconds * 1_000;
  for (const together of faults) {
    if (Date.now() >= endsAt) break;
    const inflictedAt = Date.now();
    await Promise.all(together.map((fault) => inflict(fault, site)));
    const episode = { faults: together, inflictedAt, healedAt: Date.now() };
    episodes.push(episode);
    const recovery = await steadySince(traffic, site, episode.healedAt);
    recoveries.push({ episode, recovery });
    say(`${together.map(describeFault).join(" and ")}: first ${shown(recovery.firstMs)}, steady ${shown(recovery.steadyMs)}`);
  }
  await topUps.stop();
  await traffic.stop();
  const { quietMs, left } = await untilQuiet(site, customers);
  say(`quiet after ${(quietMs / 1_000).toFixed(1)} s`);
  const evidence: Evidence = {
    clients: traffic.calls,
    provider: site.provider.calls,
    episodes,
    stored: await readStored(site.services.urls.DATABASE_URL),
    topUps: topUps.confirmed,
    requestsPerMinute: new Map(customers.flatMap(windowsOf)),
  };
  const money = checkMoney(evidence);
  const { lost, doubled, unmetered, wrong } = money;
  const others = [
    ...checkLimits(evidence),
    ...left,
    ...recoveries.flatMap((one) => tooSlow(one, traffic.calls)),
    ...(await ledgerProblems(site)),
  ];
  const violations = [...lost, ...doubled, ...unmetered, ...wrong, ...others];
  return { seed, money, violations, recoveries, evidence, quietMs, skipped };
}

function windowsOf({ keys, requestsPerMinute }: Customer): [string, number][] {
  return keys.map(({ id }) => [id, requestsPerMinute]);
}

async function steadySince({ calls }: Traffic, { gateways }: Site, healedAt: number): Promise<Recovery> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const recovery = recoveryOf(calls, { healedAt, until: Date.now(), gateways: gateways.length });
    if (recovery.steadyMs !== null || Date.now() > healedAt + patienceMs) return recovery;
  }
}

function tooSlow({ episode, recovery }: RunResult["recoveries"][number], calls: Traffic["calls"]): Violation[] {
  const { steadyMs } = recovery;
  if (steadyMs !== null && steadyMs <= recoveryMsMax) return [];
  const { faults, healedAt } = episode;
  const until = healedAt + (steadyMs ?? patienceMs);
  const bad = badAnswersOf(calls, { healedAt, until, gateways: 0 });
  const detail = `${faults.map(describeFault).join(" and ")}: steady ${shown(steadyMs)}, until then ${bad}`;
  return [{ rule: "not well again within 5 s of healing", detail, generation: null, at: healedAt }];
}

async function ledgerProblems(site: Site): Promise<Violation[]> {
  const { ok, broken } = await new Control(site).any((operator) => operator.verify());
  return ok ? [] : [{ rule: "ledger verify", detail: JSON.stringify(broken), generation: null, at: null }];
}

function shown(ms: number | null): string {
  return ms === null ? `not within ${patienceMs / 1_000} s` : `${(ms / 1_000).toFixed(1)} s`;
}
