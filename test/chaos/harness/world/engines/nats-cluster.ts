/** Three NATS servers. The one that leads the stream of settlements is hit as such, and by its number. */
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "nats";
import { join } from "node:path";
import type { Program } from "../../../../../scripts/services/program.ts";
import type { Server } from "../../../../../scripts/services/server.ts";
import { startNatsCluster, type NatsCluster } from "../../../../support/nats/nats-cluster.ts";
import { until } from "../../../../support/until.ts";
import { failover, frozen, pause, type Healed } from "./engine.ts";
import type { NatsEngine } from "./nats-engine.ts";

const leader = "nats-leader";
/** As they call themselves, and their folders. */
const names = ["one", "two", "last"];
const electedMsMax = 20_000;
const joinedMsMax = 60_000;

interface Victim {
  server: Server;
  name: string;
}

export class NatsServers implements NatsEngine {
  readonly targets = [...names.map((_, place) => `nats-${place + 1}`), leader];
  /** The one whose network to the others can be cut. */
  readonly isolated = ["nats-3"];
  readonly folders: readonly string[];
  readonly #cluster: NatsCluster;

  private constructor(cluster: NatsCluster, folder: string) {
    this.#cluster = cluster;
    this.folders = names.map((name) => join(folder, name, "streams"));
  }

  static async start(program: Program, folder: string): Promise<NatsServers> {
    return new NatsServers(await startNatsCluster({ program, folder }), folder);
  }

  get url(): string {
    return this.#cluster.url;
  }

  async kill(target: string): Promise<Healed> {
    const victim = await this.#victim(target);
    await victim.server.kill("SIGKILL");
    await this.#replaced(victim, () => false);
    return { at: Date.now(), whole: victim.server.restart().then(() => this.#joined()) };
  }

  async freeze(target: string, ms: number): Promise<Healed> {
    const victim = await this.#victim(target);
    return failover({
      fault: () => frozen(victim.server, () => pause(ms)),
      replaced: (isOver) => this.#replaced(victim, isOver),
      joined: () => this.#joined(),
    });
  }

  async isolate(_: string, ms: number): Promise<Healed> {
    const [, , server] = this.#cluster.servers;
    return failover({
      fault: async () => {
        const connectAgain = this.#cluster.cutLast();
        await pause(ms);
        connectAgain();
      },
      replaced: (isOver) => this.#replaced({ server, name: "last" }, isOver),
      joined: () => this.#joined(),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cluster[Symbol.asyncDispose]();
  }

  async #victim(target: string): Promise<Victim> {
    const name = target === leader ? await this.#leading() : names[this.targets.indexOf(target)];
    const server = this.#cluster.servers[names.indexOf(name ?? "")];
    if (server === undefined || name === undefined) throw new Error(`There is no server "${target}"`);
    return { server, name };
  }

  /** The name of the server that leads the stream. While there is none, an election is under way. */
  async #leading(): Promise<string> {
    let name = "";
    await until(async () => (name = (await this.#stream(this.#cluster.servers))?.leader ?? "") !== "", electedMsMax);
    return name;
  }

  /** When another server led the stream, as the servers without the victim say; null: none did before `isOver`, or in time. */
  async #replaced({ server, name }: Victim, isOver: () => boolean): Promise<number | null> {
    const others = this.#cluster.servers.filter((one) => one !== server);
    const deadline = performance.now() + electedMsMax;
    while (!isOver() && performance.now() < deadline) {
      const found = await this.#stream(others);
      if (found?.leader && found.leader !== name) return Date.now();
      await pause(20);
    }
    return null;
  }

  /** Each server has what the stream has. */
  async #joined(): Promise<void> {
    await until(async () => (await this.#stream(this.#cluster.servers))?.current === names.length - 1, joinedMsMax);
  }

  /** Who leads the stream of settlements, and how many others have all of it. null: unknown. */
  async #stream(servers: readonly Server[]): Promise<{ leader: string | undefined; current: number } | null> {
    const urls = servers.map(({ url }) => new URL(url));
    const [{ username, password } = { username: "", password: "" }] = urls;
    const options = { user: username, pass: password, timeout: 1_000, reconnect: false };
    const connection = await connect({ servers: urls.map(({ host }) => host), ...options }).catch(() => null);
    if (connection === null) return null;
    try {
      const { cluster } = await (await jetstreamManager(connection, { timeout: 1_000 })).streams.info("settlements");
      const replicas = cluster?.replicas ?? [];
      return { leader: cluster?.leader, current: replicas.filter(({ current, offline }) => current && !offline).length };
    } catch {
      return null;
    } finally {
      await connection.close();
    }
  }
}
