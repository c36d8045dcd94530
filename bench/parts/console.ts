/**
 * Measures the Console over two million generations and a million findings: every page as each role, and the requests of models while
 * twenty people click and forty of their pages refresh themselves.
 */
import { clickDuring, type Clicker, type Clicks } from "../console/clickers.ts";
import { refreshDuring, type Refreshes } from "../console/live-tabs.ts";
import { memberEmail, viewers } from "../console/plan.ts";
import { consoleKeysFile, freshConsoleCopy } from "../console/prepare.ts";
import { samplesOf, type Sample, type Visitor } from "../console/samples.ts";
import { readSampleIds } from "../console/samples-store.ts";
import { invite, operatorSession, personSession } from "../console/session.ts";
import { measurePage, type PageTimes, type Visiting } from "../console/visit.ts";
import { direct, instantModel } from "../contenders/provider.ts";
import { modelId, startFleet, type RunningFleet } from "../contenders/weir.ts";
import { connect } from "../lists/prepare.ts";
import type { Result } from "../load/tally.ts";
import { runLoadProcess } from "../measure/load-process.ts";
import { openTestbed, type Testbed, type TestbedPlan } from "./testbed.ts";

/** Requests of models beside no clicks, and beside them and pages that refresh themselves. */
export interface TrafficRound {
  alone: Result;
  beside: Result;
  clicks: Clicks;
  refreshed?: Refreshes;
}

export interface ConsoleTimes {
  pages: PageTimes[];
  /** Pages with a parameter for which bench/console/samples.ts has no row. */
  missing: string[];
  requestsPerSecond: number;
  /** The provider without a gateway, at the same rate. */
  direct: Result;
  traffic: TrafficRound[];
}

export interface ConsolePlan extends TestbedPlan {
  rounds: number;
  /** The measured time of each load. */
  seconds: number;
}

/** As in the open loop of the hot path. */
const requestsPerSecond = 200;
export const clickingPeople = 20;
/** Every second one is a member, the others have these roles. */
const clickingAs = ["admin", "auditor"] as const;
const warmUpSeconds = 3;

interface Seat extends Visiting {
  samples: Sample[];
}

export async function runConsole(plan: ConsolePlan): Promise<ConsoleTimes> {
  await using testbed = await openTestbed({ ...plan, database: freshConsoleCopy });
  await using fleet = await startFleet({ ...testbed.fleet, gateways: plan.gateways, workers: plan.workers, console: true });
  const { seats, missing } = await takeSeats(testbed, fleet);
  const pages: PageTimes[] = [];
  for (const seat of seats) pages.push(...(await measurePages(seat, plan.say)));
  const directly = await direct(testbed.provider).start();
  const load = ["--rate", String(requestsPerSecond), "--warm-up", String(warmUpSeconds), "--seconds", String(plan.seconds)];
  const { result: provider } = await runLoadProcess([...directly.target, "--model", instantModel, ...load]);
  const words = ["--url", fleet.url, "--keys", consoleKeysFile, "--model", modelId(instantModel), ...load];
  const clickers = await seatClickers(testbed, fleet);
  const traffic: TrafficRound[] = [];
  for (let round = 1; round <= plan.rounds; round++) {
    const measured = await takeRound({ words, clickers, url: fleet.url, seed: round * 100 });
    traffic.push(measured);
    plan.say(`round ${round}/${plan.rounds} ${lineOf(measured)}`);
  }
  await fleet.settled?.();
  await fleet.verify?.(plan.say);
  return { pages, missing, requestsPerSecond, direct: provider, traffic };
}

async function takeSeats(testbed: Testbed, fleet: RunningFleet): Promise<{ seats: Seat[]; missing: string[] }> {
  await using sql = connect(testbed.fleet.databaseUrl);
  const seats: Seat[] = [];
  const missing = new Set<string>();
  for (const visitor of ["admin", "auditor", "member", "operator"] as const) {
    const ids = await readSampleIds(visitor === "member" ? viewers.member.email : null, sql);
    const found = samplesOf(visitor, ids);
    for (const path of found.missing) missing.add(path);
    seats.push({ url: fleet.url, visitor, cookie: await sessionOf(visitor, fleet), samples: found.samples });
  }
  return { seats, missing: [...missing] };
}

function sessionOf(visitor: Visitor, fleet: RunningFleet): Promise<string> {
  return visitor === "operator" ? operatorSession(fleet) : personSession(viewers[visitor].email, fleet);
}

async function measurePages({ samples, ...visiting }: Seat, say: ConsolePlan["say"]): Promise<PageTimes[]> {
  const measured: PageTimes[] = [];
  for (const sample of samples) {
    const times = await measurePage(sample, visiting);
    measured.push(times);
    const { p50, p99 } = times.latencyMs ?? { p50: Number.NaN, p99: Number.NaN };
    const failures = times.failed > 0 ? `, ${times.failed} FAILED ${JSON.stringify(times.statuses)}` : "";
    say(`${visiting.visitor} ${sample.name}: first ${times.firstMs.toFixed(0)} ms, p50 ${p50} ms, p99 ${p99} ms${failures}`);
  }
  return measured;
}

/** Twenty people: members with keys, and people who may see everything. They click on pages, and save no files. */
async function seatClickers(testbed: Testbed, fleet: RunningFleet): Promise<Clicker[]> {
  await using sql = connect(testbed.fleet.databaseUrl);
  const all = await readSampleIds(null, sql);
  const clickers: Clicker[] = [];
  for (let n = 0; n < clickingPeople; n++) {
    const visitor = n % 2 === 0 ? "member" : (clickingAs[Math.floor(n / 2) % clickingAs.length] ?? "admin");
    const email = visitor === "member" ? memberEmail(n) : `${visitor}-${n}@bench.test`;
    if (visitor !== "member") await invite({ email, role: visitor }, fleet);
    const ids = visitor === "member" ? await readSampleIds(email, sql) : all;
    const { samples } = samplesOf(visitor, ids);
    const addresses = samples.filter(({ isFile }) => !isFile).flatMap((sample) => sample.addresses.slice(0, 5));
    clickers.push({ cookie: await personSession(email, fleet), addresses });
  }
  return clickers;
}

async function takeRound({
  words,
  ...clicking
}: {
  words: string[];
  clickers: Clicker[];
  url: string;
  seed: number;
}): Promise<TrafficRound> {
  const { result: alone } = await runLoadProcess(words);
  const { result: round, refreshed } = await refreshDuring({ people: clicking.clickers, url: clicking.url }, () =>
    clickDuring(clicking, async () => (await runLoadProcess(words)).result),
  );
  const { result: beside, clicks } = round;
  return { alone, beside, clicks, refreshed };
}

function lineOf({ alone, beside, clicks, refreshed }: TrafficRound): string {
  const p99 = ({ latencyMs }: Pick<Result, "latencyMs">): string => `p50 ${latencyMs?.p50} ms, p99 ${latencyMs?.p99} ms`;
  const outcome = [JSON.stringify(clicks.statuses), ...clicks.refused].join(", ");
  return `requests alone: ${p99(alone)}; beside ${clicks.perSecond} clicks a second: ${p99(beside)}; clicks ${outcome}: p99 ${clicks.latencyMs?.p99} ms; refreshes ${JSON.stringify(refreshed)}`;
}
