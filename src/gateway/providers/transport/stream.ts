/** An open stream of a provider. It reads the network only on request. */
import type { Clock } from "../../../kernel/clock.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import {
  OversizedAnswer,
  UpstreamFailure,
  type ProviderEventStream,
  type EventReceiver,
  type ProviderEvent,
} from "../provider.ts";
import { EventParser, EventTooLargeError } from "./sse.ts";
import { readTail } from "./stream-tail.ts";
import type { BytesReceiver } from "./transport.ts";

export interface StreamParts {
  upstream: UpstreamCall;
  decode: (data: string) => ProviderEvent[];
  clock: Clock;
}

export class ProviderStream implements ProviderEventStream, BytesReceiver {
  readonly #upstream: UpstreamCall;
  readonly #decode: (data: string) => ProviderEvent[];
  readonly #clock: Clock;
  readonly #parser = new EventParser();
  #receiver: EventReceiver | null = null;
  #finishSeen = false;
  #over = false;

  constructor({ upstream, decode, clock }: StreamParts) {
    this.#upstream = upstream;
    this.#decode = decode;
    this.#clock = clock;
  }

  next(receiver: EventReceiver): void {
    if (this.#over) return receiver.take([]);
    this.#receiver = receiver;
    this.#upstream.read(this);
  }

  /** After the end there is nothing to cancel, and the connection is kept for the next call. */
  async cancel(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    this.#upstream.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cancel();
  }

  take(bytes: Uint8Array | null): void {
    const events: ProviderEvent[] = [];
    try {
      this.#decodeInto(events, bytes);
    } catch (error) {
      events.push(failed(asFailure(error)));
    }
    if (events.length === 0) this.#upstream.read(this);
    else this.#deliver(events);
  }

  fail(reason: unknown): void {
    this.#deliver([failed(asFailure(reason))]);
  }

  /**
   * Decodes the events that these bytes complete, up to the end of the stream; null is the end of the body. @throws
   * EventTooLargeError
   */
  #decodeInto(events: ProviderEvent[], bytes: Uint8Array | null): void {
    for (const data of bytes === null ? this.#parser.end() : this.#parser.feed(bytes)) {
      for (const event of this.#decode(data)) {
        events.push(event);
        if (event.kind === "delta" && event.finishReason !== null) this.#finishSeen = true;
        if (event.kind === "end" || event.kind === "failure") return;
      }
    }
    if (bytes === null) events.push(this.#endOfBody());
  }

  /** Not every provider marks the end; a finish reason is as good. */
  #endOfBody(): ProviderEvent {
    return this.#finishSeen ? { kind: "end" } : failed(new UpstreamFailure("upstream_error", "the stream broke off"));
  }

  #deliver(events: ProviderEvent[]): void {
    const receiver = this.#receiver;
    this.#receiver = null;
    if (this.#over) return receiver?.take([]);
    const last = events.at(-1)?.kind;
    this.#over = last === "end" || last === "failure";
    if (last === "failure") this.#upstream.close();
    if (last === "end") readTail(this.#upstream, this.#clock);
    receiver?.take(events);
  }
}

function failed(failure: UpstreamFailure): ProviderEvent {
  return { kind: "failure", failure };
}

function asFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  if (error instanceof EventTooLargeError) return new OversizedAnswer(error.message);
  return new UpstreamFailure("upstream_error", "reading the stream threw", null, error);
}
