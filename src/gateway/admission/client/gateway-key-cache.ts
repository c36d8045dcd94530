/**
 * What a front remembers of keys, so that it need not ask before each body. A hint dies when the *record* it came from is
 * 30 s old, not 30 s after it arrived: the worker's cache and this one never add up.
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

  /** @param max how many are remembered; absent: `recordsCachedMax` */
  constructor(clock: Clock, max?: number) {
    this.#keys = new PartitionedLru(max);
    this.#clock = clock;
  }

  /** undefined: not known, ask; null: known to be no usable key. */
  get(hash: string): RecordOnBus | null | undefined {
    const hint = this.#keys.get(hash);
    return hint && this.#clock.monotonic() < hint.endsAt ? hint.record : undefined;
  }

  /** Call before asking, and pass to `keep`: an answer that was under way during a change is not kept. */
  version(): number {
    return this.#version;
  }

  /** @param askedAt monotonic ms before the question was sent: the way there and back ages the record too */
  set(hash: string, answer: KeyRecordReply, sent: { at: number; version: number }): void {
    if (sent.version !== this.#version) return;
    const ageMax = answer.record === null ? unknownKeyAgeMsMax : keyRecordAgeMsMax;
    this.#keys.set(hash, { record: answer.record, endsAt: sent.at + ageMax - answer.ageMs });
  }

  clear(): void {
    this.#version++;
    this.#keys.clear();
  }
}
