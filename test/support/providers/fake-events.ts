/** A provider's stream whose events a test delivers. */
import type { ProviderEventStream, EventReceiver, ProviderEvent } from "../../../src/gateway/providers/provider.ts";

export class FakeEvents implements ProviderEventStream {
  /** How often an event was requested. */
  asked = 0;
  /** It has delivered its end, or was cancelled. */
  closed = false;
  cancelledAfterEnd = false;
  readonly #ready: (ProviderEvent | null)[] = [];
  #taker: EventReceiver | null = null;

  /** @param events delivered one by one; then the stream is quiet until the test gives more */
  constructor(events: (ProviderEvent | null)[] = []) {
    this.#ready.push(...events);
  }

  give(...events: (ProviderEvent | null)[]): void {
    for (const event of events) {
      const taker = this.#taker;
      this.#taker = null;
      if (taker) this.#handOut(event, taker);
      else this.#ready.push(event);
    }
  }

  next(taker: EventReceiver): void {
    this.asked++;
    if (this.#taker) throw new Error("An event was requested while another was pending");
    const event = this.#ready.shift();
    if (event === undefined) this.#taker = taker;
    else this.#handOut(event, taker);
  }

  #handOut(event: ProviderEvent | null, taker: EventReceiver): void {
    if (event === null || event.kind === "end" || event.kind === "failure") this.closed = true;
    taker.take(event === null ? [] : [event]);
  }

  /** As with a real stream, a pending event becomes the end. If it is cancelled after its end, its connection is lost. */
  cancel(): Promise<void> {
    if (this.closed) this.cancelledAfterEnd = true;
    this.give(null);
    this.closed = true;
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cancel();
  }
}

export function text(content: string): ProviderEvent {
  return { kind: "delta", delta: { content }, finishReason: null };
}

export function finish(finishReason: "stop" | "length" | "tool_calls" = "stop"): ProviderEvent {
  return { kind: "delta", delta: {}, finishReason };
}

export function usage(promptTokens: number, completionTokens: number): ProviderEvent {
  return {
    kind: "usage",
    usage: { promptTokens, completionTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  };
}

export const end: ProviderEvent = { kind: "end" };
