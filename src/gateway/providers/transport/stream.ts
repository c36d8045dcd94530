/** An open stream of a provider: reads the network only when somebody asks. */
import { streamTailBytesMax, streamTailMs } from "../../limits.ts";
import { sleep, type Clock } from "../../../kernel/clock.ts";
import type { Exchange } from "./upstream-call.ts";
import { nextBytes } from "./next-bytes.ts";
import { UpstreamFailure, type EventSource, type EventTaker, type ProviderEvent } from "../provider.ts";
import { EventParser, EventTooLargeError } from "./sse.ts";
import type { BytesTaker } from "./transport.ts";

export interface StreamParts {
  exchange: Exchange;
  decode: (data: string) => ProviderEvent[];
  clock: Clock;
}

export class ProviderStream implements EventSource, BytesTaker {
  readonly #exchange: Exchange;
  readonly #decode: (data: string) => ProviderEvent[];
  readonly #clock: Clock;
  readonly #parser = new EventParser();
  #taker: EventTaker | null = null;
  #finishTold = false;
  #over = false;

  constructor({ exchange, decode, clock }: StreamParts) {
    this.#exchange = exchange;
    this.#decode = decode;
    this.#clock = clock;
  }

  next(taker: EventTaker): void {
    if (this.#over) return taker.take([]);
    this.#taker = taker;
    this.#exchange.read(this);
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

  take(bytes: Uint8Array | null): void {
    const events: ProviderEvent[] = [];
    try {
      this.#decodeInto(events, bytes);
    } catch (error) {
      events.push(failed(asFailure(error)));
    }
    if (events.length === 0) this.#exchange.read(this);
    else this.#tell(events);
  }

  fail(reason: unknown): void {
    this.#tell([failed(asFailure(reason))]);
  }

  /** Whatever these bytes complete, up to the end of the stream; null is the end of the body. @throws EventTooLargeError */
  #decodeInto(events: ProviderEvent[], bytes: Uint8Array | null): void {
    for (const data of bytes === null ? this.#parser.end() : this.#parser.feed(bytes)) {
      for (const event of this.#decode(data)) {
        events.push(event);
        if (event.kind === "delta" && event.finishReason !== null) this.#finishTold = true;
        if (event.kind === "end" || event.kind === "failure") return;
      }
    }
    if (bytes === null) events.push(this.#endOfBody());
  }

  /** Not every provider says that it is done; a reason why the answer ended is as good. */
  #endOfBody(): ProviderEvent {
    return this.#finishTold ? { kind: "end" } : failed(new UpstreamFailure("upstream_error", "the stream broke off"));
  }

  #tell(events: ProviderEvent[]): void {
    const taker = this.#taker;
    this.#taker = null;
    if (this.#over) return taker?.take([]);
    const last = events.at(-1)?.kind;
    this.#over = last === "end" || last === "failure";
    if (last === "failure") this.#exchange.close();
    if (last === "end") void this.#readTail();
    taker?.take(events);
  }

  /** Reads on to the end of the body, which is due at once, so that the connection can serve the next call. */
  async #readTail(): Promise<void> {
    const enough = new AbortController();
    const late = sleep(this.#clock, streamTailMs, enough.signal).then(() => "late" as const);
    try {
      for (let read = 0; read <= streamTailBytesMax;) {
        const bytes = await Promise.race([nextBytes(this.#exchange), late]);
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
  const detail = error instanceof EventTooLargeError ? error.message : "reading the stream threw";
  return new UpstreamFailure("upstream_error", detail, null, error);
}
