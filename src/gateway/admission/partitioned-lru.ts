/** What a process remembers of keys by their hashes. Wrong keys have a place of their own: a flood of them pushes no right one out. */
import { LRUCache } from "lru-cache";
import { recordsCachedMax, unknownKeysCachedMax } from "../limits.ts";

export class PartitionedLru<Entry extends { record: object | null }> {
  readonly #known: LRUCache<string, Entry>;
  readonly #unknown: LRUCache<string, Entry>;

  /** @param max how many keys are remembered: room for all of them is taken at once */
  constructor(max = recordsCachedMax) {
    this.#known = new LRUCache({ max });
    this.#unknown = new LRUCache({ max: Math.min(max, unknownKeysCachedMax) });
  }

  get(hash: string): Entry | undefined {
    return this.#known.get(hash) ?? this.#unknown.get(hash);
  }

  set(hash: string, entry: Entry): void {
    const [memory, other] = entry.record === null ? [this.#unknown, this.#known] : [this.#known, this.#unknown];
    other.delete(hash);
    memory.set(hash, entry);
  }

  clear(): void {
    this.#known.clear();
    this.#unknown.clear();
  }
}
