/** Caches documents. Each is made once, even if several callers ask for it at the same time. */
import type { Document } from "./document.ts";

interface Kept {
  document: Promise<Document>;
  /** 0 until it is made. */
  bytes: number;
}

export class DocumentCache {
  readonly #bytesMax: number;
  /** The least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** @param bytesMax above it, the least recently used documents are evicted, but never the newest one */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @param key must name everything on which the document depends */
  get(key: string, make: () => Promise<Document>): Promise<Document> {
    const known = this.#kept.get(key);
    const kept = known ?? { document: make(), bytes: 0 };
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    if (known === undefined) {
      kept.document.then(
        ({ plain, gzip }) => this.#count(kept, plain.bytes.byteLength + gzip.bytes.byteLength),
        // A failure is not cached: the next caller tries again.
        () => this.#kept.delete(key),
      );
    }
    return kept.document;
  }

  #count(made: Kept, bytes: number): void {
    made.bytes = bytes;
    this.#bytes += bytes;
    for (const [key, kept] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) return;
      if (kept === made || kept.bytes === 0) continue;
      this.#kept.delete(key);
      this.#bytes -= kept.bytes;
    }
  }
}
