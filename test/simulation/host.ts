import type { Clock } from "../../src/kernel/clock.ts";
import type { Life, Scheduler } from "./scheduler.ts";

/** A process. Its successor is another one. */
export class Host implements Life {
  readonly name: string;
  readonly clock: HostClock;
  /** Of true time: since when others could ask it without a pause. */
  heardSince: number;
  #isDead = false;
  #isConnected = true;
  #frozenUntil = 0;
  /** When it fell silent. */
  #leftAt = 0;
  readonly #scheduler: Scheduler;

  constructor(name: string, { scheduler, startMs }: { scheduler: Scheduler; startMs: number }) {
    this.name = name;
    this.#scheduler = scheduler;
    this.heardSince = scheduler.now;
    this.clock = new HostClock(this, { scheduler, startMs });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get frozenUntil(): number {
    return this.#frozenUntil;
  }

  /** Whether the bus reaches it. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** It is there and others hear of it. */
  get isHeard(): boolean {
    return !this.#isDead && this.#isConnected && this.#frozenUntil <= this.#scheduler.now;
  }

  /** When others heard of it for the last time. */
  get heardLast(): number {
    return this.isHeard ? this.#scheduler.now : this.#leftAt;
  }

  die(): void {
    this.#leave();
    this.#isDead = true;
  }

  /** @param until of true time, which may be past */
  freeze(until: number): void {
    this.#leave();
    this.#frozenUntil = until;
    this.heardSince = Math.max(until, this.#scheduler.now);
  }

  connect(isConnected: boolean): void {
    this.#leave();
    this.#isConnected = isConnected;
    this.heardSince = Math.max(this.heardSince, this.#scheduler.now);
  }

  #leave(): void {
    if (this.isHeard) this.#leftAt = this.#scheduler.now;
  }
}

/** Its timers die with it. Only its time of day may be wrong. */
class HostClock implements Clock {
  readonly #life: Life;
  readonly #scheduler: Scheduler;
  readonly #startMs: number;
  /** What the time of day is wrong by, in milliseconds. */
  skewMs = 0;

  constructor(life: Life, { scheduler, startMs }: { scheduler: Scheduler; startMs: number }) {
    this.#life = life;
    this.#scheduler = scheduler;
    this.#startMs = startMs;
  }

  now(): number {
    return Math.floor(this.#startMs + this.#scheduler.now + this.skewMs);
  }

  monotonic(): number {
    return this.#scheduler.now;
  }

  after(ms: number, callback: () => void): () => void {
    return this.#scheduler.plan(ms, this.#life, callback);
  }

  endOfTurn(callback: () => void): () => void {
    return this.#scheduler.plan(0, this.#life, callback);
  }
}
