/** A stream whose response starts before the provider has answered: the call's outcome, even a failure, becomes an event. */
import { UpstreamFailure, type ProviderEventStream, type EventReceiver } from "../../providers/provider.ts";
import type { AttemptsResult } from "./attempts.ts";

interface DeferredStreamParts {
  opening: Promise<AttemptsResult>;
  /** Aborts the opening. */
  abort(): void;
}

export class DeferredStream implements ProviderEventStream {
  /** null: the stream is open. */
  #parts: DeferredStreamParts | null;
  #events: ProviderEventStream | null = null;
  #over = false;

  constructor(parts: DeferredStreamParts) {
    this.#parts = parts;
  }

  next(receiver: EventReceiver): void {
    if (this.#over) receiver.take([]);
    else if (this.#events !== null) this.#events.next(receiver);
    else if (this.#parts !== null) void this.#open(this.#parts, receiver);
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

  async #open({ opening }: DeferredStreamParts, receiver: EventReceiver): Promise<void> {
    const opened = await opening.catch((error: unknown) => threw(error));
    if (this.#over || opened.kind === "whole") return receiver.take([]);
    if (opened.kind === "failed") {
      this.#over = true;
      return receiver.take([{ kind: "failure", failure: opened.failure }]);
    }
    this.#parts = null;
    this.#events = opened.events;
    opened.events.next(receiver);
  }
}

function threw(error: unknown): { kind: "failed"; failure: UpstreamFailure } {
  return { kind: "failed", failure: new UpstreamFailure("upstream_error", "opening the stream threw", null, error) };
}
