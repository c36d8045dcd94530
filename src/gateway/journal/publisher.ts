/**
 * Publishes this process's settlements until the ledger has them. A batch that the bus has stored is not charged yet: it is done when
 * metering confirms its transaction, and is published again until then. All steps are idempotent, so a repetition costs time only. At most
 * this many settlements wait in memory; then the journal accepts no further generation. Settlements of one partition stay in order, and
 * those that one partition does not confirm go through the next.
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
  settlementPauseMs,
  settlementBatchBytesMax,
  settlementBatchMax,
} from "../limits.ts";
import { partitionOf, decodeSettled, encodeSettlements, type Settlement } from "./settlement.ts";

interface Batch {
  id: string;
  partition: number;
  generations: GenerationId[];
  payload: Uint8Array;
  attempt: number;
  cancelTimer: () => void;
}

interface SettlementPublisherParts {
  bus: Bus;
  clock: Clock;
  log: Logger;
  /** Called with generations that are in the ledger. */
  onConfirmed: (generations: GenerationId[]) => void;
}

export class SettlementPublisher implements Disposable {
  readonly #parts: SettlementPublisherParts;
  readonly #listening: Disposable;
  readonly #waiting = new WaitingSettlements();
  /** Batches that are published or about to be, by id; each takes memory until the ledger has it. */
  readonly #unconfirmed = new Map<string, Batch>();
  /** Unconfirmed batches that are due to be published again. */
  readonly #overdue: Batch[] = [];
  readonly #emptyListeners = new Set<() => void>();
  readonly #closing = new AbortController();
  #publishing = 0;
  /** The next publication; null: none is planned. */
  #nextPublish: { isUrgent: boolean; cancel: () => void } | null = null;
  /** Monotonic ms of the last publication. */
  #publishedAt = -Infinity;

  constructor(parts: SettlementPublisherParts) {
    this.#parts = parts;
    this.#listening = parts.bus.listen("settled", (payload) => this.#confirm(decodeSettled(payload)));
  }

  /** @param text the settlement as JSON */
  add({ generation, workspace }: Pick<Settlement, "generation" | "workspace">, text: string): void {
    this.#waiting.add(partitionOf(workspace, this.#parts.bus.partitions("settlements")), { generation, text });
    this.#schedule();
  }

  /** Resolves when the ledger has all settlements, or after `deadlineMs`: the next start replays the rest from the spool. */
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
    return this.#waiting.isEmpty && this.#unconfirmed.size === 0;
  }

  /** Publishes at once, unless a publication was made recently: then settlements are gathered until the pause ends or a batch is full. */
  #schedule(): void {
    const isIdle = this.#waiting.isEmpty && this.#overdue.length === 0;
    if (isIdle || this.#closing.signal.aborted) return;
    const { clock } = this.#parts;
    const waitMs = this.#publishedAt + settlementPauseMs - clock.monotonic();
    const isUrgent = this.#waiting.isFull || this.#overdue.length > 0 || waitMs <= 0;
    if (this.#nextPublish !== null && (this.#nextPublish.isUrgent || !isUrgent)) return;
    this.#nextPublish?.cancel();
    const publish = () => this.#publishBatches();
    this.#nextPublish = { isUrgent, cancel: isUrgent ? clock.endOfTurn(publish) : clock.after(waitMs, publish) };
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
    const taken = this.#waiting.take(encodeSettlements(id, []).length);
    if (taken === null) return null;
    const { partition, settlements } = taken;
    const generations = settlements.map(({ generation }) => generation);
    const texts = settlements.map(({ text }) => text);
    const batch = { id, partition, generations, payload: encodeSettlements(id, texts), attempt: 0, cancelTimer: () => {} };
    this.#unconfirmed.set(id, batch);
    return batch;
  }

  /** Never rejects. Tries until the batch is stored or confirmed, or the process ends. */
  async #publish(batch: Batch): Promise<void> {
    this.#publishing++;
    const { bus, clock, log } = this.#parts;
    const { signal } = this.#closing;
    // Each publication has a new message id: the stream would drop a repetition as a duplicate.
    const messageId = `${batch.id}.${batch.attempt}`;
    const partition = this.#partitionOf(batch);
    batch.attempt++;
    let pauseMs = publishRetryMs;
    while (!signal.aborted && this.#unconfirmed.has(batch.id)) {
      try {
        const stored = bus.publish("settlements", messageId, batch.payload, partition);
        await withDeadline(clock, publishDeadlineMs, "Publishing", stored);
        this.#awaitConfirmation(batch);
        break;
      } catch (error) {
        const facts = { batch: batch.id, settlements: batch.generations.length, reason: String(error) };
        log.warn(
          { event: "settlements.publish.failed", ...facts },
          "Settlements could not be published; the gateway tries again",
        );
        await sleep(clock, pauseMs, signal);
        pauseMs = Math.min(pauseMs * 2, publishRetryMsMax);
      }
    }
    this.#publishing--;
    this.#schedule();
  }

  /** Settlements that one partition did not confirm go through the next, in case no process consumes the first. */
  #partitionOf({ partition, attempt }: Batch): number {
    return attempt === 0 ? partition : (partition + attempt) % this.#parts.bus.partitions("settlements");
  }

  #awaitConfirmation(batch: Batch): void {
    if (!this.#unconfirmed.has(batch.id) || this.#closing.signal.aborted) return;
    const waitMs = Math.min(confirmationMs * 2 ** (batch.attempt - 1), confirmationMsMax);
    batch.cancelTimer = this.#parts.clock.after(waitMs, () => {
      const facts = { batch: batch.id, attempt: batch.attempt };
      this.#parts.log.warn(
        { event: "settlements.unconfirmed", ...facts },
        "Settlements are not confirmed; the gateway publishes them again",
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

interface WaitingSettlement {
  generation: GenerationId;
  /** The settlement as JSON. */
  text: string;
}

interface Queue {
  settlements: (WaitingSettlement & { bytes: number })[];
  bytes: number;
}

/** Settlements that wait to be published, in order within each partition. */
class WaitingSettlements {
  /** The queues that are not empty, by partition. */
  readonly #queues = new Map<number, Queue>();

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Whether a partition has enough for a full batch. */
  get isFull(): boolean {
    for (const { settlements, bytes } of this.#queues.values()) {
      if (settlements.length >= settlementBatchMax || bytes >= settlementBatchBytesMax) return true;
    }
    return false;
  }

  add(partition: number, { generation, text }: WaitingSettlement): void {
    // A comma follows each.
    const bytes = Buffer.byteLength(text) + 1;
    const queue = this.#queues.get(partition) ?? { settlements: [], bytes: 0 };
    this.#queues.set(partition, queue);
    queue.settlements.push({ generation, text, bytes });
    queue.bytes += bytes;
  }

  /**
   * Takes the next batch, of one partition; partitions take turns.
   * @param envelopeBytes of the batch, without its settlements
   * @returns null when nothing waits
   */
  take(envelopeBytes: number): { partition: number; settlements: WaitingSettlement[] } | null {
    for (const [partition, queue] of this.#queues) {
      let bytes = envelopeBytes;
      let count = 0;
      for (const { bytes: more } of queue.settlements) {
        if (count >= settlementBatchMax || (count > 0 && bytes + more > settlementBatchBytesMax)) break;
        bytes += more;
        count++;
      }
      const settlements = queue.settlements.splice(0, count);
      queue.bytes -= bytes - envelopeBytes;
      this.#queues.delete(partition);
      if (queue.settlements.length > 0) this.#queues.set(partition, queue);
      return { partition, settlements };
    }
    return null;
  }
}
