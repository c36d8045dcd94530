/** A stream that is promised to the client before its provider has answered: whatever comes of the call becomes an event. */
import { UpstreamFailure, type ProviderEventStream, type EventReceiver } from "../../providers/provider.ts";
import type { AttemptsResult } from "./attempts.ts";

interface DeferredStreamParts {
  opening: Promise<AttemptsResult>;
  /** Gives the opening up. */
  abort(): void;
}

export class DeferredStream implements ProviderEventStream {
  /** null: the stream has opened. */
  #parts: DeferredStreamParts | null;
  #events: ProviderEventStream | null = null;
  #over = false;

  constructor(parts: DeferredStreamParts) {
    this.#parts = parts;
  }

  next(taker: EventReceiver): void {
    if (this.#over) taker.take([]);
    else if (this.#events !== null) this.#events.next(taker);
    else if (this.#parts !== null) void this.#open(this.#parts, taker);
  }

  async cancel(): Promise<void> {
    this.#over = true;
    if (this.#events !== null) return this.#events.cancel();
    this.#parts?.abort();
    const opened = await this.#parts?.opening;
    if (opened?.kind === "stream") await opened.events.cancel();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cancel();
  }

  async #open({ opening }: DeferredStreamParts, taker: EventReceiver): Promise<void> {
    const opened = await opening.catch((error: unknown) => threw(error));
    if (this.#over || opened.kind === "whole") return taker.take([]);
    if (opened.kind === "failed") {
      this.#over = true;
      return taker.take([{ kind: "failure", failure: opened.failure }]);
    }
    this.#parts = null;
    this.#events = opened.events;
    opened.events.next(taker);
  }
}

function threw(error: unknown): { kind: "failed"; failure: UpstreamFailure } {
  return { kind: "failed", failure: new UpstreamFailure("upstream_error", "opening the stream threw", null, error) };
}
