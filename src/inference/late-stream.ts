/** A stream that is promised to the client before its provider has answered: whatever comes of the call becomes an event. */
import type { EventSource, ProviderEvent } from "../providers/provider.ts";
import type { Opened } from "./attempts.ts";

interface LateStreamParts {
  opening: Promise<Opened>;
  /** Gives the opening up. */
  abort(): void;
}

export class LateStream implements EventSource {
  readonly #parts: LateStreamParts;
  #over = false;

  constructor(parts: LateStreamParts) {
    this.#parts = parts;
  }

  async next(): Promise<ProviderEvent | null> {
    if (this.#over) return null;
    const opened = await this.#parts.opening;
    if (opened.kind === "stream") return opened.events.next();
    this.#over = true;
    return opened.kind === "failed" ? { kind: "failure", failure: opened.failure } : null;
  }

  async cancel(): Promise<void> {
    this.#over = true;
    this.#parts.abort();
    const opened = await this.#parts.opening;
    if (opened.kind === "stream") await opened.events.cancel();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cancel();
  }
}
