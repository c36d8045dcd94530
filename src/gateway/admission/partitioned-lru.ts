/**
 * A cache of entries by key hash, bounded in number and in bytes. Invalid keys have a partition of their own, so that a flood of them evicts
 * no valid key.
 */
import { LRUCache } from "lru-cache";
import type { KeyRecord } from "../../accounts/keys/record.ts";
import { recordsCachedMax, unknownKeysCachedMax } from "../limits.ts";
import { recordsCachedBytesMax } from "./limits.ts";
import { ownKeyBytes } from "./record-on-bus.ts";

/** What a record without own provider keys takes, about. */
const recordBytes = 512;

export class PartitionedLru<Entry extends { record: Pick<KeyRecord, "ownKeys"> | null }> {
  readonly #known: LRUCache<string, Entry>;
  readonly #unknown: LRUCache<string, Entry>;

  /** @param max how many keys are cached; memory for all of them is allocated at once */
  constructor(max = recordsCachedMax) {
    this.#known = new LRUCache<string, Entry>({
      max,
      maxSize: recordsCachedBytesMax,
      sizeCalculation: (entry) => bytesOf(entry),
    });
    this.#unknown = new LRUCache({ max: Math.min(max, unknownKeysCachedMax) });
  }

  get(hash: string): Entry | undefined {
    return this.#known.get(hash) ?? this.#unknown.get(hash);
  }

  set(hash: string, entry: Entry): void {
    const [partition, other] = entry.record === null ? [this.#unknown, this.#known] : [this.#known, this.#unknown];
    other.delete(hash);
    partition.set(hash, entry);
  }

  clear(): void {
    this.#known.clear();
    this.#unknown.clear();
  }
}

function bytesOf({ record }: { record: Pick<KeyRecord, "ownKeys"> | null }): number {
  return recordBytes + (record === null ? 0 : ownKeyBytes(record));
}
