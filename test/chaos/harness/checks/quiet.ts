/** Waits until all work has ended, and reports the unfinished work when it does not. */
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "nats";
import type { Counters } from "../../../../src/backing/counters.ts";
import { openDistributedCounters } from "../../../../src/backing/redis/counters.ts";
import { systemClock } from "../../../../src/kernel/clock.ts";
import { silentLog } from "../../../../src/kernel/log.ts";
import { Secret } from "../../../../src/kernel/secret.ts";
import type { Customer } from "../load/customers.ts";
import { Control } from "../world/control.ts";
import { operatorToken, type Testbed } from "../world/testbed.ts";
import type { Quiet } from "./notes.ts";

/** A gateway requests a confirmation that was lost twice after 30 s. */
const quietMsMax = 90_000;
const lookMs = 250;

/** Waits for at most 90 s. */
export async function untilQuiet(testbed: Testbed, customers: readonly Customer[]): Promise<Quiet> {
  const startedAt = performance.now();
  const url = new Secret(testbed.engines.redis.url);
  await using counters = await openDistributedCounters({ url, clock: systemClock, log: silentLog });
  for (;;) {
    const pending = await pendingWork(testbed, customers, counters).catch((error: unknown) => ({
      ...nothing,
      unfinished: [String(error)],
    }));
    const afterMs = performance.now() - startedAt;
    const isQuiet = pending.unfinished.length === 0 && pending.unsettled + pending.backlog + pending.unknownAdmissions === 0;
    if (isQuiet || afterMs > quietMsMax) return { ...pending, afterMs, at: Date.now() };
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

type PendingWork = Pick<Quiet, "unsettled" | "backlog" | "unknownAdmissions" | "unfinished">;
const nothing = { unsettled: 0, backlog: 0, unknownAdmissions: 0 };

async function pendingWork(testbed: Testbed, customers: readonly Customer[], counters: Counters): Promise<PendingWork> {
  const [accounts, held, backlog, ...gateways] = await Promise.all([
    busyAccounts(testbed, customers),
    heldAccounts(customers, counters),
    backlogOf(testbed),
    ...testbed.gateways.map(({ url }) => pendingAt(url)),
  ]);
  const sum = (name: "unsettled" | "unknownAdmissions" | "open") => gateways.reduce((total, pending) => total + pending[name], 0);
  const open = sum("open") === 0 ? [] : [`${sum("open")} answers are open`];
  return {
    unsettled: sum("unsettled"),
    unknownAdmissions: sum("unknownAdmissions"),
    backlog,
    unfinished: [...accounts, ...held, ...open],
  };
}

async function busyAccounts(testbed: Testbed, customers: readonly Customer[]): Promise<string[]> {
  const control = new Control(testbed);
  const accounts = customers.map(async ({ workspace, kind }) => {
    const { balance_usd, reserved_usd, available_usd } = await control.any((operator) => operator.show(workspace));
    const isQuiet = Number(reserved_usd ?? NaN) === 0 && available_usd === balance_usd;
    return isQuiet
      ? []
      : [`workspace ${workspace} (${kind}) has a balance of ${balance_usd}, of which ${reserved_usd} are reserved`];
  });
  return (await Promise.all(accounts)).flat();
}

/** What is lent in blocks is not shown as reserved, and has to be returned, too. */
async function heldAccounts(customers: readonly Customer[], counters: Counters): Promise<string[]> {
  const reads = customers.map(async ({ workspace }) => ({ workspace, ...(await counters.read(workspace, null)) }));
  const lent = (await Promise.all(reads)).filter(({ account }) => account !== null && account.reserved > 0n);
  return lent.map(({ workspace, account }) => `the counters hold ${account?.reserved} nano-USD of workspace ${workspace}`);
}

async function pendingAt(url: string): Promise<{ unsettled: number; unknownAdmissions: number; open: number }> {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const metrics = await (await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(5_000) })).text();
  const valueOf = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(metrics)?.[1] ?? NaN);
  return {
    unsettled: valueOf("weir_generations_unsettled"),
    unknownAdmissions: valueOf("weir_admissions_unknown"),
    open: valueOf("weir_generations_open"),
  };
}

/** The number of events that metering has not received or not acknowledged. */
async function backlogOf({ engines }: Testbed): Promise<number> {
  const urls = engines.nats.url.split(",").map((url) => new URL(url));
  const [{ username, password } = { username: "", password: "" }] = urls;
  const connection = await connect({ servers: urls.map(({ host }) => host), user: username, pass: password });
  try {
    const manager = await jetstreamManager(connection);
    let messages = 0;
    for await (const { num_pending, num_ack_pending } of manager.consumers.list("settlements"))
      messages += num_pending + num_ack_pending;
    return messages;
  } finally {
    await connection.close();
  }
}
