/** Caches documents. Each is made once, even if several callers ask for it at the same time. */
import type { Document } from "./document.ts";

export class DocumentCache {
  readonly #max: number;
  /** The least recently used first. */
  readonly #kept = new Map<string, Promise<Document>>();

  /** @param max above it, the least recently used document is evicted */
  constructor(max: number) {
    this.#max = max;
  }

  /** @param key must name everything on which the document depends */
  get(key: string, make: () => Promise<Document>): Promise<Document> {
    const document = this.#kept.get(key) ?? make();
    this.#kept.delete(key);
    this.#kept.set(key, document);
    // A failure is not cached: the next caller tries again.
    document.catch(() => this.#kept.delete(key));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#max && oldest !== undefined) this.#kept.delete(oldest);
    return document;
  }
}
