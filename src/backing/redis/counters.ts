/** Counters of a fleet, in Redis, where one Lua function decides a whole batch in one step. */
import type {
  AdmitBatch,
  AdmitBatchReply,
  AdmitReply,
  CountedBalance,
  Counters,
  Hold,
  ResolveBatch,
  WorkspaceLoad,
} from "../counters.ts";
import { assertCountable } from "../credit-bound.ts";
import { assertCurrent } from "../stale-load.ts";
import { monthOf, type Clock, type Month } from "../../kernel/clock.ts";
import { newInternalId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { Secret } from "../../kernel/secret.ts";
import { countersDeadlineMs } from "../limits.ts";
import { admissionCalls, type AdmissionCall } from "./admission-call.ts";
import { readAdmission } from "./admission-reply.ts";
import { baseName } from "./calls.ts";
import { loadRedisClient, type RedisLibrary } from "./connection/load-client.ts";
import { RedisConnection } from "./connection/connection.ts";
import { keyMonthField } from "./fields.ts";
import { readHolds } from "./read-holds.ts";
import { loadValues, windowValues } from "./load-call.ts";
import { ReplyReader } from "./reply-reader.ts";
import { resolveCalls, type ResolveCall } from "./resolve-call.ts";
import { readFunctions, type FunctionLibrary } from "./function-library.ts";

export interface DistributedCountersOptions {
  url: Secret;
  clock: Clock;
  log: Logger;
  /** Which client library connects; absent: the fastest that this runtime has. */
  client?: RedisLibrary;
  /** Tests pass functions with another clock. */
  functions?: FunctionLibrary;
}

/**
 * Connects in the background: returns when Redis was reached, or after 250 ms without it. While Redis cannot be reached every
 * method throws CountersUnavailableError.
 */
export async function openDistributedCounters(options: DistributedCountersOptions): Promise<Counters> {
  const connect = await loadRedisClient(options.client);
  const redis = new RedisConnection({ ...options, connect, functions: options.functions ?? readFunctions() });
  await redis.reached(countersDeadlineMs);
  return new DistributedCounters(redis, options.clock);
}

class DistributedCounters implements Counters {
  readonly #redis: RedisConnection;
  readonly #clock: Clock;

  constructor(redis: RedisConnection, clock: Clock) {
    this.#redis = redis;
    this.#clock = clock;
  }

  async admitMany(batch: AdmitBatch): Promise<AdmitBatchReply> {
    if (batch.requests.length === 0) return { now: await this.now(), replies: [] };
    const replies: AdmitReply[] = [];
    const calls = admissionCalls(batch, this.#redis.server);
    const clocks = await Promise.all(calls.map((call) => this.#admit(call, { month: batch.month, replies })));
    return { now: Math.max(...clocks), replies };
  }

  /** Puts each reply in its place in the batch. @returns the store's clock */
  async #admit(call: AdmissionCall, { month, replies }: { month: Month; replies: AdmitReply[] }): Promise<number> {
    const reply = new ReplyReader(await this.#redis.call("admit", call));
    const now = reply.number();
    for (const [place, request] of call.placed) replies[place] = readAdmission(reply, { request, month, now });
    return now;
  }

  async resolveMany(batch: ResolveBatch): Promise<NanoUsd[]> {
    const freed: NanoUsd[] = [];
    const release = async (call: ResolveCall): Promise<void> => {
      const reply = new ReplyReader(await this.#redis.call("resolve", call));
      for (const place of call.places) freed[place] = reply.nano();
    };
    for (const round of resolveCalls(batch, this.#redis.server.clustered)) await Promise.all(round.map(release));
    return freed;
  }

  async beginLoad(workspace: WorkspaceId): Promise<string | null> {
    const values = [String(this.#redis.server.run), newInternalId(this.#clock.now())];
    const [begun] = await this.#redis.call("begin-load", { key: baseName(workspace), values });
    return begun === undefined ? null : String(begun);
  }

  /** Windows first and in calls of their own, for they may be long: no request is admitted before the last function has run. */
  async load(load: WorkspaceLoad): Promise<void> {
    assertCountable(load.account);
    const key = baseName(load.account.workspace);
    const { run } = this.#redis.server;
    for (const values of windowValues(load.windows, run)) await this.#redis.call("merge-windows", { key, values });
    const [outcome] = await this.#redis.call("load", { key, values: loadValues(load, run) });
    if (outcome === "stale") assertCurrent(load, null);
  }

  async forget(workspace: WorkspaceId, sequence: bigint): Promise<boolean> {
    const values = [String(this.#redis.server.run), sequence.toString()];
    const [outcome] = await this.#redis.call("forget", { key: baseName(workspace), values });
    return outcome === "forgotten";
  }

  async holds(workspace: WorkspaceId): Promise<Hold[]> {
    const holds = readHolds(await this.#redis.call("holds", { key: baseName(workspace), values: [] }));
    return holds.toSorted((a, b) => (a.generation < b.generation ? -1 : 1));
  }

  async overdue(workspace: WorkspaceId, limit: number): Promise<Hold[]> {
    return readHolds(await this.#redis.call("overdue", { key: baseName(workspace), values: [String(limit)] }));
  }

  /** The month is a guess until Redis replies with its clock; a wrong guess costs a second call. */
  async read(workspace: WorkspaceId, key: KeyId | null): Promise<CountedBalance & { now: number }> {
    const guess = monthOf(this.#clock.now());
    const first = await this.#read({ workspace, key, month: guess });
    const month = monthOf(first.now);
    return month === guess ? first : this.#read({ workspace, key, month });
  }

  async #read({
    workspace,
    key,
    month,
  }: {
    workspace: WorkspaceId;
    key: KeyId | null;
    month: Month;
  }): Promise<CountedBalance & { now: number }> {
    const values = [String(this.#redis.server.run), keyMonthField({ key: key ?? "", month })];
    const reader = new ReplyReader(await this.#redis.call("read", { key: baseName(workspace), values }));
    const now = reader.number();
    if (reader.atEnd) return { now, account: null, keySpent: null };
    const [balance, reserved, sequence] = [reader.nano(), reader.nano(), reader.nano()];
    const keySpent = reader.atEnd ? null : reader.nano();
    return { now, account: { balance, reserved, available: balance - reserved, sequence }, keySpent };
  }

  async now(): Promise<number> {
    const reader = new ReplyReader(await this.#redis.command(["TIME"]));
    const [seconds, microseconds] = [reader.number(), reader.number()];
    return seconds * 1_000 + Math.floor(microseconds / 1_000);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#redis[Symbol.asyncDispose]();
  }
}
