/**
 * What a front remembers of keys, so that it need not ask before each body. A hint dies when the *record* it came from is
 * 30 s old, not 30 s after it arrived: the worker's cache and this one never add up.
 */
import type { Clock } from "../../../kernel/clock.ts";
import { keyRecordAgeMsMax, unknownKeyAgeMsMax } from "../../limits.ts";
import { KeyMemory } from "../partitioned-lru.ts";
import type { RecordAnswer, RecordOnBus } from "../message.ts";

interface Hint {
  record: RecordOnBus | null;
  endsAt: number;
}

export class Hints {
  readonly #hints: KeyMemory<Hint>;
  readonly #clock: Clock;
  #version = 0;

  /** @param max how many are remembered; absent: `recordsCachedMax` */
  constructor(clock: Clock, max?: number) {
    this.#hints = new KeyMemory(max);
    this.#clock = clock;
  }

  /** undefined: not known, ask; null: known to be no usable key. */
  get(hash: string): RecordOnBus | null | undefined {
    const hint = this.#hints.get(hash);
    return hint && this.#clock.monotonic() < hint.endsAt ? hint.record : undefined;
  }

  /** Call before asking, and pass to `keep`: an answer that was under way during a change is not kept. */
  version(): number {
    return this.#version;
  }

  /** @param askedAt monotonic ms before the question was sent: the way there and back ages the record too */
  keep(hash: string, answer: RecordAnswer, asked: { at: number; version: number }): void {
    if (asked.version !== this.#version) return;
    const ageMax = answer.record === null ? unknownKeyAgeMsMax : keyRecordAgeMsMax;
    this.#hints.set(hash, { record: answer.record, endsAt: asked.at + ageMax - answer.ageMs });
  }

  forget(): void {
    this.#version++;
    this.#hints.clear();
  }
}
