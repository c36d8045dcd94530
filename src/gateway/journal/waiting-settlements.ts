/** Settlements that wait to be published, in order within each partition. */
import type { GenerationId } from "../../kernel/ids.ts";
import { settlementBatchBytesMax, settlementBatchMax } from "../limits.ts";

export interface WaitingSettlement {
  generation: GenerationId;
  /** The settlement as JSON. */
  text: string;
}

interface Queue {
  settlements: (WaitingSettlement & { bytes: number })[];
  bytes: number;
}

export class WaitingSettlements {
  /** Those that are not empty, by partition. */
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
   * @param envelopeBytes of the batch, beside its settlements
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
