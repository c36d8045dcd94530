/**
 * The gateway's cache of key records, which saves a request to admission before each body. An entry expires when the *record* it
 * came from is 30 s old, not 30 s after it arrived, so the ages of the worker's cache and of this one never add up.
 */
import type { Clock } from "../../../kernel/clock.ts";
import { keyRecordAgeMsMax, unknownKeyAgeMsMax } from "../../limits.ts";
import { PartitionedLru } from "../partitioned-lru.ts";
import type { KeyRecordReply, RecordOnBus } from "../message.ts";

interface CachedKey {
  record: RecordOnBus | null;
  endsAt: number;
}

export class GatewayKeyCache {
  readonly #keys: PartitionedLru<CachedKey>;
  readonly #clock: Clock;
  #version = 0;

  /** @param max how many keys are cached; absent: `recordsCachedMax` */
  constructor(clock: Clock, max?: number) {
    this.#keys = new PartitionedLru(max);
    this.#clock = clock;
  }

  /** undefined: not cached; null: cached as a key that cannot be used. */
  get(hash: string): RecordOnBus | null | undefined {
    const cached = this.#keys.get(hash);
    return cached && this.#clock.monotonic() < cached.endsAt ? cached.record : undefined;
  }

  /** Read it before a request and pass it to `set`: a reply is not cached if a record changed before it arrived. */
  version(): number {
    return this.#version;
  }

  /** @param sent when the request was sent, in monotonic ms, and the version then; the round trip counts as age */
  set(hash: string, reply: KeyRecordReply, sent: { at: number; version: number }): void {
    if (sent.version !== this.#version) return;
    const ageMax = reply.record === null ? unknownKeyAgeMsMax : keyRecordAgeMsMax;
    this.#keys.set(hash, { record: reply.record, endsAt: sent.at + ageMax - reply.ageMs });
  }

  clear(): void {
    this.#version++;
    this.#keys.clear();
  }
}
