/** An open stream of a provider: reads the network only when somebody asks and nothing decoded is left. */
import { streamTailBytesMax, streamTailMs } from "../limits/constants.ts";
import { sleep, type Clock } from "../kernel/clock.ts";
import type { Exchange } from "./exchange.ts";
import { UpstreamFailure, type EventSource, type ProviderEvent } from "./provider.ts";
import { eventParser, EventTooLargeError } from "./sse.ts";

export interface StreamParts {
  exchange: Exchange;
  decode: (data: string) => ProviderEvent[];
  clock: Clock;
}

export class ProviderStream implements EventSource {
  readonly #exchange: Exchange;
  readonly #decode: (data: string) => ProviderEvent[];
  readonly #clock: Clock;
  readonly #parser = eventParser();
  #queue: ProviderEvent[] = [];
  #finishTold = false;
  #over = false;

  constructor({ exchange, decode, clock }: StreamParts) {
    this.#exchange = exchange;
    this.#decode = decode;
    this.#clock = clock;
  }

  async next(): Promise<ProviderEvent | null> {
    for (;;) {
      if (this.#over) return null;
      const expired = this.#exchange.failure;
      const event = expired ? failed(expired) : this.#queue.shift();
      if (event) return this.#deliver(event);
      await this.#fill();
    }
  }

  /** After the end there is nothing left to cancel, and the connection is kept for the next call. */
  async cancel(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    this.#exchange.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cancel();
  }

  #deliver(event: ProviderEvent): ProviderEvent {
    if (event.kind === "delta" && event.finishReason !== null) this.#finishTold = true;
    if (event.kind === "failure") {
      this.#over = true;
      this.#exchange.close();
    }
    if (event.kind === "end") {
      this.#over = true;
      void this.#readTail();
    }
    return event;
  }

  /** Takes the next bytes and whatever events they complete. */
  async #fill(): Promise<void> {
    try {
      const bytes = await this.#exchange.read();
      const data = bytes === null ? this.#parser.end() : this.#parser.feed(bytes);
      for (const one of data) this.#queue.push(...this.#decode(one));
      if (bytes === null) this.#queue.push(this.#endOfBody());
    } catch (error) {
      this.#queue.push(failed(asFailure(error)));
    }
  }

  /** Not every provider says that it is done; a reason why the answer ended is as good. */
  #endOfBody(): ProviderEvent {
    const told = this.#finishTold || this.#queue.some((event) => event.kind === "delta" && event.finishReason !== null);
    return told ? { kind: "end" } : failed(new UpstreamFailure("upstream_error", "the stream broke off"));
  }

  /** Reads on to the end of the body, which is due at once, so that the connection can serve the next call. */
  async #readTail(): Promise<void> {
    const enough = new AbortController();
    const late = sleep(this.#clock, streamTailMs, enough.signal).then(() => "late" as const);
    try {
      for (let read = 0; read <= streamTailBytesMax;) {
        const bytes = await Promise.race([this.#exchange.read(), late]);
        if (bytes === null) return this.#exchange.finished();
        if (bytes === "late") break;
        read += bytes.length;
      }
      this.#exchange.close();
    } catch {
      this.#exchange.close();
    } finally {
      enough.abort();
    }
  }
}

function failed(failure: UpstreamFailure): ProviderEvent {
  return { kind: "failure", failure };
}

function asFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  if (error instanceof EventTooLargeError) return new UpstreamFailure("upstream_error", error.message, null, error);
  throw error;
}
