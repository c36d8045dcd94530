/** Causes a fault, and ends it. */
import postgres from "postgres";
import { until } from "../../../support/until.ts";
import { healedNow, pause, type Engine, type Healed } from "../world/engines/engine.ts";
import type { Links, ServerName } from "../world/links.ts";
import type { Testbed } from "../world/testbed.ts";
import type { LinkCondition } from "../world/tcp-proxy.ts";
import type { Fault } from "./fault.ts";
import { signalTree } from "./process-tree.ts";

/** The longest a process may take to drain and end, and a server to start. */
const endMsMax = 90_000;

type Injector<K extends Fault["kind"]> = (fault: Extract<Fault, { kind: K }>, testbed: Testbed) => Promise<Healed | void>;

/** Resolves when the fault is over: what was killed runs again or is replaced, what was cut is reachable. */
export async function injectFault(fault: Fault, testbed: Testbed): Promise<Healed> {
  // Each function is stored under the kind of fault that it takes.
  const inject = injectors[fault.kind] as (fault: Fault, testbed: Testbed) => Promise<Healed | void>;
  return (await inject(fault, testbed)) ?? healedNow();
}

const injectors: { [K in Fault["kind"]]: Injector<K> } = {
  kill: async ({ who }, testbed) => engineOf(who, testbed)?.kill(who) ?? endPart(who, "SIGKILL", testbed),
  async freeze({ who, ms }, testbed) {
    const engine = engineOf(who, testbed);
    if (engine !== null) return engine.freeze(who, ms);
    const { pid } = partNamed(who, testbed);
    signalTree(pid, "SIGSTOP");
    await pause(ms);
    signalTree(pid, "SIGCONT");
  },
  isolate: async ({ who, ms }, testbed) => engineOf(who, testbed)?.isolate(who, ms),
  async unplug({ who, ms }, { network }) {
    const connectAgain = network.cut(who);
    await pause(ms);
    connectAgain();
  },
  failover: ({ who }, { engines }) => engines.redis.failover(who),
  stop: ({ who }, testbed) => endPart(who, "SIGTERM", testbed),
  cut: (fault, testbed) => degradeLink(fault, { kind: "cut" }, testbed),
  silence: (fault, testbed) => degradeLink(fault, { kind: "silent" }, testbed),
  delay: (fault, testbed) => degradeLink(fault, { kind: "delay", ms: fault.delayMs }, testbed),
  async "half-open"({ who, server }, testbed) {
    for (const proxy of linksOf(testbed).between(who, server)) proxy.halfOpen();
  },
  async truncate({ who, server, bytes, ms }, testbed) {
    for (const proxy of linksOf(testbed).between(who, server)) proxy.truncateAfter(bytes);
    await pause(ms);
  },
  "empty-redis": (_, { engines }) => untilDone(() => engines.redis.empty()),
  "end-sessions": (_, { engines }) => untilDone(() => endSessions(engines.postgres.primaryUrl())),
  async "full-disk"({ ms }, { disk }) {
    disk.fill();
    await pause(ms);
    disk.empty();
  },
};

async function degradeLink(
  { who, server, ms }: { who: string | null; server: ServerName; ms: number },
  condition: LinkCondition,
  testbed: Testbed,
): Promise<void> {
  const proxies = linksOf(testbed).between(who, server);
  for (const proxy of proxies) proxy.set(condition);
  await pause(ms);
  for (const proxy of proxies) proxy.set({ kind: "healthy" });
}

async function endSessions(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => {} });
  try {
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Repeats `act`, since the server may suffer from another fault. */
async function untilDone(act: () => Promise<void>): Promise<void> {
  await until(
    () =>
      act().then(
        () => true,
        () => false,
      ),
    endMsMax,
  );
}

/** Ends a process of the fleet and waits for its restart. */
async function endPart(who: string, signal: NodeJS.Signals, testbed: Testbed): Promise<void> {
  const part = partNamed(who, testbed);
  const { starts } = part;
  part.signal(signal);
  await until(() => part.starts > starts, endMsMax);
}

function partNamed(who: string, { parts }: Testbed) {
  const part = parts.get(who);
  if (part === undefined) throw new Error(`There is no process "${who}"`);
  return part;
}

/** null: it is a process of Weir. */
function engineOf(who: string, { engines }: Testbed): Engine | null {
  return Object.values(engines).find(({ targets }) => targets.includes(who)) ?? null;
}

function linksOf({ links }: Testbed): Links {
  if (links === null) throw new Error("Clusters are reached directly, so their network cannot be disturbed");
  return links;
}
