/** Documents that were asked for, kept for whoever asks next: each is made once, also when several ask at the same time. */
import type { Document } from "./document.ts";

export class KeptDocuments {
  readonly #max: number;
  /** Least lately used first. */
  readonly #kept = new Map<string, Promise<Document>>();

  /** @param max above which the least lately used is forgotten */
  constructor(max: number) {
    this.#max = max;
  }

  /** @param key names everything that the document depends on */
  get(key: string, make: () => Promise<Document>): Promise<Document> {
    const document = this.#kept.get(key) ?? make();
    this.#kept.delete(key);
    this.#kept.set(key, document);
    // What could not be made is made again for the next.
    document.catch(() => this.#kept.delete(key));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#max && oldest !== undefined) this.#kept.delete(oldest);
    return document;
  }
}
