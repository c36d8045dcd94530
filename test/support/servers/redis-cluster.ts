/** A Redis Cluster of masters with a replica each, which a test may kill, and whose slots it may move. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { startRedis } from "../../../scripts/services/redis.ts";
import type { Server } from "../../../scripts/services/server.ts";
import { clusterSlot, slotCount } from "../../../src/backing/redis/cluster/cluster-slot.ts";
import { connectClient, type Client, type StoreClient } from "../counters/redis.ts";
import { until } from "../until.ts";
import { temporaryFolder, testServers } from "./services.ts";

const mastersCount = 3;
/** A node that is silent for this long has failed. Its replica takes over some 0.7 s later. */
const nodeTimeoutMs = 1_000;
const startMsMax = 30_000;

interface Node {
  server: Server;
  client: Client;
  id: string;
}

export class TestRedisCluster implements AsyncDisposable {
  /** The masters, then the replica of each, as they were at first. */
  readonly nodes: Node[];

  private constructor(nodes: Node[]) {
    this.nodes = nodes;
  }

  /** null if this machine has no Redis; the reason is printed. */
  static async start(): Promise<TestRedisCluster | null> {
    const servers = await testServers();
    if (servers === null) return null;
    const folder = await temporaryFolder("redis-cluster");
    const cluster = { password: randomBytes(16).toString("hex"), nodeTimeoutMs };
    const starting = Array.from({ length: 2 * mastersCount }, async (_, place): Promise<Node> => {
      const server = await startRedis({ program: servers.redis, folder: join(folder, String(place)), cluster });
      const client = await connectClient(server.url);
      return { server, client, id: String(await client.sendCommand(["CLUSTER", "MYID"])) };
    });
    const started = new TestRedisCluster(await Promise.all(starting));
    await started.#join();
    return started;
  }

  /** The addresses of all nodes. */
  get url(): string {
    return this.nodes.map(({ server }) => server.url).join(",");
  }

  /** The master that has this slot, in the opinion of a node that lives. */
  async masterOf(slot: number): Promise<Node> {
    const [, id = ""] = (await this.#slots()).find(([last]) => slot <= last) ?? [];
    const master = this.nodes.find((node) => node.id === id);
    if (master === undefined) throw new Error(`No node has the slot ${slot}`);
    return master;
  }

  replicaOf(master: Node): Node {
    const place = this.nodes.indexOf(master);
    const replica = this.nodes[place + mastersCount];
    if (replica === undefined) throw new Error("It was no master at first");
    return replica;
  }

  /** Moves a slot with its keys as redis-cli does, and calls back while some keys are here and others there. */
  async move(slot: number, { from, to, halfway }: { from: Node; to: Node; halfway(): Promise<void> }): Promise<void> {
    await to.client.sendCommand(["CLUSTER", "SETSLOT", String(slot), "IMPORTING", from.id]);
    await from.client.sendCommand(["CLUSTER", "SETSLOT", String(slot), "MIGRATING", to.id]);
    const { password } = new URL(to.server.url);
    const keysLeft = async () =>
      ((await from.client.sendCommand(["CLUSTER", "GETKEYSINSLOT", String(slot), "100"])) as string[]).toSorted();
    const [first] = await keysLeft();
    const migrate = (keys: string[]) =>
      from.client.sendCommand([
        "MIGRATE",
        "127.0.0.1",
        String(to.server.port),
        "",
        "0",
        "1000",
        "AUTH",
        password,
        "KEYS",
        ...keys,
      ]);
    if (first !== undefined) await migrate([first]);
    await halfway();
    for (let keys = await keysLeft(); keys.length > 0; keys = await keysLeft()) await migrate(keys);
    for (const { client } of [to, from]) await client.sendCommand(["CLUSTER", "SETSLOT", String(slot), "NODE", to.id]);
  }

  /** Asks the masters as one store; keys name the slot. */
  get store(): StoreClient {
    const at = async (key: string): Promise<Client> => (await this.masterOf(clusterSlot(/^{(.*)}/.exec(key)?.[1] ?? key))).client;
    return {
      set: async (key, value) => (await at(key)).set(key, value),
      eval: async (script, options) => (await at(options.keys[0] ?? "")).eval(script, options),
      flushDb: () => Promise.all(this.nodes.slice(0, mastersCount).map(({ client }) => client.flushDb())),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client } of this.nodes) client.destroy();
    await Promise.all(this.nodes.map(({ server }) => server.kill("SIGKILL")));
  }

  async #slots(): Promise<[last: number, id: string][]> {
    for (const { server, client } of this.nodes) {
      if (server.pid === 0) continue;
      const ranges = (await client.sendCommand(["CLUSTER", "SLOTS"])) as [number, number, [string, number, string]][];
      return ranges.toSorted(([a], [b]) => a - b).map(([, last, [, , id]]) => [last, id]);
    }
    throw new Error("No node lives");
  }

  async #join(): Promise<void> {
    const masters = this.nodes.slice(0, mastersCount);
    const share = Math.ceil(slotCount / mastersCount);
    for (const [place, { client, server }] of this.nodes.entries()) {
      await client.sendCommand(["CLUSTER", "SET-CONFIG-EPOCH", String(place + 1)]);
      for (const other of this.nodes.slice(0, place)) {
        await other.client.sendCommand(["CLUSTER", "MEET", "127.0.0.1", String(server.port)]);
      }
    }
    for (const [place, { client }] of masters.entries()) {
      const [first, last] = [place * share, Math.min((place + 1) * share, slotCount) - 1];
      await client.sendCommand(["CLUSTER", "ADDSLOTSRANGE", String(first), String(last)]);
    }
    const everyone =
      (expected: RegExp, command: string[], nodes = this.nodes) =>
      async (): Promise<boolean> => {
        const replies = await Promise.all(nodes.map(({ client }) => client.sendCommand(command)));
        return replies.every((reply) => expected.test(String(reply)));
      };
    await until(everyone(/cluster_state:ok[^]*cluster_slots_ok:16384[^]*cluster_known_nodes:6/, ["CLUSTER", "INFO"]), startMsMax);
    for (const master of masters) await this.replicaOf(master).client.sendCommand(["CLUSTER", "REPLICATE", master.id]);
    await until(everyone(/master_link_status:up/, ["INFO", "replication"], this.nodes.slice(mastersCount)), startMsMax);
  }
}
