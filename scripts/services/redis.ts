/**
 * Starts a Redis, or a Redis Cluster, on loopback from this machine's programs.
 *
 * As in production, it loses at most the last second and never evicts: counters that vanish would let credit be spent twice.
 */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RedisClient } from "bun";
import { exchange, freePort } from "./ports.ts";
import type { Program } from "./program.ts";
import { openFolder, Server } from "./server.ts";

interface RedisOptions {
  program: Program;
  /** Its append-only file, its password and its log. */
  folder: string;
  port?: number;
  /**
   * A Redis Cluster of one server that has all slots; or a node of a cluster, without slots, which counts as failed after `nodeTimeoutMs`
   * of silence and announces its host.
   */
  cluster?: true | { password: string; nodeTimeoutMs: number; host: string };
}

const slots = 16_384;
const clusterBusOffset = 10_000;
const loopback = "127.0.0.1";

/** A Redis server on loopback with a password, which loses at most the last second and never evicts. */
export async function startRedis({ program, folder, port: wanted, cluster }: RedisOptions): Promise<Server> {
  const port = wanted ?? (await freePort({ also: [clusterBusOffset] }));
  const member = cluster === true ? undefined : cluster;
  const { home, password } = await openFolder(folder, null, member?.password);
  const config = join(home, "redis.conf");
  const host = member?.host ?? loopback;
  const settings = [
    `bind ${[...new Set([loopback, host])].join(" ")}`,
    `port ${port}`,
    `dir ${JSON.stringify(home)}`,
    `requirepass ${password}`,
    `appendonly yes`,
    `appendfsync everysec`,
    `save ""`,
    `maxmemory-policy noeviction`,
    // Frees large expired windows in a thread other than the one that replies.
    `lazyfree-lazy-expire yes`,
    ...(cluster ? [`cluster-enabled yes`, `cluster-announce-ip ${host}`, `cluster-require-full-coverage no`] : []),
    ...(member
      ? [
          `bind-source-addr ${host}`,
          `masterauth ${password}`,
          `repl-diskless-sync-delay 0`,
          `cluster-node-timeout ${member.nodeTimeoutMs}`,
        ]
      : []),
  ];
  await writeFile(config, settings.join("\n"), { mode: 0o600 });
  const ask = (command: string, expect: RegExp) =>
    exchange({ port, send: `AUTH ${password}\r\n${command}\r\n`, expect: new RegExp(`^\\+OK\\r\\n.*?${expect.source}`, "s") });
  return await Server.start({
    name: "redis-server",
    program,
    arguments: [config],
    folder: home,
    port,
    url: `redis://:${password}@${host}:${port}`,
    user: null,
    stopSignal: "SIGTERM",
    abortSignal: "SIGKILL",
    ready: async () => {
      await ask("PING", /\+PONG/);
      if (cluster === true) await holdAllSlots(ask);
    },
  });
}

type Ask = (command: string, expect: RegExp) => Promise<string>;

/** The folder stores the slots: they are added once, and the server is ready when the cluster reports it. */
async function holdAllSlots(ask: Ask): Promise<void> {
  const state = await ask("CLUSTER INFO", /cluster_slots_assigned:\d+\r\n/);
  if (state.includes("cluster_slots_assigned:0")) {
    await ask(`CLUSTER ADDSLOTS ${Array.from({ length: slots }, (_, slot) => slot).join(" ")}`, /\+OK/);
  }
  await ask("CLUSTER INFO", /cluster_state:ok/);
}

export interface ClusterNode {
  server: Server;
  id: string;
  /** Opens a connection for each command, since nodes are killed and frozen. */
  send(command: string, ...parameters: string[]): Promise<unknown>;
}

export interface RedisCluster extends AsyncDisposable {
  masters: ClusterNode[];
  /** In the order of their masters. */
  replicas: ClusterNode[];
  /** The addresses of all nodes. */
  url: string;
}

interface ClusterOptions {
  program: Program;
  folder: string;
  masters: number;
  hasReplicas: boolean;
  /** A master that is silent for this long has failed. Its replica takes over some 0.7 s later. */
  nodeTimeoutMs: number;
  /** Loopback addresses, one for each node, masters first, so that they can be cut off separately. Default: one for all. */
  hosts?: readonly string[];
}

const joinMsMax = 30_000;
const pauseMs = 20;

/** @throws Error when the nodes do not find each other */
export async function startRedisCluster(options: ClusterOptions): Promise<RedisCluster> {
  const { program, folder, masters: count, hasReplicas, nodeTimeoutMs, hosts = [] } = options;
  await using stack = new AsyncDisposableStack();
  const cluster = { password: randomBytes(16).toString("hex"), nodeTimeoutMs };
  const places = Array.from({ length: hasReplicas ? 2 * count : count }, (_, place) => place);
  const nodes = await Promise.all(
    places.map(async (place) => {
      const host = hosts[place] ?? "127.0.0.1";
      const server = stack.use(await startRedis({ program, folder: join(folder, String(place)), cluster: { ...cluster, host } }));
      const send = (command: string, ...parameters: string[]) => sendTo(server.url, command, parameters);
      return { server, send, id: String(await send("CLUSTER", "MYID")) };
    }),
  );
  const [masters, replicas] = [nodes.slice(0, count), nodes.slice(count)];
  await introduce(nodes, masters);
  for (const [place, replica] of replicas.entries()) await replica.send("CLUSTER", "REPLICATE", masters[place]?.id ?? "");
  await untilAll(replicas, ["master_link_status:up"], "INFO", "replication");
  const kept = stack.move();
  const url = nodes.map(({ server }) => server.url).join(",");
  return { masters, replicas, url, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function sendTo(url: string, command: string, parameters: string[]): Promise<unknown> {
  const client = new RedisClient(url, { autoReconnect: false });
  try {
    return await client.send(command, parameters);
  } finally {
    client.close();
  }
}

/** Each knows all others, and the masters share the slots. */
async function introduce(nodes: ClusterNode[], masters: ClusterNode[]): Promise<void> {
  for (const [place, { send, server }] of nodes.entries()) {
    await send("CLUSTER", "SET-CONFIG-EPOCH", String(place + 1));
    for (const other of nodes.slice(0, place))
      await other.send("CLUSTER", "MEET", new URL(server.url).hostname, String(server.port));
  }
  const share = Math.ceil(slots / masters.length);
  for (const [place, { send }] of masters.entries()) {
    const [first, last] = [place * share, Math.min((place + 1) * share, slots) - 1];
    await send("CLUSTER", "ADDSLOTSRANGE", String(first), String(last));
  }
  const isWhole = ["cluster_state:ok", `cluster_slots_ok:${slots}`, `cluster_known_nodes:${nodes.length}`];
  await untilAll(nodes, isWhole, "CLUSTER", "INFO");
}

async function untilAll(nodes: ClusterNode[], lines: string[], command: string, ...parameters: string[]): Promise<void> {
  const deadline = performance.now() + joinMsMax;
  for (;;) {
    const replies = await Promise.all(nodes.map((node) => node.send(command, ...parameters)));
    if (replies.every((reply) => lines.every((line) => String(reply).split("\r\n").includes(line)))) return;
    if (performance.now() > deadline) throw new Error(`A Redis Cluster was not formed within ${joinMsMax} ms: ${replies.join()}`);
    await sleep(pauseMs);
  }
}
