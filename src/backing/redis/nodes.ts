/**
 * All Redis servers of the counters, and which one has a workspace: one, or the masters of a Redis Cluster, which are asked twice a second.
 * An address is only a start: every node of a cluster names the others. Several servers that are not a cluster are refused, since counters
 * spread over them would lose credit with each one lost. A batch is one call for each node. A workspace that moves to another node
 * meanwhile is looked up again until the counters' deadline; if it was not reached, it is unknown whether its call ran.
 */
import { addressesIn } from "../../kernel/addresses.ts";
import { sleep, withDeadline, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { Secret } from "../../kernel/secret.ts";
import { CountersUnavailableError } from "../counters.ts";
import { clusterLeaseMs, clusterPollMs, clusterRetryMs, countersDeadlineMs } from "../limits.ts";
import { clusterSlot, ClusterView, type SlotOwner, type NodesReport, readNodesReport } from "./cluster-view.ts";
import { RedisConnection, type ConnectionOptions, type FunctionCall, readMasterRun, type Server } from "./connection.ts";
import type { ReplyElement, FunctionName } from "./functions.ts";

type NodesOptions = Omit<ConnectionOptions, "connected">;

export class RedisNodes implements AsyncDisposable {
  readonly #options: NodesOptions;
  /** The addresses that were given. */
  readonly #seeds: string[];
  /** One of them; its scheme, user and password apply to every node. */
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

  /** Asks the nodes if that is overdue because this process was held up: its knowledge of the masters is then uncertain. */
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
    // Counters spread over independent servers would lose credit with each server lost.
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

  /** To the masters; to the given addresses, too, while they are the only way to find a master. */
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

/** One Redis that has the counters of some workspaces: the only one, or a master of a cluster. */
class RedisNode implements AsyncDisposable {
  /** Host and port. */
  readonly address: string;
  readonly #connection: RedisConnection;
  /** What a master of a cluster replied when it was asked; a new connection makes it void. */
  #master: { server: Server; run: number | null } | null = null;

  constructor(address: string, connection: RedisConnection) {
    this.address = address;
    this.#connection = connection;
  }

  /** null: it is not connected. */
  get server(): Server | null {
    return this.#connection.server;
  }

  /**
   * The run of its counters, see `Server`.
   * @throws CountersUnavailableError when it is not connected, or is of a cluster and is not known to be a master
   */
  get run(): number {
    const { server } = this;
    if (server === null) throw new CountersUnavailableError("Redis is not connected");
    if (!server.clustered) return server.run;
    const run = this.#master?.server === server ? this.#master.run : null;
    if (run === null) throw new CountersUnavailableError("A node of the Redis Cluster is no master");
    return run;
  }

  /** Asks which node has which slots, and whether it is a master. @throws CountersUnavailableError, Error when the reply cannot be read */
  async report({ encrypted }: { encrypted: boolean }): Promise<NodesReport> {
    const { server } = this;
    if (server === null) throw new CountersUnavailableError("Redis is not connected");
    const words = [
      ["CLUSTER", "NODES"],
      ["INFO", "replication"],
    ];
    const [nodes = "", replication = ""] = await Promise.all(words.map((command) => this.#connection.text(command)));
    this.#master = { server, run: readMasterRun(server, replication) };
    return readNodesReport(nodes, { asked: this.address, encrypted });
  }

  /** Runs a function. @throws CountersUnavailableError: whether it ran is then unknown */
  call(name: FunctionName, call: FunctionCall): Promise<ReplyElement[]> {
    return this.#connection.call(name, call);
  }

  /** @throws CountersUnavailableError: whether it ran is then unknown */
  command(words: string[]): Promise<ReplyElement[]> {
    return this.#connection.command(words);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection[Symbol.asyncDispose]();
  }
}

/** @param url of one server */
function addressOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || "6379"}`;
}

// Calls

/** Calls one node for these workspaces. @returns those that it does not have: nothing was done for them */
export type CallNode = (node: RedisNode, workspaces: WorkspaceId[]) => Promise<WorkspaceId[]>;

export interface CallParts {
  nodes: RedisNodes;
  clock: Clock;
}

/**
 * Looks again for workspaces that move to another node meanwhile, until the counters' deadline.
 * @returns for each workspace that was not reached, why; whether its call ran is unknown
 */
export async function callNodes(
  workspaces: Iterable<WorkspaceId>,
  call: CallNode,
  { nodes, clock }: CallParts,
): Promise<ReadonlyMap<WorkspaceId, unknown>> {
  const failures = new Map<WorkspaceId, unknown>();
  const endsAt = clock.monotonic() + countersDeadlineMs;
  await nodes.catchUp();
  for (let waiting = [...workspaces]; ;) {
    const calls = [...byNode(waiting, { nodes, failures })].map(async ([node, some]) => {
      try {
        return await call(node, some);
      } catch (error) {
        if (isElsewhere(error)) return some;
        for (const workspace of some) failures.set(workspace, error);
        return [];
      }
    });
    waiting = (await Promise.all(calls)).flat();
    if (waiting.length === 0) return failures;
    if (clock.monotonic() >= endsAt) {
      const error = new CountersUnavailableError("The slot of a workspace is on its way to another node");
      for (const workspace of waiting) failures.set(workspace, error);
      return failures;
    }
    await nodes.refresh();
  }
}

/** Calls the node of one workspace. @throws CountersUnavailableError: whether the call ran is then unknown */
export async function callNodeOf<Reply>(
  workspace: WorkspaceId,
  call: (node: RedisNode) => Promise<Reply>,
  { nodes, clock }: CallParts,
): Promise<Reply> {
  const endsAt = clock.monotonic() + countersDeadlineMs;
  await nodes.catchUp();
  for (;;) {
    try {
      return await call(nodes.nodeOf(workspace));
    } catch (error) {
      if (!isElsewhere(error) || clock.monotonic() >= endsAt) throw error;
    }
    await nodes.refresh();
  }
}

function byNode(
  workspaces: Iterable<WorkspaceId>,
  { nodes, failures }: { nodes: RedisNodes; failures: Map<WorkspaceId, unknown> },
): Map<RedisNode, WorkspaceId[]> {
  const found = new Map<RedisNode, WorkspaceId[]>();
  for (const workspace of workspaces) {
    try {
      const node = nodes.nodeOf(workspace);
      const others = found.get(node);
      if (others) others.push(workspace);
      else found.set(node, [workspace]);
    } catch (error) {
      failures.set(workspace, error);
    }
  }
  return found;
}

/** The node refused before it did anything: it is no longer the one to ask, or not yet. */
function isElsewhere(error: unknown): boolean {
  const cause = error instanceof CountersUnavailableError ? error.cause : null;
  return cause instanceof Error && /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN|READONLY) /.test(cause.message);
}
