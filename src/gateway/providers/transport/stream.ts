/**
 * An open stream of a provider. It reads the network only on request, so its pace is the reader's. A finished stream that its provider
 * leaves open is ended after a short wait, which neither comments nor empty events prolong; the rest of its body is read in the background,
 * so that the connection can carry the next call. Every failure is an event of the stream, and the last one.
 */
import { type Clock, sharedTimerOf, type TimerListener, type SharedTimer } from "../../../kernel/clock.ts";
import { streamTailBytesMax, streamTailMs } from "../../limits.ts";
import type { Route } from "../../models/model.ts";
import {
  asUpstreamFailure,
  OversizedAnswer,
  type AnswerWants,
  type DeltaEvent,
  type ProviderEventStream,
  type EventReceiver,
  type ProviderEvent,
  type UpstreamFailure,
  type WholeAnswer,
  type WireFormat,
} from "../provider.ts";
import { EventSequence, EventParser, EventTooLargeError } from "./events.ts";
import { beginsDocument, StreamDocument } from "./other-forms.ts";
import type { BytesReceiver } from "./transport.ts";
import type { UpstreamCall } from "./upstream-call.ts";

interface StreamParts {
  upstream: UpstreamCall;
  format: Pick<WireFormat, "streamDecoder" | "decodeAnswer">;
  /** The called one; see `WireFormat.decodeAnswer`. */
  route?: Route | undefined;
  /** The call's. */
  wants?: AnswerWants | undefined;
  clock: Clock;
}

export class ProviderStream implements ProviderEventStream, BytesReceiver, TimerListener {
  readonly #upstream: UpstreamCall;
  readonly #decodeAnswer: (body: unknown) => WholeAnswer;
  readonly #clock: Clock;
  readonly #parser = new EventParser();
  readonly #sequence: EventSequence;
  /** undefined: nothing but white space has arrived; null: the body is an event stream, whatever its content type. */
  #document: StreamDocument | null | undefined;
  #receiver: EventReceiver | null = null;
  /** Monotonic milliseconds: when the gateway ends a finished stream that its provider leaves open. */
  #endsBy = Infinity;
  #deliveredAt = 0;
  #over = false;

  constructor({ upstream, format, route, wants, clock }: StreamParts) {
    this.#upstream = upstream;
    this.#decodeAnswer = (body) => format.decodeAnswer(body, route, wants);
    this.#clock = clock;
    this.#sequence = new EventSequence(format.streamDecoder(route, wants));
  }

  next(receiver: EventReceiver): void {
    if (this.#over) return receiver.take([]);
    // While the stream is not read, its provider has no time to end it.
    if (this.#endsBy !== Infinity) this.#endsBy += this.#clock.monotonic() - this.#deliveredAt;
    this.#receiver = receiver;
    this.#upstream.read(this);
  }

  /** After the end there is nothing to cancel, and the connection is kept for the next call. */
  async cancel(): Promise<void> {
    if (this.#over) return;
    this.#close();
    this.#upstream.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cancel();
  }

  take(bytes: Uint8Array | null): void {
    const events = this.#decoded(bytes);
    if (events.length === 0) this.#upstream.read(this);
    else this.#deliver(events);
  }

  fail(reason: unknown): void {
    this.#deliver([failed(asFailure(reason))]);
  }

  look(nowMs: number): void {
    const receiver = this.#receiver;
    if (receiver === null || nowMs < this.#endsBy) return;
    this.#receiver = null;
    this.#close();
    this.#upstream.close();
    receiver.take(this.#decoded(null));
  }

  /** @param bytes null: the end of the body */
  #decoded(bytes: Uint8Array | null): ProviderEvent[] {
    const events: ProviderEvent[] = [];
    try {
      this.#decodeInto(events, bytes);
    } catch (error) {
      events.push(failed(asFailure(error)));
    }
    return events;
  }

  /**
   * Appends the events that these bytes complete, up to the end of the stream.
   * @throws EventTooLargeError, UpstreamFailure
   */
  #decodeInto(events: ProviderEvent[], bytes: Uint8Array | null): void {
    if (this.#document !== null && bytes !== null) this.#sniff(bytes);
    if (this.#document) {
      if (bytes !== null) this.#document.add(bytes);
      else this.#document.end(events, this.#sequence, this.#decodeAnswer);
      return;
    }
    for (const data of bytes === null ? this.#parser.end() : this.#parser.feed(bytes))
      if (this.#sequence.take(data, events)) return;
    if (bytes === null) this.#sequence.end(events);
  }

  #sniff(bytes: Uint8Array): void {
    if (this.#document !== undefined) return;
    const begins = beginsDocument(bytes);
    if (begins !== null) this.#document = begins ? new StreamDocument(bytes) : null;
  }

  #deliver(events: ProviderEvent[]): void {
    const receiver = this.#receiver;
    this.#receiver = null;
    if (this.#over) return receiver?.take([]);
    const last = events.at(-1)?.kind;
    if (last === "failure" || last === "end") {
      this.#close();
      if (last === "failure") this.#upstream.close();
      else readTail(this.#upstream, this.#clock);
    } else if (this.#sequence.finishSeen) this.#await(events);
    receiver?.take(events);
  }

  /**
   * The answer is finished, but its end has not come. The gateway waits briefly, and neither comments nor empty events prolong the wait. A
   * call that begins after the finish reason gets all the time that it needs, up to the next finish reason, or to a usage once it is
   * complete.
   */
  #await(events: readonly ProviderEvent[]): void {
    const now = this.#clock.monotonic();
    this.#deliveredAt = now;
    const end = now + this.#sequence.graceMs;
    for (const event of events) {
      if (event.kind === "delta") this.#endsBy = this.#endAfter(event, end);
      else if (event.kind === "usage" && !this.#sequence.isInCall) this.#endsBy = Math.min(this.#endsBy, end);
    }
    if (this.#endsBy !== Infinity) sharedTimerOf(this.#clock).add(this);
  }

  #endAfter({ delta, finishReason }: DeltaEvent, end: number): number {
    const calls = "tool_calls" in delta || "function_call" in delta;
    if (calls && finishReason === null) return Infinity;
    const says = calls || delta["content"] || delta["reasoning_content"] || delta["refusal"];
    if (says && (finishReason !== null || this.#endsBy !== Infinity)) return end;
    return finishReason === null ? this.#endsBy : Math.min(end, this.#endsBy);
  }

  #close(): void {
    this.#over = true;
    if (this.#sequence.finishSeen) sharedTimerOf(this.#clock).delete(this);
  }
}

function failed(failure: UpstreamFailure): ProviderEvent {
  return { kind: "failure", failure };
}

function asFailure(error: unknown): UpstreamFailure {
  return error instanceof EventTooLargeError ? new OversizedAnswer(error.message) : asUpstreamFailure(error);
}

/** Closes the connection if the end does not arrive soon, or too many bytes precede it. */
function readTail(upstream: UpstreamCall, clock: Clock): void {
  new StreamTail(upstream, clock).read();
}

/** Reads a stream's body from its last event to its end, which is due at once, so that the connection can carry the next call. */
class StreamTail implements BytesReceiver, TimerListener {
  readonly #upstream: UpstreamCall;
  readonly #timer: SharedTimer;
  readonly #dueBy: number;
  #bytes = 0;
  #over = false;

  constructor(upstream: UpstreamCall, clock: Clock) {
    this.#upstream = upstream;
    this.#timer = sharedTimerOf(clock);
    this.#dueBy = clock.monotonic() + streamTailMs;
  }

  read(): void {
    this.#timer.add(this);
    this.#upstream.read(this);
  }

  take(bytes: Uint8Array | null): void {
    if (this.#over) return;
    this.#bytes += bytes?.length ?? 0;
    if (bytes === null) this.#end(() => this.#upstream.finished());
    else if (this.#bytes > streamTailBytesMax) this.fail();
    else this.#upstream.read(this);
  }

  fail(): void {
    this.#end(() => this.#upstream.close());
  }

  look(nowMs: number): void {
    if (nowMs >= this.#dueBy) this.fail();
  }

  #end(act: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer.delete(this);
    act();
  }
}
