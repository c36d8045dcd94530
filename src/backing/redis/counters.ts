/**
 * Counters of a fleet, in Redis, where one Lua function decides a whole batch in one step. A call goes to each node that has workspaces of
 * the batch (nodes.ts); the arguments and replies of each function are in calls.ts and load.ts.
 * Two client libraries stand behind one interface (connection.ts): Bun's own client on Bun, and the package `redis` on other runtimes.
 * While Redis cannot be reached, every method throws CountersUnavailableError.
 */
import { monthOf, type Clock, type Month } from "../../kernel/clock.ts";
import { newInternalId, type GenerationId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { Secret } from "../../kernel/secret.ts";
import {
  type AdmitBatch,
  type AdmitBatchReply,
  type AdmitReply,
  type CountedBalance,
  type Counters,
  type Hold,
  type LendReply,
  type LendRequest,
  type ResolveBatch,
  type TakeBack,
  type WorkspaceLoad,
  assertCountable,
  assertCurrent,
} from "../counters.ts";
import { countersDeadlineMs } from "../limits.ts";
import {
  admissionValues,
  placedByWorkspace,
  readAdmission,
  lendValues,
  readLent,
  takeBackValues,
  resolveValues,
  resolveRounds,
} from "./calls.ts";
import {
  baseName,
  keyMonthField,
  ReplyReader,
  type ReplyElement,
  readFunctions,
  type FunctionLibrary,
  type FunctionName,
} from "./functions.ts";
import type { ConnectRedis } from "./connection.ts";
import { loadValues, readHolds, windowCalls } from "./load.ts";
import { callNodeOf, callNodes, type CallNode, type CallParts, RedisNodes } from "./nodes.ts";

interface DistributedCountersOptions {
  /** The address of one Redis, or those of several nodes of a Redis Cluster, separated by commas. */
  url: Secret;
  clock: Clock;
  log: Logger;
  /** Tests pass functions with another clock. */
  functions?: FunctionLibrary;
}

/**
 * Connects in the background: returns once Redis is reached, or after 250 ms without it. While Redis cannot be reached every method throws
 * CountersUnavailableError.
 */
export async function openDistributedCounters(options: DistributedCountersOptions): Promise<Counters> {
  const connect = await loadRedisClient();
  const nodes = new RedisNodes({ ...options, connect, functions: options.functions ?? readFunctions() });
  await nodes.reached(countersDeadlineMs);
  return new DistributedCounters(nodes, options.clock);
}

interface PositionRead {
  workspace: WorkspaceId;
  key: KeyId | null;
  month: Month;
  blocks: readonly GenerationId[];
}

class DistributedCounters implements Counters {
  readonly #nodes: RedisNodes;
  readonly #clock: Clock;
  readonly #parts: CallParts;

  constructor(nodes: RedisNodes, clock: Clock) {
    this.#nodes = nodes;
    this.#clock = clock;
    this.#parts = { nodes, clock };
  }

  async admitMany(batch: AdmitBatch): Promise<AdmitBatchReply> {
    if (batch.requests.length === 0) return { now: await this.now(), replies: [] };
    const replies: AdmitReply[] = [];
    const clocks: number[] = [];
    const placed = placedByWorkspace(batch.requests);
    const admit: CallNode = async (node, workspaces) => {
      const asked = workspaces.map((workspace) => [workspace, placed.get(workspace) ?? []] as const);
      const reply = new ReplyReader(await node.call("admit", { values: admissionValues(batch, asked, node) }));
      const now = reply.number();
      clocks.push(now);
      const decided = { month: batch.month, now };
      return asked.flatMap(([workspace, requests]) => {
        for (const [place, request] of requests) replies[place] = readAdmission(reply, { request, ...decided });
        return requests.some(([place]) => replies[place]?.outcome === "unreachable") ? [workspace] : [];
      });
    };
    const failures = await callNodes(placed.keys(), admit, this.#parts);
    if (clocks.length === 0) for (const error of failures.values()) throw error;
    for (const workspace of failures.keys()) {
      for (const [place] of placed.get(workspace) ?? []) replies[place] = { outcome: "unreachable" };
    }
    return { now: Math.max(...clocks), replies };
  }

  /** A workspace whose pushes failed keeps its holds: without the pushes its costs would count nowhere. */
  async resolveMany(batch: ResolveBatch): Promise<NanoUsd[]> {
    const freed: NanoUsd[] = [];
    const failed = new Map<WorkspaceId, unknown>();
    for (const round of resolveRounds(batch)) {
      const resolve: CallNode = async (node, workspaces) => {
        const parts = workspaces.flatMap((workspace) => round.get(workspace) ?? []);
        const reply = new ReplyReader(await node.call("resolve", { values: resolveValues(parts) }));
        return parts.flatMap((part) => {
          if (reply.number() === 0) return [part.workspace];
          for (const [place] of part.resolve) freed[place] = reply.nano();
          return [];
        });
      };
      const workspaces = [...round.keys()].filter((workspace) => !failed.has(workspace));
      for (const [workspace, error] of await callNodes(workspaces, resolve, this.#parts)) failed.set(workspace, error);
    }
    for (const error of failed.values()) throw error;
    return freed;
  }

  async lend(request: LendRequest): Promise<LendReply> {
    return readLent(await this.#call("lend", request.workspace, (run) => lendValues(request, run)));
  }

  async takeBack(back: TakeBack): Promise<void> {
    await this.#call("take-back", back.workspace, () => takeBackValues(back));
  }

  async beginLoad(workspace: WorkspaceId): Promise<string | null> {
    const name = newInternalId(this.#clock.now());
    const [begun] = await this.#call("begin-load", workspace, (run) => [String(run), name]);
    return begun === undefined ? null : String(begun);
  }

  /** Windows come first and in separate calls, since they may be long: no request is admitted before the last function has run. */
  async load(load: WorkspaceLoad): Promise<void> {
    assertCountable(load.account);
    const { workspace } = load.account;
    for (const windows of windowCalls(load.windows))
      await this.#call("merge-windows", workspace, (run) => [String(run), ...windows]);
    const [outcome] = await this.#call("load", workspace, (run) => loadValues(load, run));
    if (outcome === "stale") assertCurrent(load, null);
  }

  async forget(workspace: WorkspaceId, sequence: bigint, admittedAt?: number): Promise<boolean> {
    const admitted = admittedAt === undefined ? [] : [String(admittedAt)];
    const [outcome] = await this.#call("forget", workspace, (run) => [String(run), sequence.toString(), ...admitted]);
    return outcome === "forgotten";
  }

  async holds(workspace: WorkspaceId): Promise<Hold[]> {
    const holds = readHolds(await this.#call("holds", workspace, () => []));
    return holds.toSorted((a, b) => (a.generation < b.generation ? -1 : 1));
  }

  async overdue(workspace: WorkspaceId, limit: number): Promise<Hold[]> {
    return readHolds(await this.#call("overdue", workspace, () => [String(limit)]));
  }

  /** The month is a guess until Redis replies with its clock; a wrong guess costs a second call. */
  async read(
    workspace: WorkspaceId,
    key: KeyId | null,
    blocks: readonly GenerationId[] = [],
  ): Promise<CountedBalance & { now: number }> {
    const guess = monthOf(this.#clock.now());
    const first = await this.#read({ workspace, key, month: guess, blocks });
    const month = monthOf(first.now);
    return month === guess ? first : this.#read({ workspace, key, month, blocks });
  }

  async #read({ workspace, key, month, blocks }: PositionRead): Promise<CountedBalance & { now: number }> {
    const field = keyMonthField({ key: key ?? "", month });
    const reader = new ReplyReader(await this.#call("read", workspace, (run) => [String(run), field, ...blocks]));
    const now = reader.number();
    if (reader.atEnd) return { now, account: null, keySpent: null, lent: 0n, blocks: new Map() };
    const [balance, reserved, sequence, lent] = [reader.nano(), reader.nano(), reader.nano(), reader.nano()];
    const spent = reader.text();
    const ofBlocks = new Map(blocks.map((block) => [block, reader.nano()]));
    const account = { balance, reserved, available: balance - reserved, sequence };
    return { now, account, keySpent: spent === "" ? null : BigInt(spent), lent, blocks: ofBlocks };
  }

  async now(): Promise<number> {
    const reader = new ReplyReader(await this.#nodes.anyNode().command(["TIME"]));
    const [seconds, microseconds] = [reader.number(), reader.number()];
    return seconds * 1_000 + Math.floor(microseconds / 1_000);
  }

  /** @param values the arguments for a node with this run */
  #call(name: FunctionName, workspace: WorkspaceId, values: (run: number) => (string | Buffer)[]): Promise<ReplyElement[]> {
    const key = baseName(workspace);
    return callNodeOf(workspace, (node) => node.call(name, { key, values: values(node.run) }), this.#parts);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#nodes[Symbol.asyncDispose]();
  }
}

/** Loads one library only: Bun's does not exist elsewhere, and the package takes memory. */
async function loadRedisClient(): Promise<ConnectRedis> {
  if (typeof Bun === "undefined") return (await import("./package-client.ts")).connectPackageClient;
  return (await import("./bun-client.ts")).connectBunClient;
}
