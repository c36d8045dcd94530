/**
 * A cache of entries by key hash, bounded in number and in bytes. Invalid keys have a partition of their own, so that a flood of them evicts
 * no valid key.
 */
import { LRUCache } from "lru-cache";
import type { KeyRecord } from "../../accounts/keys/record.ts";
import { recordsCachedMax, unknownKeysCachedMax } from "../limits.ts";
import { recordsCachedBytesMax } from "./limits.ts";
import { ownKeyBytes } from "./record-on-bus.ts";

/** What a record without own provider keys takes, about: so many as may be cached fill the bytes that may be. */
const recordBytes = Math.floor(recordsCachedBytesMax / recordsCachedMax);

export class PartitionedLru<Entry extends { record: Pick<KeyRecord, "ownKeys"> | null }> {
  readonly #known: LRUCache<string, Entry>;
  readonly #unknown: LRUCache<string, Entry>;

  /** @param max how many keys are cached. A bound of the library's own would allocate memory for all of them at once */
  constructor(max = recordsCachedMax) {
    this.#known = new LRUCache({ maxSize: max * recordBytes, sizeCalculation: (entry) => bytesOf(entry) });
    this.#unknown = new LRUCache({ maxSize: Math.min(max, unknownKeysCachedMax), sizeCalculation: () => 1 });
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
