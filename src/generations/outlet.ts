/**
 * Carries settlements from this process into the ledger. Stored by the bus is not yet charged: a batch is done when metering
 * says that its transaction is committed, and is published again while it does not say so. All of it is idempotent.
 */
import type { Bus } from "../backing/bus.ts";
import { sleep, type Clock } from "../kernel/clock.ts";
import { newInternalId, type GenerationId } from "../kernel/ids.ts";
import type { Logger } from "../kernel/log.ts";
import {
  confirmationMs,
  confirmationMsMax,
  publishesInFlightMax,
  publishRetryMsMax,
  settlementBatchBytesMax,
  settlementBatchMax,
} from "../limits/constants.ts";
import { encodeSettlements, decodeSettled } from "./settlement-codec.ts";
import type { Settlement } from "./settlement.ts";

interface Batch {
  id: string;
  settlements: Settlement[];
  payload: Uint8Array;
  attempt: number;
  cancelTimer: () => void;
}

interface OutletParts {
  bus: Bus;
  clock: Clock;
  log: Logger;
  /** Told which generations are in the ledger. */
  onConfirmed: (generations: GenerationId[]) => void;
}

export class Outlet implements Disposable {
  readonly #parts: OutletParts;
  readonly #listening: Disposable;
  readonly #unconfirmed = new Map<string, Batch>();
  readonly #waiting: { settlement: Settlement; bytes: number }[] = [];
  readonly #emptyListeners = new Set<() => void>();
  #publishing = 0;
  #scheduled = false;
  #closed = false;

  constructor(parts: OutletParts) {
    this.#parts = parts;
    this.#listening = parts.bus.listen("settled", (payload) => this.#confirm(decodeSettled(payload)));
  }

  /** Settlements that are not in the ledger yet, as far as this process knows. */
  get size(): number {
    let size = this.#waiting.length;
    for (const { settlements } of this.#unconfirmed.values()) size += settlements.length;
    return size;
  }

  add(settlement: Settlement): void {
    this.#waiting.push({ settlement, bytes: JSON.stringify(settlement).length });
    this.#schedule();
  }

  /** Resolves when all is in the ledger, or after `deadlineMs`: what is left then is replayed from the spool by the next start. */
  async flushed(deadlineMs: number): Promise<boolean> {
    if (this.size === 0) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#emptyListeners.add(resolve);
    await Promise.race([promise, sleep(this.#parts.clock, deadlineMs)]);
    this.#emptyListeners.delete(resolve);
    return this.size === 0;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#listening[Symbol.dispose]();
    for (const { cancelTimer } of this.#unconfirmed.values()) cancelTimer();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#waiting.length > 0 && this.#publishing < publishesInFlightMax) this.#open();
    });
  }

  #open(): void {
    const settlements: Settlement[] = [];
    let bytes = 0;
    for (const { settlement, bytes: size } of this.#waiting) {
      if (settlements.length >= settlementBatchMax || (bytes > 0 && bytes + size > settlementBatchBytesMax)) break;
      settlements.push(settlement);
      bytes += size;
    }
    this.#waiting.splice(0, settlements.length);
    const id = newInternalId(this.#parts.clock.now());
    const payload = encodeSettlements({ batch: id, settlements });
    const batch: Batch = { id, settlements, payload, attempt: 0, cancelTimer: () => {} };
    this.#unconfirmed.set(id, batch);
    void this.#publish(batch);
  }

  async #publish(batch: Batch): Promise<void> {
    this.#publishing++;
    const { bus, clock, log } = this.#parts;
    // A new message id each time: the stream would drop a repetition that it takes for a duplicate.
    const messageId = `${batch.id}.${batch.attempt++}`;
    for (let pauseMs = 50; !this.#closed && this.#unconfirmed.has(batch.id); pauseMs = Math.min(pauseMs * 2, publishRetryMsMax)) {
      try {
        await bus.publish("settlements", messageId, batch.payload);
        this.#awaitConfirmation(batch);
        break;
      } catch (error) {
        log.warn({ event: "settlements.publish.failed", batch: batch.id, size: batch.settlements.length, reason: String(error) });
        await sleep(clock, pauseMs);
      }
    }
    this.#publishing--;
    this.#schedule();
  }

  #awaitConfirmation(batch: Batch): void {
    if (!this.#unconfirmed.has(batch.id)) return;
    const waitMs = Math.min(confirmationMs * 2 ** (batch.attempt - 1), confirmationMsMax);
    batch.cancelTimer = this.#parts.clock.after(waitMs, () => {
      this.#parts.log.warn({ event: "settlements.unconfirmed", batch: batch.id, attempt: batch.attempt });
      void this.#publish(batch);
    });
  }

  #confirm(ids: string[]): void {
    for (const id of ids) {
      const batch = this.#unconfirmed.get(id);
      if (!batch) continue;
      batch.cancelTimer();
      this.#unconfirmed.delete(id);
      this.#parts.onConfirmed(batch.settlements.map(({ generation }) => generation));
    }
    if (this.size === 0) for (const listener of this.#emptyListeners) listener();
  }
}
