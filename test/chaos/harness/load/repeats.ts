/**
 * Which requests have an idempotency key, and when their clients send them again: while the first still runs, after it failed or its client
 * hung up, and sometimes after its answer; at another gateway, and sometimes with another body. They draw from random numbers of their own.
 */
import { sleep, systemClock } from "../../../../src/kernel/clock.ts";
import { randomFrom } from "../../../support/random.ts";
import type { ClientCall } from "./client-call.ts";

export interface Repetition {
  /** Whether it waits for the end of the first request. */
  isAfterEnd: boolean;
  /** After the end or the begin of the first request. */
  pauseMs: number;
  /** Also after an answer that was complete. */
  isStubborn: boolean;
  hasOtherBody: boolean;
}

export interface KeyedRequest {
  idempotencyKey: string;
  /** When its client hangs up; null: it waits. */
  leavesMs: number | null;
  again: Repetition[];
}

/** The share of requests with a key. */
const keyedShare = 0.25;

export class Repeats {
  readonly #random: () => number;
  readonly #seed: number;
  #keys = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed ^ 0x5bd1e995);
    this.#seed = seed;
  }

  /** null: the next request has no key. */
  next(): KeyedRequest | null {
    if (!this.#happens(keyedShare)) return null;
    const times = 1 + Math.floor(this.#random() * 2);
    return {
      idempotencyKey: `chaos-${this.#seed}-${++this.#keys}`,
      leavesMs: this.#happens(0.15) ? Math.floor(this.#random() * 300) : null,
      again: Array.from({ length: times }, () => ({
        isAfterEnd: this.#happens(0.7),
        pauseMs: Math.floor(this.#random() * (this.#happens(0.5) ? 100 : 3_000)),
        isStubborn: this.#happens(0.4),
        hasOtherBody: this.#happens(0.1),
      })),
    };
  }

  #happens(probability: number): boolean {
    return this.#random() < probability;
  }
}

/** Resolves when the repetition is due. @returns false if the client is content with its answer */
export async function isDue(
  first: ClientCall,
  ended: Promise<void>,
  { isAfterEnd, pauseMs, isStubborn }: Repetition,
): Promise<boolean> {
  if (isAfterEnd) await ended;
  await sleep(systemClock, pauseMs);
  return isStubborn || !first.whole;
}
