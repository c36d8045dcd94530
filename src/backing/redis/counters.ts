/** Counters of a fleet: Redis, where one Lua function decides a whole batch in one step. */
import type {
  AdmitBatch,
  AdmitBatchReply,
  AdmitReply,
  Counters,
  Hold,
  Position,
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
import { RedisConnection } from "./connection.ts";
import { keyMonthField } from "./fields.ts";
import { readHolds } from "./read-holds.ts";
import { loadValues, windowValues } from "./load-call.ts";
import { ReplyWords } from "./reply-words.ts";
import { resolveCalls, type ResolveCall } from "./resolve-call.ts";
import { readLibrary, type Library } from "./library.ts";

export interface DistributedCountersOptions {
  url: Secret;
  clock: Clock;
  log: Logger;
  /** Tests bring one with a clock of its own. */
  library?: Library;
}

/**
 * Connects in the background: returns when Redis was reached, or after 250 ms without it. While it is not there every verb
 * throws CountersUnavailableError, and once it is, they work.
 */
export async function openDistributedCounters(options: DistributedCountersOptions): Promise<Counters> {
  const redis = new RedisConnection({ ...options, library: options.library ?? readLibrary() });
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
    const reply = new ReplyWords(await this.#redis.words("admit", call));
    const now = reply.number();
    for (const [place, request] of call.placed) replies[place] = readAdmission(reply, { request, month, now });
    return now;
  }

  async resolveMany(batch: ResolveBatch): Promise<NanoUsd[]> {
    const freed: NanoUsd[] = [];
    const release = async (call: ResolveCall): Promise<void> => {
      const reply = new ReplyWords(await this.#redis.words("resolve", call));
      for (const place of call.places) freed[place] = reply.nano();
    };
    for (const round of resolveCalls(batch, this.#redis.server.clustered)) await Promise.all(round.map(release));
    return freed;
  }

  async beginLoad(workspace: WorkspaceId): Promise<string | null> {
    const values = [String(this.#redis.server.run), newInternalId(this.#clock.now())];
    const [begun] = await this.#redis.words("begin-load", { key: baseName(workspace), values });
    return begun === undefined ? null : String(begun);
  }

  /** Windows first and by themselves, for they may be long: nobody is admitted before the last function has run. */
  async load(load: WorkspaceLoad): Promise<void> {
    assertCountable(load.account);
    const key = baseName(load.account.workspace);
    const { run } = this.#redis.server;
    for (const values of windowValues(load.windows, run)) await this.#redis.words("merge-windows", { key, values });
    const [outcome] = await this.#redis.words("load", { key, values: loadValues(load, run) });
    if (outcome === "stale") assertCurrent(load, null);
  }

  async forget(workspace: WorkspaceId, sequence: bigint): Promise<boolean> {
    const values = [String(this.#redis.server.run), sequence.toString()];
    const [outcome] = await this.#redis.words("forget", { key: baseName(workspace), values });
    return outcome === "forgotten";
  }

  async holds(workspace: WorkspaceId): Promise<Hold[]> {
    const holds = readHolds(await this.#redis.words("holds", { key: baseName(workspace), values: [] }));
    return holds.toSorted((a, b) => (a.generation < b.generation ? -1 : 1));
  }

  async overdue(workspace: WorkspaceId, limit: number): Promise<Hold[]> {
    return readHolds(await this.#redis.words("overdue", { key: baseName(workspace), values: [String(limit)] }));
  }

  /** The month is a guess until Redis has told its clock; a wrong one is asked again. */
  async read(workspace: WorkspaceId, key: KeyId | null): Promise<Position & { now: number }> {
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
  }): Promise<Position & { now: number }> {
    const values = [String(this.#redis.server.run), keyMonthField({ key: key ?? "", month })];
    const words = new ReplyWords(await this.#redis.words("read", { key: baseName(workspace), values }));
    const now = words.number();
    if (words.atEnd) return { now, account: null, keySpent: null };
    const [balance, reserved, sequence] = [words.nano(), words.nano(), words.nano()];
    const keySpent = words.atEnd ? null : words.nano();
    return { now, account: { balance, reserved, available: balance - reserved, sequence }, keySpent };
  }

  async now(): Promise<number> {
    const words = new ReplyWords(await this.#redis.command(["TIME"]));
    const [seconds, microseconds] = [words.number(), words.number()];
    return seconds * 1_000 + Math.floor(microseconds / 1_000);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#redis[Symbol.asyncDispose]();
  }
}
