/** Restarts every gateway under load, one after the other. No client may notice. */
import type { Servers } from "../../../scripts/services/find-servers.ts";
import { brokenLines, checkAll } from "../../invariants/invariants.ts";
import { until } from "../../support/until.ts";
import { gather } from "./checks/gather.ts";
import { untilQuiet } from "./checks/quiet.ts";
import { moneyLines, tallyOf, type Tally } from "./checks/tally.ts";
import { isGood, type ClientCall } from "./load/client-call.ts";
import { makeCustomers } from "./load/customers.ts";
import { OpenStreams } from "./load/open-streams.ts";
import { Traffic } from "./load/traffic.ts";
import { openTestbed } from "./world/testbed.ts";

export interface RollingPlan {
  servers: Servers;
  /** The number of streams that are open at any time. */
  streams: number;
  streamSeconds: number;
  requestsPerSecond: number;
  leaveMs: number;
  logLevel: string;
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

export async function runRollingRestart(plan: RollingPlan): Promise<RollingResult> {
  const { streams, streamSeconds, requestsPerSecond, leaveMs, say } = plan;
  await using testbed = await openTestbed({ ...plan, environment: { SHUTDOWN_LEAVE_MS: String(leaveMs) } });
  const customers = await makeCustomers(testbed);
  const [customer] = customers;
  if (customer === undefined) throw new Error("There is no customer");
  const startedAt = Date.now();
  const traffic = new Traffic({ testbed, customers: [customer], seed: 1, requestsPerSecond });
  const open = new OpenStreams({ testbed, customer, streams, seconds: streamSeconds });
  await until(() => open.calls.filter(({ answeredAt }) => answeredAt === null).length === 0 && open.open >= streams);
  const endedAfterMs: number[] = [];
  for (const { part, url } of testbed.gateways) {
    const signalledAt = performance.now();
    const { starts } = part;
    part.signal("SIGTERM");
    await until(() => part.starts > starts, stopMsMax);
    endedAfterMs.push(performance.now() - signalledAt);
    await until(async () => (await fetch(`${url}/ready`).catch(() => null))?.status === 200, stopMsMax);
    say(`${part.name} ended ${((endedAfterMs.at(-1) ?? 0) / 1_000).toFixed(1)} s after its signal, and serves again`);
  }
  await Promise.all([traffic.stop(), open.stop()]);
  const quiet = await untilQuiet(testbed, customers);
  const clients = [...traffic.calls, ...open.calls];
  const notes = {
    customers,
    startedAt,
    clients,
    provider: testbed.provider.calls,
    episodes: [],
    topUps: [],
    revoked: [],
    cards: null,
    quiet,
  };
  const { evidence, stored } = await gather(testbed, notes);
  const failed = clients.filter((call) => !isGood(call) || (call.status === 200 && !call.whole && !call.hungUp));
  const tally = tallyOf(notes, stored);
  const violations = [...failed.map(describeCall), ...brokenLines(checkAll(evidence)), ...moneyLines(tally), ...quiet.unfinished];
  return { calls: clients.length, endedAfterMs, tally, violations };
}

function describeCall({ gateway, streamed, status, code, broke, sentAt, endedAt }: ClientCall): string {
  const what = `${streamed ? "a stream" : "a request"} at gateway-${gateway + 1}, sent at ${sentAt}, ended at ${endedAt}`;
  return `${what}: ${status} ${code ?? broke ?? "incomplete"}`;
}
