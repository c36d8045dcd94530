import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { exchange } from "./exchange.ts";
import { freePort } from "./free-port.ts";
import { openFolder } from "./open-folder.ts";
import type { Program } from "./program.ts";
import { Server } from "./server.ts";

export interface RedisOptions {
  program: Program;
  /** Its append-only file, its password and its log. */
  folder: string;
  port?: number;
  /** A Redis Cluster of one server that has all slots; or a node of one, without slots, which fails so soon after its last word, and is known by its host. */
  cluster?: true | { password: string; nodeTimeoutMs: number; host: string };
}

const slots = 16_384;
const clusterBusOffset = 10_000;
const loopback = "127.0.0.1";

/** A Redis server on loopback with a password, which forgets at most the last second and never evicts. */
export async function startRedis({ program, folder, port: wanted, cluster }: RedisOptions): Promise<Server> {
  const port = wanted ?? (await freePort({ alsoOffset: clusterBusOffset }));
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
    // Frees large expired windows in another thread than the one that replies.
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
