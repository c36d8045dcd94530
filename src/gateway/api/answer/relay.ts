/**
 * Relays a provider's events to the client at the client's pace: the next event is read when the client has room, so that a slow reader
 * slows its provider down and costs no memory. A stream ends exactly once, in one call of `onEnd`, before the client has its last line.
 * `Relay` has the time, the sockets and the two ends that may come in any order: the provider's, the client's, a shutdown's. `StreamState`
 * turns events into lines and has neither time nor sockets, so it can be tested with tables. After a client has left, the stream is read on
 * within limits if its cost comes at the end (drains.ts). Otherwise the provider is stopped, after a moment in which it can end an answer
 * whose text the client has.
 */
import { type Clock, type StopSignal, sharedTimerOf, type TimerListener } from "../../../kernel/clock.ts";
import { lastEventsMsMax, lastTokensMax, streamCommentMs, streamStallMsMax, upstreamAnswerBytesMax } from "../../limits.ts";
import type { ReportedUsage } from "../../models/model.ts";
import { AnswerTokens } from "../../models/chat-tokens.ts";
import {
  OversizedAnswer,
  UpstreamFailure,
  type DeltaEvent,
  type ProviderEventStream,
  type EventReceiver,
  type ProviderEvent,
  type ThoughtEvent,
} from "../../providers/provider.ts";
import { finalEnding, strongerEnding, type Ending } from "../../providers/wire/answers.ts";
import type { CreateStream, TextSink, TextSource } from "./response.ts";
import type { DrainSlot } from "./drains.ts";
import type { StreamWriter } from "./answer-format.ts";
import { type BilledUsage, logprobsBody } from "./answer.ts";
import { streamError } from "./upstream-errors.ts";

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
  /** How long the provider was held up because the client had no room, and how long only its last events were awaited. */
  heldUpMs: number;
  /** The full answer has arrived; its usage may be missing. */
  isComplete: boolean;
}

export interface RelayOptions {
  createStream: CreateStream;
  events: ProviderEventStream;
  writer: StreamWriter;
  /** The provider has been silent so long that a comment must be sent first. */
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

/** Keeps the latest count of each field. A zero or an absent count is a placeholder and does not replace a count. */
export function mergeUsage(before: ReportedUsage | null, reported: ReportedUsage): ReportedUsage {
  if (before === null) return reported;
  return {
    ...reported,
    promptTokens: reported.promptTokens || (before.promptTokens ?? reported.promptTokens),
    cachedTokens: reported.cachedTokens || before.cachedTokens,
    cacheWriteTokens: reported.cacheWriteTokens || before.cacheWriteTokens,
    completionTokens: reported.completionTokens || (before.completionTokens ?? reported.completionTokens),
    reasoningTokens: reported.reasoningTokens || before.reasoningTokens,
  };
}

/** All lines of a stream whose events are known: those that `relay` sends. */
export function streamText(events: readonly ProviderEvent[], writer: StreamWriter, usage: BilledUsage): string {
  const state = new StreamState(writer);
  return events.map((event) => state.apply(event)).join("") + state.closingLines(usage);
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
    if (this.#commentDue) this.#send(this.#state.keepAliveLines());
    this.#read();
  }

  /**
   * The client has left: the stream is drained within limits. Without a slot the provider is stopped, after a moment in which it can end an
   * answer whose text the client has, and report the usage. There are never more such streams than were open before.
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
      // As with a client without room: what arrives from now on is read at once, and must not be estimated from the time.
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
    else if (this.#demand && quietMs >= streamCommentMs) this.#send(this.#state.keepAliveLines());
  }

  take(events: readonly ProviderEvent[]): void {
    this.#reading = false;
    if (this.#phase === "ended") return;
    const last = events.at(-1)?.kind;
    this.#sourceOpen = last !== undefined && last !== "end" && last !== "failure";
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

/**
 * Turns provider events into the client's lines: a beginning, then pieces, exactly one ending. The finish reason is held until the end:
 * some providers send more of the answer after it, above all further calls of tools.
 */
class StreamState {
  readonly #writer: StreamWriter;
  readonly #tokens = new AnswerTokens();
  #begun = false;
  #ending: Ending | null = null;
  /** A call has begun after the finish reason, and has none of its own so far. */
  #goesOn = false;
  #calledTools = false;
  #ended = false;
  #failure: UpstreamFailure | null = null;
  #usage: ReportedUsage | null = null;

  constructor(writer: StreamWriter) {
    this.#writer = writer;
  }

  /** The provider's counts so far. */
  get usage(): ReportedUsage | null {
    return this.#usage;
  }

  /** Estimated from all texts so far. */
  get tokens(): number {
    return this.#tokens.tokens;
  }

  /** Estimated from the texts that came after the provider's last count of output. */
  get uncountedTokens(): number {
    return this.#tokens.uncountedTokens;
  }

  /** No more events count: send `closingLines`. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Set if the provider failed, even if the client has the full answer. */
  get failure(): UpstreamFailure | null {
    return this.#failure;
  }

  /** The client has, or is about to get, the full answer. */
  get isComplete(): boolean {
    return (this.#ending !== null && !this.#goesOn) || (this.#ended && this.#failure === null);
  }

  /** @returns the lines to send for this event, often none */
  apply(event: ProviderEvent): string {
    if (this.#ended) return "";
    switch (event.kind) {
      case "delta":
        return this.#applyDelta(event);
      case "thought":
        return this.#applyThought(event);
      case "usage":
        // A zero is a placeholder: it does not include the text so far.
        if (event.usage.completionTokens && event.usage.completionTokens !== this.#usage?.completionTokens)
          this.#tokens.markCounted();
        this.#usage = mergeUsage(this.#usage, event.usage);
        return "";
      case "failure":
        this.#failure = event.failure;
    }
    this.#ended = true;
    return "";
  }

  /** The provider's stream ended without an end event. */
  endEarly(): void {
    if (this.#ended) return;
    if (!this.isComplete) this.#failure = new UpstreamFailure("upstream_error", "the stream broke off");
    this.#ended = true;
  }

  /** Keep a stream open that is quiet. */
  keepAliveLines(): string {
    return this.#writer.beginsFirst ? this.#begin() + this.#writer.keepAlive : this.#writer.keepAlive;
  }

  /** The last lines of the stream. A failure after the finish reason is not reported: the client has the full answer. */
  closingLines(usage: BilledUsage): string {
    if (this.isComplete) return this.#begin() + this.#writer.complete(finalEnding(this.#ending, this.#calledTools), usage);
    const failure = this.#failure ?? new UpstreamFailure("upstream_error", "the stream ended early");
    return this.#writer.fail(streamError(failure), usage);
  }

  #applyDelta(event: DeltaEvent): string {
    const { delta, finishReason, logprobs } = event;
    const content = "role" in delta ? withoutRole(delta) : delta;
    const lines = this.#begin();
    this.#tokens.add(content);
    this.#calledTools ||= hasCalls(content);
    if (finishReason !== null || this.#ending !== null) this.#takeEnding(event, content);
    const probabilities = logprobsBody(logprobs);
    const line = probabilities !== null || hasContent(content) ? this.#writer.delta(content, probabilities) : "";
    if (this.#writer.held !== undefined) this.#boundHeld(this.#writer.held);
    return lines + line;
  }

  #applyThought(thought: ThoughtEvent): string {
    if (this.#writer.thought === undefined) return "";
    const lines = this.#begin() + this.#writer.thought(thought);
    if (this.#writer.held !== undefined) this.#boundHeld(this.#writer.held);
    return lines;
  }

  /** Called only for a finish reason and for what follows one. */
  #takeEnding(event: DeltaEvent, content: Record<string, unknown>): void {
    this.#ending = strongerEnding(this.#ending, event);
    this.#goesOn = event.finishReason === null && (this.#goesOn || hasCalls(content) || "function_call" in content);
  }

  /** A provider must not fill the memory through what the writer repeats at the end. */
  #boundHeld(characters: number): void {
    if (characters <= upstreamAnswerBytesMax) return;
    this.#failure = new OversizedAnswer(`the answer has more than ${upstreamAnswerBytesMax} characters`);
    this.#ended = true;
  }

  #begin(): string {
    if (this.#begun) return "";
    this.#begun = true;
    return this.#writer.begin();
  }
}

function withoutRole({ role: _role, ...content }: Record<string, unknown>): Record<string, unknown> {
  return content;
}

function hasCalls({ tool_calls: calls }: Record<string, unknown>): boolean {
  return Array.isArray(calls) && calls.length > 0;
}

/** Providers send empty deltas: at the start, with a finish reason, or to keep the stream open. */
function hasContent(delta: Record<string, unknown>): boolean {
  for (const field in delta) {
    const value = delta[field];
    if (value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0)) return true;
  }
  return false;
}
