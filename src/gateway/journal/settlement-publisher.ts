/**
 * Carries settlements from this process into the ledger. Stored by the bus is not yet charged: a batch is done when metering
 * says that its transaction is committed, and is published again while it does not say so. All of it is idempotent.
 */
import type { Bus } from "../../backing/bus.ts";
import { sleep, withDeadline, type Clock } from "../../kernel/clock.ts";
import { newInternalId, type GenerationId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import {
  confirmationMs,
  confirmationMsMax,
  publishDeadlineMs,
  publishRetryMs,
  publishRetryMsMax,
  publishesInFlightMax,
  settlementBatchBytesMax,
  settlementBatchMax,
  settlementPauseMs,
} from "../limits.ts";
import { decodeSettled, encodeSettlements } from "./settlement-codec.ts";

interface WaitingSettlement {
  generation: GenerationId;
  /** The settlement as JSON. */
  text: string;
  bytes: number;
}

interface Batch {
  id: string;
  generations: GenerationId[];
  payload: Uint8Array;
  attempt: number;
  cancelTimer: () => void;
}

interface SettlementPublisherParts {
  bus: Bus;
  clock: Clock;
  log: Logger;
  /** Told which generations are in the ledger. */
  onConfirmed: (generations: GenerationId[]) => void;
}

export class SettlementPublisher implements Disposable {
  readonly #parts: SettlementPublisherParts;
  readonly #listening: Disposable;
  readonly #waiting: WaitingSettlement[] = [];
  #waitingBytes = 0;
  /** Published or about to be, by id; each holds memory until the ledger has it. */
  readonly #unconfirmed = new Map<string, Batch>();
  /** Those of the unconfirmed that are to be published again. */
  readonly #overdue: Batch[] = [];
  readonly #emptyListeners = new Set<() => void>();
  readonly #closing = new AbortController();
  #publishing = 0;
  /** The next one; null: none is planned. */
  #nextPublish: { isUrgent: boolean; cancel: () => void } | null = null;
  /** Monotonic ms. */
  #publishedAt = -Infinity;

  constructor(parts: SettlementPublisherParts) {
    this.#parts = parts;
    this.#listening = parts.bus.listen("settled", (payload) => this.#confirm(decodeSettled(payload)));
  }

  /** @param text the settlement as JSON */
  add(generation: GenerationId, text: string): void {
    const bytes = Buffer.byteLength(text) + 1;
    this.#waiting.push({ generation, text, bytes });
    this.#waitingBytes += bytes;
    this.#schedule();
  }

  /** Resolves when all is in the ledger, or after `deadlineMs`: what is left then is replayed from the spool by the next start. */
  async flushed(deadlineMs: number): Promise<boolean> {
    if (this.#isEmpty()) return true;
    const emptied = new AbortController();
    const listener = () => emptied.abort();
    this.#emptyListeners.add(listener);
    await sleep(this.#parts.clock, deadlineMs, emptied.signal);
    this.#emptyListeners.delete(listener);
    return this.#isEmpty();
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
    this.#nextPublish?.cancel();
    this.#listening[Symbol.dispose]();
    for (const { cancelTimer } of this.#unconfirmed.values()) cancelTimer();
  }

  #isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#unconfirmed.size === 0;
  }

  /** What ends alone leaves at once; what ends within a pause of the last departure travels together, or when it fills a batch. */
  #schedule(): void {
    const isIdle = this.#waiting.length === 0 && this.#overdue.length === 0;
    if (isIdle || this.#closing.signal.aborted) return;
    const { clock } = this.#parts;
    const isFull = this.#waiting.length >= settlementBatchMax || this.#waitingBytes >= settlementBatchBytesMax;
    const waitMs = this.#publishedAt + settlementPauseMs - clock.monotonic();
    const isUrgent = isFull || this.#overdue.length > 0 || waitMs <= 0;
    if (this.#nextPublish !== null && (this.#nextPublish.isUrgent || !isUrgent)) return;
    this.#nextPublish?.cancel();
    const depart = () => this.#publishBatches();
    this.#nextPublish = { isUrgent, cancel: isUrgent ? clock.endOfTurn(depart) : clock.after(waitMs, depart) };
  }

  #publishBatches(): void {
    this.#nextPublish?.cancel();
    this.#nextPublish = null;
    while (this.#publishing < publishesInFlightMax && !this.#closing.signal.aborted) {
      const batch = this.#overdue.shift() ?? this.#nextBatch();
      if (batch === null) return;
      this.#publishedAt = this.#parts.clock.monotonic();
      void this.#publish(batch);
    }
  }

  #nextBatch(): Batch | null {
    const id = newInternalId(this.#parts.clock.now());
    let bytes = encodeSettlements(id, []).length;
    let count = 0;
    for (const { bytes: more } of this.#waiting) {
      if (count >= settlementBatchMax || (count > 0 && bytes + more > settlementBatchBytesMax)) break;
      bytes += more;
      count++;
    }
    if (count === 0) return null;
    const taken = this.#waiting.splice(0, count);
    for (const { bytes: gone } of taken) this.#waitingBytes -= gone;
    const payload = encodeSettlements(
      id,
      taken.map(({ text }) => text),
    );
    const batch = { id, generations: taken.map(({ generation }) => generation), payload, attempt: 0, cancelTimer: () => {} };
    this.#unconfirmed.set(id, batch);
    return batch;
  }

  /** Cannot reject. Tries until it is stored, confirmed or the process ends. */
  async #publish(batch: Batch): Promise<void> {
    this.#publishing++;
    const { bus, clock, log } = this.#parts;
    const { signal } = this.#closing;
    // A new message id each time: the stream would drop a repetition that it takes for a duplicate.
    const messageId = `${batch.id}.${batch.attempt++}`;
    let pauseMs = publishRetryMs;
    while (!signal.aborted && this.#unconfirmed.has(batch.id)) {
      try {
        await withDeadline(clock, publishDeadlineMs, "Publishing", bus.publish("settlements", messageId, batch.payload));
        this.#awaitConfirmation(batch);
        break;
      } catch (error) {
        const facts = { batch: batch.id, settlements: batch.generations.length, reason: String(error) };
        log.warn({ event: "settlements.publish.failed", ...facts }, "Settlements could not be published; they are tried again");
        await sleep(clock, pauseMs, signal);
        pauseMs = Math.min(pauseMs * 2, publishRetryMsMax);
      }
    }
    this.#publishing--;
    this.#schedule();
  }

  #awaitConfirmation(batch: Batch): void {
    if (!this.#unconfirmed.has(batch.id) || this.#closing.signal.aborted) return;
    const waitMs = Math.min(confirmationMs * 2 ** (batch.attempt - 1), confirmationMsMax);
    batch.cancelTimer = this.#parts.clock.after(waitMs, () => {
      const facts = { batch: batch.id, attempt: batch.attempt };
      this.#parts.log.warn(
        { event: "settlements.unconfirmed", ...facts },
        "Settlements are not confirmed; they are published again",
      );
      this.#overdue.push(batch);
      this.#schedule();
    });
  }

  #confirm(ids: string[]): void {
    for (const id of ids) {
      const batch = this.#unconfirmed.get(id);
      if (!batch) continue;
      batch.cancelTimer();
      this.#unconfirmed.delete(id);
      this.#parts.onConfirmed(batch.generations);
    }
    if (this.#isEmpty()) for (const listener of this.#emptyListeners) listener();
  }
}
