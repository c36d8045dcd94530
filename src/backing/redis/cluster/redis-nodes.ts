/**
 * All Redis servers of the counters, and which of them has a workspace: one, or the masters of a Redis Cluster, which are asked twice a
 * second. An address only begins: every node of a cluster names the others.
 */
import { CountersUnavailableError } from "../../counters.ts";
import { clusterLeaseMs, clusterPollMs, clusterRetryMs } from "../../limits.ts";
import { sleep, withDeadline } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { addressesIn } from "../../../kernel/addresses/server-address.ts";
import { Secret } from "../../../kernel/secret.ts";
import { RedisConnection, type ConnectionOptions } from "../connection/connection.ts";
import { clusterSlot } from "./cluster-slot.ts";
import { ClusterView, type SlotOwner } from "./cluster-view.ts";
import type { NodesReport } from "./nodes-report.ts";
import { RedisNode } from "./redis-node.ts";

export type NodesOptions = Omit<ConnectionOptions, "connected">;

export class RedisNodes implements AsyncDisposable {
  readonly #options: NodesOptions;
  /** The addresses that were given. */
  readonly #seeds: string[];
  /** One of them, whose scheme, user and password are those of every node. */
  readonly #url: string;
  readonly #isEncrypted: boolean;
  readonly #nodes = new Map<string, RedisNode>();
  readonly #first = Promise.withResolvers<void>();
  /** null: no server said yet that it is of a cluster. */
  #view: ClusterView | null = null;
  #polling: Promise<void> | null = null;
  /** A node was connected while the others were asked. */
  #isOutdated = false;
  /** In monotonic milliseconds: when the nodes were asked last, whatever they answered. */
  #askedAt = -Infinity;
  #cancelPoll = (): void => {};
  #isClosed = false;

  /** @param options its url may hold several, separated by commas */
  constructor(options: NodesOptions) {
    this.#options = options;
    const urls = addressesIn(options.url.reveal());
    this.#url = urls[0] ?? "";
    this.#isEncrypted = this.#url.startsWith("rediss:");
    for (const url of urls) this.#open(addressOf(url), url);
    this.#seeds = [...this.#nodes.keys()];
  }

  /** Resolves when the only server, or the masters of all slots, were reached for the first time, at the latest after `ms`. */
  async reached(ms: number): Promise<void> {
    await withDeadline(this.#options.clock, ms, "Connecting to Redis", this.#first.promise).catch(() => {});
  }

  /** @throws CountersUnavailableError when the Redis that has this workspace cannot be used at present */
  nodeOf(workspace: WorkspaceId): RedisNode {
    if (this.#view === null) return this.#only();
    const owner = this.#view.ownerOf(clusterSlot(workspace));
    if (owner === null) throw new CountersUnavailableError("No master of the Redis Cluster has the slot");
    const node = this.#nodeOfOwner(owner);
    if (node === null) throw new CountersUnavailableError("A master of the Redis Cluster cannot be used at present");
    return node;
  }

  /** @throws CountersUnavailableError when none can be used at present */
  anyNode(): RedisNode {
    if (this.#view === null) return this.#only();
    for (const owner of this.#view.owners) {
      const node = this.#nodeOfOwner(owner);
      if (node !== null && node.server !== null) return node;
    }
    throw new CountersUnavailableError("No master of the Redis Cluster can be used at present");
  }

  /** Asks the nodes where that is overdue because this process was held up: what it knows of the masters is no longer certain. */
  async catchUp(): Promise<void> {
    if (this.#view !== null && this.#options.clock.monotonic() >= this.#askedAt + clusterLeaseMs) await this.#poll();
  }

  /** Asks the nodes again, after a pause: a slot moves, or a node is no longer the master. */
  async refresh(): Promise<void> {
    await sleep(this.#options.clock, clusterRetryMs);
    if (this.#view !== null) await this.#poll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#cancelPoll();
    for (const address of this.#nodes.keys()) this.#close(address);
  }

  #only(): RedisNode {
    const [address = ""] = this.#seeds;
    const node = this.#nodes.get(address);
    if (node === undefined || this.#isClosed) throw new CountersUnavailableError("Redis is not connected");
    // Counters that are shared out over servers that know nothing of each other would lose credit with each server.
    if (this.#seeds.length > 1) throw new CountersUnavailableError(severalServers);
    return node;
  }

  #nodeOfOwner(owner: SlotOwner): RedisNode | null {
    if (this.#isClosed || !this.#view?.isUsable(owner, this.#options.clock.monotonic())) return null;
    return this.#nodes.get(owner.address) ?? null;
  }

  #open(address: string, url = this.#url.replace(hostAndPort, `$1${address}`)): void {
    if (this.#nodes.has(address)) return;
    const connected = ({ clustered }: { clustered: boolean }): void => this.#connected(clustered);
    const connection = new RedisConnection({ ...this.#options, url: new Secret(url), connected });
    this.#nodes.set(address, new RedisNode(address, connection));
  }

  #close(address: string): void {
    void this.#nodes.get(address)?.[Symbol.asyncDispose]();
    this.#nodes.delete(address);
  }

  #connected(isClustered: boolean): void {
    if (isClustered) {
      this.#view ??= new ClusterView();
      this.#isOutdated = this.#polling !== null;
      void this.#poll();
      return;
    }
    this.#view = null;
    this.#cancelPoll();
    this.#first.resolve();
    if (this.#seeds.length === 1) return;
    this.#options.log.error({ event: "redis.no_cluster", addresses: this.#seeds }, `${severalServers}: none is used`);
  }

  /** One at a time. Never rejects. */
  #poll(): Promise<void> {
    this.#polling ??= this.#askAll().finally(() => {
      this.#polling = null;
      this.#cancelPoll();
      if (this.#view === null || this.#isClosed) return;
      const ms = this.#isOutdated ? 0 : clusterPollMs;
      this.#isOutdated = false;
      this.#cancelPoll = this.#options.clock.after(ms, () => void this.#poll());
    });
    return this.#polling;
  }

  async #askAll(): Promise<void> {
    const { clock, log } = this.#options;
    const askedAt = clock.monotonic();
    this.#askedAt = askedAt;
    const asked = [...this.#nodes.values()].map((node) => node.report({ encrypted: this.#isEncrypted }).catch(() => null));
    const reports = (await Promise.all(asked)).filter((report) => report !== null);
    if (this.#isClosed || this.#view === null) return;
    const isChanged = this.#view.update(reports, askedAt);
    this.#connectOwners(this.#view, reports);
    if (this.#view.isWhole(clock.monotonic())) this.#first.resolve();
    if (!isChanged) return;
    const masters = [...this.#view.owners].map(({ address }) => address);
    log.info({ event: "redis.cluster", masters }, "The masters of the Redis Cluster are known");
  }

  /** To the masters; to the given addresses, too, while they are the only way to hear of a master. */
  #connectOwners(view: ClusterView, reports: readonly NodesReport[]): void {
    const owners = new Set([...view.owners].map(({ address }) => address));
    for (const address of owners) this.#open(address);
    const now = this.#options.clock.monotonic();
    const areCertain = reports.length > 0 && [...view.owners].some((owner) => view.isUsable(owner, now));
    if (!areCertain) for (const address of this.#seeds) this.#open(address);
    for (const address of this.#nodes.keys()) {
      if (!owners.has(address) && (areCertain || !this.#seeds.includes(address))) this.#close(address);
    }
  }
}

const severalServers = "Several addresses of Redis were given, but not those of a Redis Cluster";

/** The scheme with user and password, and the host with its port. */
const hostAndPort = /^(\w+:\/\/(?:[^/?#]*@)?)[^/?#]*/;

/** @param url of one server */
function addressOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || "6379"}`;
}
