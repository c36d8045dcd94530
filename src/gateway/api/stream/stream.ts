/**
 * Relays a provider's events to the client at the client's pace: the next event is read when the client has room, so that a slow reader
 * slows its provider down and costs no memory. A stream ends exactly once, in one call of `onEnd`, before the client has its last line.
 */
import type { Clock } from "../../../kernel/clock.ts";
import type { StopSignal } from "../../../kernel/stop-signal.ts";
import { lastEventsMsMax, lastTokensMax, streamCommentMs, streamStallMsMax } from "../../limits.ts";
import type { ReportedUsage } from "../../models/model.ts";
import { UpstreamFailure, type ProviderEventStream, type EventReceiver, type ProviderEvent } from "../../providers/provider.ts";
import { sharedTimerOf, type TimerListener } from "../../providers/transport/shared-timer.ts";
import type { CreateStream, TextSink, TextSource } from "./client-stream.ts";
import { commentLine, type ChunkWriter } from "./chunk.ts";
import type { DrainSlot } from "./drain-slots.ts";
import type { BilledUsage } from "../response/usage-body.ts";
import { StreamState } from "./stream-state.ts";

export interface StreamOutcome {
  /** completed: the client was sent the full answer. client_gone: it hung up, or read nothing for a minute. */
  how: "completed" | "failed" | "client_gone";
  failure: UpstreamFailure | null;
  /** The provider's counts; null: none. They are its last only if `final`. */
  usage: ReportedUsage | null;
  /** The provider's answer was read to its end; otherwise it may have written more than it counted. */
  final: boolean;
  /** Estimated from all texts that the provider sent; 0: it sent no text. */
  producedTokens: number;
  /** Estimated from the texts that came after the provider's last count of output. */
  uncountedTokens: number;
  /** From the start to the first text that was sent; null: no text was sent. */
  firstTokenMs: number | null;
  /** How long the provider was held up because the client had no room, and how long only its last words were awaited. */
  heldUpMs: number;
  /** The full answer has arrived; its usage may be missing. */
  isComplete: boolean;
}

export interface RelayOptions {
  createStream: CreateStream;
  events: ProviderEventStream;
  writer: ChunkWriter;
  /** The provider has been silent for so long that a comment must be sent first. */
  quiet: boolean;
  /** Takes a slot for draining after the client left; null: stop the provider soon. @param finished only the usage is missing */
  acquireDrainSlot(finished: boolean): DrainSlot | null;
  /** The request's signal, which reports a client that left before the stream began. */
  clientSignal: AbortSignal;
  /** Stops when the process shuts down and cannot wait any longer. */
  stop: StopSignal;
  clock: Clock;
  /** Monotonic milliseconds. */
  startedAt: number;
  /** Called once. @param currentOutcome returns the stream's outcome if the process died now */
  trackOutcome(currentOutcome: () => StreamOutcome): void;
  /** Called exactly once. Returns the charged usage for the usage chunk. If it throws, the stream breaks off. */
  onEnd(outcome: StreamOutcome): BilledUsage;
}

/** The body of a streamed answer. */
export function relay(options: RelayOptions): ReadableStream<Uint8Array> {
  return options.createStream(new Relay(options));
}

const noop = (): void => {};

class Relay implements TextSource, EventReceiver, TimerListener {
  readonly #options: RelayOptions;
  readonly #state: StreamState;
  #client: TextSink | null = null;
  #phase: "delivering" | "draining" | "ended" = "delivering";
  /** The client has room for more. */
  #demand = false;
  #reading = false;
  /** Within `#read`: the loop there handles events that arrive synchronously. */
  #requesting = false;
  /** A source that sent its end closes itself, and may keep its connection for the next call. */
  #sourceOpen = true;
  #commentDue: boolean;
  #sentAt: number;
  #firstTokenMs: number | null = null;
  #heldUpMs = 0;
  /** Monotonic milliseconds: the stream is drained until then. */
  #drainBy = Infinity;
  /** The stream is drained until it has more tokens, or to its usage if the answer is complete by then. */
  #drainTokensMax = Infinity;
  #releaseDrain = noop;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#state = new StreamState(options.writer);
    this.#commentDue = options.quiet;
    this.#sentAt = options.clock.monotonic();
    options.trackOutcome(() => this.#outcome("failed"));
  }

  begin(client: TextSink): void {
    this.#client = client;
    const { clientSignal, stop, clock } = this.#options;
    sharedTimerOf(clock).add(this);
    clientSignal.addEventListener("abort", this);
    if (clientSignal.aborted) this.cancel();
    stop.listen(() => this.#stop());
  }

  pull(): void {
    if (!this.#demand) this.#heldUpMs += this.#options.clock.monotonic() - this.#sentAt;
    this.#demand = true;
    if (this.#commentDue) this.#send(commentLine);
    this.#read();
  }

  /**
   * The client has left: the stream is drained within limits. Without a slot the provider is stopped, but first gets the moment that it
   * needs to end an answer whose last words the client has, and to tell the usage. Such streams are no more than were open before.
   */
  cancel(): void {
    if (this.#phase !== "delivering") return;
    this.#phase = "draining";
    const slot = this.#options.acquireDrainSlot(this.#state.isComplete);
    if (slot !== null) {
      this.#releaseDrain = slot.release;
      this.#drainBy = slot.until;
    } else {
      if (this.#state.tokens === 0) return this.#end("client_gone");
      const now = this.#options.clock.monotonic();
      // As with a client without room: what comes from now on is seen at once, and must not be estimated from the time.
      if (!this.#demand) this.#heldUpMs += now - this.#sentAt;
      this.#demand = false;
      this.#sentAt = now;
      this.#drainBy = now + lastEventsMsMax;
      this.#drainTokensMax = this.#state.tokens + lastTokensMax;
    }
    this.#read();
  }

  /** The `abort` event of `clientSignal`. The listener stays: the signal ends with the request, and removing costs as much as adding. */
  handleEvent(): void {
    this.cancel();
  }

  look(nowMs: number): void {
    if (this.#phase === "draining") {
      if (nowMs >= this.#drainBy) this.#end("client_gone");
      return;
    }
    const quietMs = nowMs - this.#sentAt;
    if (!this.#demand && quietMs >= streamStallMsMax) this.#giveUpOnClient();
    else if (this.#demand && quietMs >= streamCommentMs) this.#send(commentLine);
  }

  take(events: readonly ProviderEvent[]): void {
    this.#reading = false;
    if (this.#phase === "ended") return;
    const last = events.at(-1)?.kind;
    this.#sourceOpen = last === "delta" || last === "usage";
    let lines = "";
    for (const event of events) lines += this.#state.apply(event);
    if (last === undefined) this.#state.endEarly();
    if (lines !== "") this.#send(lines);
    if (this.#state.ended) this.#end(this.#state.isComplete ? "completed" : "failed");
    else if (this.#state.tokens > this.#drainTokensMax && !this.#state.isComplete) this.#end("client_gone");
    else this.#read();
  }

  /** Requests one event at a time while more are wanted. */
  #read(): void {
    if (this.#requesting) return;
    this.#requesting = true;
    while (this.#wantsEvents() && !this.#reading) {
      this.#reading = true;
      this.#options.events.next(this);
    }
    this.#requesting = false;
  }

  #wantsEvents(): boolean {
    return this.#phase === "draining" || (this.#phase === "delivering" && this.#demand);
  }

  #send(lines: string): void {
    if (this.#phase !== "delivering") return;
    this.#demand = false;
    this.#commentDue = false;
    this.#sentAt = this.#options.clock.monotonic();
    if (this.#state.tokens > 0) this.#firstTokenMs ??= this.#sentAt - this.#options.startedAt;
    if (this.#client?.send(lines)) this.#demand = true;
  }

  #end(how: StreamOutcome["how"]): void {
    if (this.#phase === "ended") return;
    const delivering = this.#phase === "delivering";
    this.#phase = "ended";
    this.#releaseDrain();
    const { stop, clock, onEnd } = this.#options;
    sharedTimerOf(clock).delete(this);
    stop.listen(null);
    if (this.#sourceOpen) this.#closeSource();
    try {
      const usage = onEnd(this.#outcome(delivering ? how : "client_gone"));
      if (!delivering) return;
      this.#client?.end(this.#state.closingLines(usage));
    } catch (error) {
      this.#client?.fail(error);
    }
  }

  #stop(): void {
    this.#state.apply({ kind: "failure", failure: new UpstreamFailure("upstream_error", "the gateway is shutting down") });
    this.#end(this.#state.isComplete ? "completed" : "failed");
  }

  /** A failure to close a connection has no consequence. */
  #closeSource(): void {
    this.#options.events.cancel().catch(() => {});
  }

  #outcome(how: StreamOutcome["how"]): StreamOutcome {
    const { usage, failure, ended, isComplete, tokens, uncountedTokens } = this.#state;
    const isHeldUp = this.#phase !== "draining" && !this.#demand;
    return {
      how,
      failure,
      usage,
      final: ended && failure === null,
      producedTokens: tokens,
      uncountedTokens,
      firstTokenMs: this.#firstTokenMs,
      heldUpMs: this.#heldUpMs + (isHeldUp ? this.#options.clock.monotonic() - this.#sentAt : 0),
      isComplete,
    };
  }

  #giveUpOnClient(): void {
    this.cancel();
    this.#client?.fail(new Error("The client read nothing for too long"));
  }
}
