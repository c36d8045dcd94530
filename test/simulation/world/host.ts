import type { Clock } from "../../../src/kernel/clock.ts";
import type { Owner, Scheduler } from "../scheduler.ts";

/** A process. Its successor is another host. */
export class Host implements Owner {
  readonly name: string;
  readonly clock: HostClock;
  /** Since when others could reach it without a pause, in true time. */
  reachableSince: number;
  #isDead = false;
  #isConnected = true;
  #frozenUntil = 0;
  /** When it became unreachable. */
  #unreachableSince = 0;
  readonly #scheduler: Scheduler;
  readonly #returns: ((unreachableMs: number) => void)[] = [];

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

  /** Whether it is connected to the bus. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Whether it runs and others can reach it. */
  get isReachable(): boolean {
    return !this.#isDead && this.#isConnected && this.#frozenUntil <= this.#scheduler.now;
  }

  /** When others could reach it for the last time. */
  get lastReachableAt(): number {
    return this.isReachable ? this.#scheduler.now : this.#unreachableSince;
  }

  die(): void {
    this.#becomeUnreachable();
    this.#isDead = true;
  }

  /** @param until in true time; may be in the past */
  freeze(until: number): void {
    this.#becomeUnreachable();
    this.#frozenUntil = until;
    this.reachableSince = Math.max(until, this.#scheduler.now);
    this.#planReturn();
  }

  connect(isConnected: boolean): void {
    this.#becomeUnreachable();
    this.#isConnected = isConnected;
    this.reachableSince = Math.max(this.reachableSince, this.#scheduler.now);
    if (isConnected) this.#planReturn();
  }

  /** Calls `listener` each time that others can reach it again, with how long they could not. */
  onReturn(listener: (unreachableMs: number) => void): void {
    this.#returns.push(listener);
  }

  /** A frozen process does nothing until its time is over. */
  #planReturn(): void {
    if (this.#returns.length === 0) return;
    this.#scheduler.plan(0, this, () => {
      if (!this.isReachable) return;
      for (const listener of this.#returns) listener(this.#scheduler.now - this.#unreachableSince);
    });
  }

  #becomeUnreachable(): void {
    if (this.isReachable) this.#unreachableSince = this.#scheduler.now;
  }
}

/** A process's clock. Its timers end with the process. Only its time of day may be wrong. */
class HostClock implements Clock {
  readonly #owner: Owner;
  readonly #scheduler: Scheduler;
  readonly #startMs: number;
  /** The error of the time of day, in milliseconds. */
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
