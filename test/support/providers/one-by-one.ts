/** A stream's events one by one, even if several arrive together. */
import type { ProviderEventStream, ProviderEvent } from "../../../src/gateway/providers/provider.ts";

export class OneByOne {
  readonly #events: ProviderEventStream;
  #left: ProviderEvent[] = [];

  constructor(events: ProviderEventStream) {
    this.#events = events;
  }

  /** null: the stream has ended or was cancelled. */
  async next(): Promise<ProviderEvent | null> {
    if (this.#left.length === 0) {
      this.#left = await new Promise((resolve) => this.#events.next({ take: (events) => resolve([...events]) }));
    }
    return this.#left.shift() ?? null;
  }

  cancel(): Promise<void> {
    return this.#events.cancel();
  }
}
