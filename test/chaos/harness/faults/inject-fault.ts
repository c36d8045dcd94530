/** Causes a fault, and ends it. */
import postgres from "postgres";
import { createClient } from "redis";
import { until } from "../../../support/until.ts";
import { serverNames, type ServerName } from "../world/links.ts";
import type { Testbed } from "../world/testbed.ts";
import type { LinkCondition } from "../world/tcp-proxy.ts";
import type { Fault } from "./fault.ts";
import { signalTree } from "./process-tree.ts";

/** The longest a process may take to drain and end, and a server to start. */
const endMsMax = 90_000;

type Injector<K extends Fault["kind"]> = (fault: Extract<Fault, { kind: K }>, testbed: Testbed) => Promise<void>;

/** Resolves when the fault is over: what was killed runs again, what was cut is reachable. */
export async function injectFault(fault: Fault, testbed: Testbed): Promise<void> {
  // Each function is stored under the kind of fault that it takes.
  const inject = injectors[fault.kind] as (fault: Fault, testbed: Testbed) => Promise<void>;
  await inject(fault, testbed);
}

const injectors: { [K in Fault["kind"]]: Injector<K> } = {
  async kill({ who }, testbed) {
    const server = serverNamed(who, testbed);
    if (server === null) return endPart(who, "SIGKILL", testbed);
    await server.kill("SIGKILL");
    await server.restart();
  },
  async freeze({ who, ms }, testbed) {
    const pid = (serverNamed(who, testbed) ?? partNamed(who, testbed)).pid;
    signalTree(pid, "SIGSTOP");
    await pause(ms);
    signalTree(pid, "SIGCONT");
  },
  stop: ({ who }, testbed) => endPart(who, "SIGTERM", testbed),
  cut: (fault, testbed) => degradeLink(fault, { kind: "cut" }, testbed),
  silence: (fault, testbed) => degradeLink(fault, { kind: "silent" }, testbed),
  delay: (fault, testbed) => degradeLink(fault, { kind: "delay", ms: fault.delayMs }, testbed),
  async "half-open"({ who, server }, { links }) {
    for (const proxy of links.between(who, server)) proxy.halfOpen();
  },
  async truncate({ who, server, bytes, ms }, { links }) {
    for (const proxy of links.between(who, server)) proxy.truncateAfter(bytes);
    await pause(ms);
  },
  "empty-redis": (_, { services }) => untilDone(() => emptyRedis(services.urls.REDIS_URL)),
  "end-sessions": (_, { services }) => untilDone(() => endSessions(services.urls.DATABASE_URL)),
  async "full-disk"({ ms }, { disk }) {
    disk.fill();
    await pause(ms);
    disk.empty();
  },
};

async function degradeLink(
  { who, server, ms }: { who: string | null; server: ServerName; ms: number },
  condition: LinkCondition,
  { links }: Testbed,
): Promise<void> {
  const proxies = links.between(who, server);
  for (const proxy of proxies) proxy.set(condition);
  await pause(ms);
  for (const proxy of proxies) proxy.set({ kind: "healthy" });
}

async function emptyRedis(url: string): Promise<void> {
  const redis = createClient({ url, socket: { reconnectStrategy: false } });
  redis.on("error", () => {});
  try {
    await redis.connect();
    await redis.flushAll();
  } finally {
    redis.destroy();
  }
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

function serverNamed(who: string, { services }: Testbed) {
  const name = serverNames.find((server) => server === who);
  return name === undefined ? null : services[name];
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
