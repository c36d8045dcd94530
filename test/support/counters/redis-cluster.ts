/** A Redis Cluster of three masters with a replica each for one test file, which may kill nodes and move slots. */
import { RedisClient } from "bun";
import { startRedisCluster, type ClusterNode, type RedisCluster } from "../../../scripts/services/redis.ts";
import { clusterSlot, readNodesReport } from "../../../src/backing/redis/cluster-view.ts";
import type { StoreClient } from "./redis.ts";
import { temporaryFolder, testServers } from "../servers/services.ts";

/** null if this machine has no Redis; the reason is printed. */
export async function openTestRedisCluster(): Promise<RedisCluster | null> {
  const servers = await testServers();
  if (servers === null) return null;
  const folder = await temporaryFolder("redis-cluster");
  return startRedisCluster({ program: servers.redis, folder, masters: 3, hasReplicas: true, nodeTimeoutMs: 1_000 });
}

/** The node of these that has the slot, in the opinion of the first that lives. */
export async function masterOf(slot: number, nodes: ClusterNode[]): Promise<ClusterNode> {
  const asked = nodes.find(({ server }) => server.pid !== 0);
  const text = String(await asked?.send("CLUSTER", "NODES"));
  const known = [...readNodesReport(text, { asked: "127.0.0.1:0", encrypted: false }).nodes.values()];
  const owner = known.find(({ slots }) => slots.some(([first, last]) => first <= slot && slot <= last));
  const master = nodes.find(({ id }) => id === owner?.id);
  if (master === undefined) throw new Error(`None of these nodes has the slot ${slot}`);
  return master;
}

/** Moves a slot with its keys as redis-cli does, and calls back when one key is there and the others are still here. */
export async function moveSlot(
  slot: number,
  { from, to, halfway }: { from: ClusterNode; to: ClusterNode; halfway(): Promise<void> },
): Promise<void> {
  const { password } = new URL(to.server.url);
  const target = ["127.0.0.1", String(to.server.port), "", "0", "1000", "AUTH", password, "KEYS"];
  const keysLeft = async () => ((await from.send("CLUSTER", "GETKEYSINSLOT", String(slot), "100")) as string[]).toSorted();
  await to.send("CLUSTER", "SETSLOT", String(slot), "IMPORTING", from.id);
  await from.send("CLUSTER", "SETSLOT", String(slot), "MIGRATING", to.id);
  const [first = ""] = await keysLeft();
  await from.send("MIGRATE", ...target, first);
  await halfway();
  for (let keys = await keysLeft(); keys.length > 0; keys = await keysLeft()) await from.send("MIGRATE", ...target, ...keys);
  for (const node of [to, from]) await node.send("CLUSTER", "SETSLOT", String(slot), "NODE", to.id);
}

const slotOf = (key: string): number => clusterSlot(/^{(.*?)}/.exec(key)?.[1] ?? key);

/** The masters as one store, as long as no node fails and no slot moves: each is asked over a connection that stays. */
export function openStore({ masters }: RedisCluster): { store: StoreClient; close(): void } {
  const clients = new Map(masters.map((node) => [node.id, new RedisClient(node.server.url, { autoReconnect: false })]));
  const owners = new Map<number, Promise<ClusterNode>>();
  const send = async (key: string, command: string, words: string[]): Promise<unknown> => {
    const slot = slotOf(key);
    const owner = owners.get(slot) ?? masterOf(slot, masters);
    owners.set(slot, owner);
    return clients.get((await owner).id)?.send(command, words);
  };
  const all = [...clients.values()];
  return {
    store: {
      set: (key, value) => send(key, "SET", [key, value]),
      eval: (script, { keys }) => send(keys[0] ?? "", "EVAL", [script, String(keys.length), ...keys]),
      flushDb: () => Promise.all(all.map((client) => client.send("FLUSHDB", []))),
    },
    close: () => all.forEach((client) => client.close()),
  };
}

/** The masters as one store, whose keys begin with their tag. */
export function storeOf({ masters }: RedisCluster): Pick<StoreClient, "eval"> {
  const at = (key: string): Promise<ClusterNode> => masterOf(slotOf(key), masters);
  return {
    eval: async (script, { keys }) => (await at(keys[0] ?? "")).send("EVAL", script, String(keys.length), ...keys),
  };
}
