/** Documents that were asked for, kept for whoever asks next: each is made once, also when several ask at the same time. */
import type { Document } from "./document.ts";
import type { Renderings } from "./renderings.ts";

export class KeptDocuments {
  readonly #max: number;
  /** Least lately used first. */
  readonly #kept = new Map<string, Promise<Document>>();

  readonly #renderings: Renderings;

  /** @param max above which the least lately used is forgotten */
  constructor(max: number, renderings: Renderings) {
    this.#max = max;
    this.#renderings = renderings;
  }

  /** @param key names everything that the document depends on @throws ConnectorRefusal 503 where too many others are being made */
  get(key: string, make: () => Promise<Document>): Promise<Document> {
    const document = this.#kept.get(key) ?? this.#renderings.run(make);
    this.#kept.delete(key);
    this.#kept.set(key, document);
    // What could not be made is made again for the next.
    document.catch(() => this.#kept.delete(key));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#max && oldest !== undefined) this.#kept.delete(oldest);
    return document;
  }
}
