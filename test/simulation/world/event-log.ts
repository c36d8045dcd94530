/** The event stream of the bus's server. It delivers each event at least once, to one of several competing consumers. */
import { type Delivered, intervalAfter, type Pace } from "../../../src/backing/bus.ts";
import { eventAckMs, eventRetryMs } from "../../../src/backing/limits.ts";
import type { Chance } from "../chance.ts";
import type { Host } from "./host.ts";
import type { Scheduler } from "../scheduler.ts";
import type { NetworkConditions } from "./network-conditions.ts";

interface Stored {
  id: string;
  payload: Uint8Array;
  attempt: number;
  /** Delivered to a consumer that still has time to acknowledge it. */
  isDelivered: boolean;
  storedAt: number;
}

type Handler = (events: Delivered[]) => Promise<void>;

interface EventLogParts {
  scheduler: Scheduler;
  chance: Chance;
  conditions: NetworkConditions;
}

export class EventLog {
  readonly #parts: EventLogParts;
  readonly #events = new Set<Stored>();
  readonly #idle = new Set<() => void>();
  /** Acknowledged events, which the stream keeps. */
  readonly #acknowledged = new Set<Stored>();

  constructor(parts: EventLogParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#events.size;
  }

  store(id: string, payload: Uint8Array): void {
    const copies = this.#parts.conditions.isDoubled() ? 2 : 1;
    const isThere = [...this.#events].some((event) => event.id === id);
    if (isThere && this.#parts.chance.happens(0.9)) return;
    for (let copy = 0; copy < copies; copy++)
      this.#events.add({ id, payload, attempt: 0, isDelivered: false, storedAt: this.#parts.scheduler.now });
    this.#wake();
  }

  /** Events that were stored since then, and those that are not acknowledged, in their order. */
  since(time: number): Delivered[] {
    const known = [...this.#acknowledged].filter(({ storedAt }) => storedAt >= time);
    return [...known, ...this.#events].toSorted((one, other) => one.storedAt - other.storedAt);
  }

  /** Loses the newest events, as after a power cut. @returns their payloads */
  loseTail(ms: number): Uint8Array[] {
    const lost = [...this.#events].filter(({ storedAt }) => storedAt >= this.#parts.scheduler.now - ms);
    for (const event of lost) this.#events.delete(event);
    return lost.map(({ payload }) => payload);
  }

  /** Delivers one batch at a time, as long as the host lives. */
  consume(host: Host, pace: Pace, handler: Handler): void {
    const { scheduler, conditions } = this.#parts;
    const next = (): void => {
      const batch = host.isConnected ? this.#take(pace.messagesMax) : [];
      if (batch.length === 0) return this.#waitFor(host, next);
      const startedAt = scheduler.now;
      const rest = (): void => {
        const restMs = startedAt + intervalAfter(scheduler.now - startedAt, pace) - scheduler.now;
        scheduler.plan(Math.max(0, restMs), host, next);
      };
      const done = (): void => {
        if (host.isConnected && !conditions.isLost()) scheduler.plan(conditions.delayMs(), null, () => this.#forget(batch));
        rest();
      };
      const failed = (): void => {
        scheduler.plan(eventRetryMs, null, () => this.#redeliver(batch));
        rest();
      };
      const delivered = batch.map(({ id, payload, attempt }) => ({ id, payload, attempt }));
      scheduler.plan(conditions.delayMs(), host, () => void handler(delivered).then(done, failed));
      scheduler.plan(eventAckMs, null, () => this.#redeliver(batch));
    };
    scheduler.plan(0, host, next);
  }

  /** Takes events in varying order, and sometimes fewer than possible. */
  #take(messagesMax: number): Stored[] {
    const { chance } = this.#parts;
    const waiting = [...this.#events].filter(({ isDelivered }) => !isDelivered);
    if (waiting.length > 1 && chance.happens(0.3)) waiting.reverse();
    const taken = waiting.slice(0, chance.happens(0.5) ? messagesMax : chance.between(1, 3));
    for (const event of taken) Object.assign(event, { isDelivered: true, attempt: event.attempt + 1 });
    return taken;
  }

  #waitFor(host: Host, next: () => void): void {
    const { scheduler, conditions } = this.#parts;
    const wake = (): void => {
      if (!this.#idle.delete(wake)) return;
      scheduler.plan(conditions.delayMs(), host, next);
    };
    this.#idle.add(wake);
    // A disconnected consumer tries again later.
    if (!host.isConnected) scheduler.plan(eventRetryMs, host, wake);
  }

  #forget(events: Stored[]): void {
    for (const event of events) if (this.#events.delete(event)) this.#acknowledged.add(event);
  }

  #redeliver(events: Stored[]): void {
    for (const event of events) event.isDelivered = false;
    if (events.some((event) => this.#events.has(event))) this.#wake();
  }

  #wake(): void {
    for (const wake of this.#idle) wake();
  }
}
