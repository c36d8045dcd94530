/** A cache of entries by key hash. Invalid keys have a partition of their own, so that a flood of them evicts no valid key. */
import { LRUCache } from "lru-cache";
import { recordsCachedMax, unknownKeysCachedMax } from "../limits.ts";

export class PartitionedLru<Entry extends { record: object | null }> {
  readonly #known: LRUCache<string, Entry>;
  readonly #unknown: LRUCache<string, Entry>;

  /** @param max how many keys are cached; memory for all of them is allocated at once */
  constructor(max = recordsCachedMax) {
    this.#known = new LRUCache({ max });
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
