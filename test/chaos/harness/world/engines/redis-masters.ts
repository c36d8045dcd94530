/** A Redis Cluster, whose masters are killed and frozen until their replicas have taken their places. */
import { join } from "node:path";
import type { Program } from "../../../../../scripts/services/program.ts";
import { startRedisCluster, type ClusterNode, type RedisCluster } from "../../../../../scripts/services/redis.ts";
import { clusterSlot } from "../../../../../src/backing/redis/cluster-view.ts";
import { masterOf, storeOf } from "../../../../support/counters/redis-cluster.ts";
import { until } from "../../../../support/until.ts";
import { HeldGenerations } from "../../checks/held-generations.ts";
import { LoopbackNetwork } from "../loopback-network.ts";
import { failover, frozen, pause, type Healed } from "./engine.ts";
import { keepWholeFile, type RedisEngine } from "./redis-engine.ts";

const mastersCount = 3;
/** How many slots each master has. */
const share = Math.ceil(16_384 / mastersCount);
/** As docs/internals/fleet.md recommends. */
const nodeTimeoutMs = 3_000;
const promotedMsMax = 20_000;
const joinedMsMax = 60_000;

export class RedisMasters implements RedisEngine {
  readonly targets = Array.from({ length: mastersCount }, (_, place) => `redis-master-${place + 1}`);
  readonly isolated: readonly string[];
  readonly #cluster: RedisCluster;
  readonly #network: LoopbackNetwork;
  readonly #nodes: ClusterNode[];
  /** A replica may begin its file again when it joins a master, so files are read before. */
  readonly #files: HeldGenerations[];

  private constructor({ cluster, network, folder }: { cluster: RedisCluster; network: LoopbackNetwork; folder: string }) {
    this.#cluster = cluster;
    this.#network = network;
    this.isolated = network.problem === null ? this.targets : [];
    this.#nodes = [...cluster.masters, ...cluster.replicas];
    this.#files = this.#nodes.map((_, place) => new HeldGenerations(join(folder, String(place))));
  }

  static async start(program: Program, folder: string): Promise<RedisMasters> {
    const network = new LoopbackNetwork(2 * mastersCount);
    const shape = { masters: mastersCount, hasReplicas: true, nodeTimeoutMs, hosts: network.hosts };
    const cluster = await startRedisCluster({ program, folder, ...shape });
    const engine = new RedisMasters({ cluster, network, folder });
    for (const { server } of engine.#nodes) await keepWholeFile(server.url);
    return engine;
  }

  get url(): string {
    return this.#cluster.url;
  }

  async kill(target: string): Promise<Healed> {
    const master = await this.#masterOf(target);
    this.#noteHeld();
    await master.server.kill("SIGKILL");
    this.#noteHeld();
    const at = await this.#replaced(master);
    return { at: at ?? Date.now(), whole: master.server.restart().then(() => this.#joined()) };
  }

  async freeze(target: string, ms: number): Promise<Healed> {
    const master = await this.#masterOf(target);
    this.#noteHeld();
    return failover({
      fault: () =>
        frozen(master.server, async () => {
          await pause(ms);
          this.#noteHeld();
        }),
      replaced: (isOver) => this.#replaced(master, isOver),
      joined: () => this.#joined(),
    });
  }

  /** Its replica is among the others, which are most. */
  async isolate(target: string, ms: number): Promise<Healed> {
    const master = await this.#masterOf(target);
    this.#noteHeld();
    return failover({
      fault: async () => {
        const connectAgain = this.#network.cut(new URL(master.server.url).hostname);
        await pause(ms);
        this.#noteHeld();
        connectAgain();
      },
      replaced: (isOver) => this.#replaced(master, isOver),
      joined: () => this.#joined(),
    });
  }

  async failover(target: string): Promise<Healed> {
    this.#noteHeld();
    // A promoted or moved replica leaves a master alone for a few seconds; then there is none yet that could take its place.
    let replica: ClusterNode | null = null;
    await until(async () => {
      replica = await this.#replicaOf(target);
      await replica?.send("CLUSTER", "FAILOVER");
      return replica !== null;
    }, joinedMsMax);
    await until(async () => replica !== null && (await roleOf(replica)) === "master", promotedMsMax);
    return { at: Date.now(), whole: this.#joined() };
  }

  async empty(): Promise<void> {
    this.#noteHeld();
    for (const node of this.#nodes) if ((await roleOf(node)) === "master") await node.send("FLUSHALL");
  }

  async held(): Promise<ReadonlySet<string>> {
    return new Set(this.#files.flatMap((file) => [...file.read()]));
  }

  async masters(): Promise<string[]> {
    const roles = await Promise.all(this.#nodes.map(roleOf));
    return this.#nodes.filter((_, place) => roles[place] === "master").map(({ server }) => server.url);
  }

  targetOf(workspace: string): string {
    return this.targets[Math.floor(clusterSlot(workspace) / share)] ?? "";
  }

  async open() {
    const { eval: run } = storeOf({ ...this.#cluster, masters: this.#nodes });
    return { eval: run, [Symbol.dispose]: () => {} };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#network[Symbol.dispose]();
    await this.#cluster[Symbol.asyncDispose]();
  }

  /** The current master of a third of the slots. */
  #masterOf(target: string): Promise<ClusterNode> {
    return masterOf(share * this.targets.indexOf(target), this.#nodes);
  }

  /** null: the current master has none that is connected to it. */
  async #replicaOf(target: string): Promise<ClusterNode | null> {
    const { id } = await this.#masterOf(target);
    const lines = await this.#report();
    const roles = await Promise.all(this.#nodes.map(roleOf));
    // The node that reports calls itself `myself,slave`.
    const follows = (node: ClusterNode) => lines.some((line) => line.startsWith(node.id) && line.includes(`slave ${id} `));
    return this.#nodes.find((node, place) => roles[place] === "connected slave" && follows(node)) ?? null;
  }

  async #report(): Promise<string[]> {
    const [asked] = this.#nodes.filter(({ server }) => server.pid !== 0);
    return String(await asked?.send("CLUSTER", "NODES")).split("\n");
  }

  /** When a replica of the silent master said that it is a master now; null: none did before `isOver`, or in time. */
  async #replaced(master: ClusterNode, isOver = () => false): Promise<number | null> {
    const deadline = performance.now() + promotedMsMax;
    const others = this.#nodes.filter((node) => node !== master);
    const before = new Set(await mastersAmong(others));
    while (!isOver() && performance.now() < deadline) {
      const now = await mastersAmong(others);
      if (now.some((node) => !before.has(node))) return Date.now();
      await pause(20);
    }
    return null;
  }

  /** All nodes know each other again, and each master has a replica that is up to date. */
  async #joined(): Promise<void> {
    await until(async () => {
      const roles = await Promise.all(this.#nodes.map(roleOf));
      if (roles.filter((role) => role === "master").length !== mastersCount) return false;
      if (roles.filter((role) => role === "connected slave").length !== mastersCount) return false;
      const reports = await Promise.all(this.#nodes.map((node) => node.send("CLUSTER", "NODES").catch(() => "fail")));
      return reports.every(
        (report) => !/fail|handshake|disconnected/.test(String(report)) && followersIn(report) === mastersCount,
      );
    }, joinedMsMax);
  }

  #noteHeld(): void {
    for (const file of this.#files) file.read();
  }
}

async function mastersAmong(nodes: ClusterNode[]): Promise<ClusterNode[]> {
  const roles = await Promise.all(nodes.map(roleOf));
  return nodes.filter((_, place) => roles[place] === "master");
}

/** Such as `master`; for a replica, whether it is connected to its master as well. */
async function roleOf({ send, server }: ClusterNode): Promise<string> {
  if (server.pid === 0) return "";
  const [role, , , state] = (await send("ROLE").catch(() => [])) as unknown[];
  return role === "slave" ? `${state} slave` : String(role);
}

function followersIn(report: unknown): number {
  return String(report).match(/\b(?:myself,)?slave /g)?.length ?? 0;
}
