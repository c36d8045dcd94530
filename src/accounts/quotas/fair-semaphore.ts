/** A semaphore that is fair among holders: each has a bound of its own, and waiting holders are served in turn. */
import type { Clock } from "../../kernel/clock.ts";
import { HolderCounts } from "./holder-counts.ts";
import { LimitReachedError } from "./limit-reached.ts";

export interface SemaphoreLimits {
  runningMax: number;
  runningPerHolderMax: number;
  waitingMax: number;
  waitingPerHolderMax: number;
  /** The longest wait. */
  waitMs: number;
}

/** Releases the slot; a second call does nothing. */
export type ReleaseSlot = () => void;

interface Waiting {
  start(): void;
}

export class FairSemaphore {
  readonly #clock: Clock;
  readonly #limits: SemaphoreLimits;
  readonly #busy: string;
  readonly #running = new HolderCounts();
  /** By holder; the last one served comes last. */
  readonly #waiting = new Map<string, Waiting[]>();
  #runningCount = 0;
  #waitingCount = 0;

  /** @param busy the message of the error */
  constructor({ clock, limits, busy }: { clock: Clock; limits: SemaphoreLimits; busy: string }) {
    this.#clock = clock;
    this.#limits = limits;
    this.#busy = busy;
  }

  /** @throws LimitReachedError 429 if the holder has too many waiting, 503 if all together do, or if the wait was too long */
  acquire(holder: string): Promise<ReleaseSlot> {
    if (this.#mayRun(holder)) return Promise.resolve(this.#begin(holder));
    const own = this.#waiting.get(holder)?.length ?? 0;
    if (own >= this.#limits.waitingPerHolderMax) return Promise.reject(this.#refusal(429));
    if (this.#waitingCount >= this.#limits.waitingMax) return Promise.reject(this.#refusal(503));
    return this.#wait(holder);
  }

  #wait(holder: string): Promise<ReleaseSlot> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        start: () => {
          cancel();
          resolve(this.#begin(holder));
        },
      };
      const cancel = this.#clock.after(this.#limits.waitMs, () => {
        this.#remove(holder, waiting);
        reject(this.#refusal(503));
      });
      this.#waiting.set(holder, [...(this.#waiting.get(holder) ?? []), waiting]);
      this.#waitingCount++;
    });
  }

  #mayRun(holder: string): boolean {
    return this.#runningCount < this.#limits.runningMax && this.#running.of(holder) < this.#limits.runningPerHolderMax;
  }

  #begin(holder: string): ReleaseSlot {
    this.#runningCount++;
    this.#running.add(holder, 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#runningCount--;
      this.#running.add(holder, -1);
      this.#startNext();
    };
  }

  /** Starts the first call of the next holder, which then comes after all others. */
  #startNext(): void {
    for (const [holder, [first]] of this.#waiting) {
      if (first === undefined || !this.#mayRun(holder)) continue;
      this.#remove(holder, first);
      const others = this.#waiting.get(holder);
      if (others !== undefined) {
        this.#waiting.delete(holder);
        this.#waiting.set(holder, others);
      }
      first.start();
      return;
    }
  }

  #remove(holder: string, waiting: Waiting): void {
    const left = (this.#waiting.get(holder) ?? []).filter((one) => one !== waiting);
    if (left.length === 0) this.#waiting.delete(holder);
    else this.#waiting.set(holder, left);
    this.#waitingCount--;
  }

  #refusal(status: 429 | 503): LimitReachedError {
    return new LimitReachedError(this.#busy, { status, retryAfterMs: this.#limits.waitMs });
  }
}
