import type { Clock } from "../../src/kernel/clock.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

/** A process. Its successor is another one. */
export class Host implements Owner {
  readonly name: string;
  readonly clock: HostClock;
  /** Of true time: since when others could ask it without a pause. */
  reachableSince: number;
  #isDead = false;
  #isConnected = true;
  #frozenUntil = 0;
  /** When it fell silent. */
  #unreachableSince = 0;
  readonly #scheduler: Scheduler;

  constructor(name: string, { scheduler, startMs }: { scheduler: Scheduler; startMs: number }) {
    this.name = name;
    this.#scheduler = scheduler;
    this.reachableSince = scheduler.now;
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
  get isReachable(): boolean {
    return !this.#isDead && this.#isConnected && this.#frozenUntil <= this.#scheduler.now;
  }

  /** When others heard of it for the last time. */
  get lastReachableAt(): number {
    return this.isReachable ? this.#scheduler.now : this.#unreachableSince;
  }

  die(): void {
    this.#becomeUnreachable();
    this.#isDead = true;
  }

  /** @param until of true time, which may be past */
  freeze(until: number): void {
    this.#becomeUnreachable();
    this.#frozenUntil = until;
    this.reachableSince = Math.max(until, this.#scheduler.now);
  }

  connect(isConnected: boolean): void {
    this.#becomeUnreachable();
    this.#isConnected = isConnected;
    this.reachableSince = Math.max(this.reachableSince, this.#scheduler.now);
  }

  #becomeUnreachable(): void {
    if (this.isReachable) this.#unreachableSince = this.#scheduler.now;
  }
}

/** Its timers die with it. Only its time of day may be wrong. */
class HostClock implements Clock {
  readonly #owner: Owner;
  readonly #scheduler: Scheduler;
  readonly #startMs: number;
  /** What the time of day is wrong by, in milliseconds. */
  skewMs = 0;

  constructor(owner: Owner, { scheduler, startMs }: { scheduler: Scheduler; startMs: number }) {
    this.#owner = owner;
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
    return this.#scheduler.plan(ms, this.#owner, callback);
  }

  endOfTurn(callback: () => void): () => void {
    return this.#scheduler.plan(0, this.#owner, callback);
  }
}
