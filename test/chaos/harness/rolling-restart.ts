/** Restarts every gateway under load, one after another, or replaces a former version with this one. No client may notice. */
import type { Servers } from "../../../scripts/services/find-servers.ts";
import { brokenLines, checkAll } from "../../invariants/invariants.ts";
import { until } from "../../support/until.ts";
import { gather } from "./checks/gather.ts";
import { untilQuiet } from "./checks/quiet.ts";
import { moneyLines, tallyOf, type Tally } from "./checks/tally.ts";
import { isGood, newCall, type ClientCall } from "./load/client-call.ts";
import { SpooledBlocks } from "./checks/spooled-blocks.ts";
import { makeCustomers, type Customer } from "./load/customers.ts";
import { OpenStreams } from "./load/open-streams.ts";
import { sendToAny } from "./load/send.ts";
import { Traffic } from "./load/traffic.ts";
import type { FleetProcess } from "./world/fleet-process.ts";
import { model, openTestbed, type Testbed } from "./world/testbed.ts";

export interface RollingPlan {
  servers: Servers;
  /** The number of streams that are open at any time. */
  streams: number;
  streamSeconds: number;
  requestsPerSecond: number;
  leaveMs: number;
  /** The level of logs: info where a former version is replaced. */
  logLevel: string;
  /** The folder of a former version, whose workers and gateways are replaced one after another. */
  former?: string | undefined;
  say(line: string): void;
}

export interface RollingResult {
  calls: number;
  /** The time from each signal to the end of its process. */
  endedAfterMs: number[];
  tally: Tally;
  /** Each request that was refused, interrupted or incomplete, and each violation of an invariant or of the ledger. */
  violations: string[];
}

const stopMsMax = 90_000;
/** So many whole answers in a row mean that a gateway serves. */
const steadyAfter = 20;
const steadyMsMax = 120_000;

export async function runRollingRestart(plan: RollingPlan): Promise<RollingResult> {
  const { streams, streamSeconds, requestsPerSecond, leaveMs, say } = plan;
  await using testbed = await openTestbed({ ...plan, environment: { SHUTDOWN_LEAVE_MS: String(leaveMs) } });
  const customers = await makeCustomers(testbed);
  const [customer] = customers;
  if (customer === undefined) throw new Error("There is no customer");
  const startedAt = Date.now();
  const early = await untilSteady(testbed, customer);
  const spooled = new SpooledBlocks(testbed.disk.path);
  const traffic = new Traffic({ testbed, customers: [customer], seed: 1, requestsPerSecond, isFull: plan.former === undefined });
  const open = new OpenStreams({ testbed, customer, streams, seconds: streamSeconds });
  await open.begun;
  const endedAfterMs: number[] = [];
  for (const { part, serves } of toRestart(testbed, { workersToo: plan.former !== undefined })) {
    const tookMs = await restart(part);
    endedAfterMs.push(tookMs);
    await until(serves, stopMsMax);
    say(`${part.name} ended ${(tookMs / 1_000).toFixed(1)} s after its signal, and serves again`);
  }
  await Promise.all([traffic.stop(), open.stop()]);
  const quiet = await untilQuiet(testbed, customers);
  const during = [...traffic.calls, ...open.calls];
  const clients = [...early, ...during];
  const notes = {
    customers,
    startedAt,
    clients,
    provider: testbed.provider.calls,
    episodes: [],
    topUps: [],
    revoked: [],
    cards: null,
    blocks: await spooled.stop(),
    quiet,
  };
  const { evidence, stored } = await gather(testbed, notes);
  const failed = during.filter((call) => !isGood(call) || (call.status === 200 && !call.whole && !call.hungUp));
  const tally = tallyOf(notes, stored);
  const violations = [...failed.map(describeCall), ...brokenLines(checkAll(evidence)), ...moneyLines(tally), ...quiet.unfinished];
  return { calls: clients.length, endedAfterMs, tally, violations };
}

/**
 * Sends one request after another until each gateway has answered several in a row: a fleet that has just started refuses while it loads a
 * workspace. @returns the calls
 */
async function untilSteady(testbed: Testbed, customer: Customer): Promise<ClientCall[]> {
  const calls: ClientCall[] = [];
  const { id: key, key: secret } = customer.keys[0] ?? { id: "", key: "" };
  const sending = { secret, model, content: "tokens=1 gap_ms=0", maxTokens: 500, timeoutMs: steadyMsMax };
  for (const gateway of testbed.gateways.keys()) {
    let inARow = 0;
    await until(async () => {
      const call = newCall({ customer, key, streamed: true, gateway });
      calls.push(call);
      await sendToAny(call, sending, testbed.gateways);
      inARow = call.whole && call.gateway === gateway ? inARow + 1 : 0;
      return inARow >= steadyAfter;
    }, steadyMsMax);
  }
  return calls;
}

interface Restarted {
  part: FleetProcess;
  /** Whether it serves again. */
  serves(): boolean | Promise<boolean>;
}

/** In the order of docs/how-to/upgrade.md: the first gateway brings the database to its schema, and workers wait for it. */
function toRestart({ gateways, parts }: Testbed, { workersToo }: { workersToo: boolean }): Restarted[] {
  const fronts = gateways.map(({ part, url }) => ({
    part,
    serves: async () => (await fetch(`${url}/ready`).catch(() => null))?.status === 200,
  }));
  if (!workersToo) return fronts;
  const workers = [...parts.values()].filter((part) => !fronts.some((front) => front.part === part));
  const behind = workers.map((part) => ({ part, serves: () => startsLogged(part) >= part.starts }));
  return [...fronts.slice(0, 1), ...behind, ...fronts.slice(1)];
}

/** Restarts a process with the code of this version. @returns the time from the signal to its end, in ms */
async function restart(part: FleetProcess): Promise<number> {
  const signalledAt = performance.now();
  const { starts } = part;
  part.upgrade();
  part.signal("SIGTERM");
  await until(() => part.starts > starts, stopMsMax);
  return performance.now() - signalledAt;
}

/** How often a worker has logged that it serves. */
function startsLogged(part: FleetProcess): number {
  return part.output.split('"event":"started"').length - 1;
}

function describeCall({ gateway, streamed, status, code, broke, sentAt, endedAt }: ClientCall): string {
  const what = `${streamed ? "a stream" : "a request"} at gateway-${gateway + 1}, sent at ${sentAt}, ended at ${endedAt}`;
  return `${what}: ${status} ${code ?? broke ?? "incomplete"}`;
}
