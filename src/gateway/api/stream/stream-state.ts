/**
 * Turns provider events into the client's lines: one role, then deltas, exactly one finish reason, usage if requested, one [DONE].
 * The finish reason is held until the end: some providers send more of the answer after it, above all further calls of tools.
 * Has no side effects: it uses neither time nor sockets.
 */
import type { ReportedUsage } from "../../models/model.ts";
import { AnswerTokens } from "../../models/tokens/answer-tokens.ts";
import { UpstreamFailure, type FinishReason, type ProviderEvent } from "../../providers/provider.ts";
import { doneLine, errorLine, type ChunkWriter } from "./chunk.ts";
import { finalReason, strongerReason } from "../../providers/wire/finish-order.ts";
import { mergeUsage } from "../response/merge-usage.ts";
import { logprobsBody } from "../response/logprobs.ts";
import type { BilledUsage } from "../response/usage-body.ts";
import { streamError } from "../response/upstream-errors.ts";

type Delta = Extract<ProviderEvent, { kind: "delta" }>;

export class StreamState {
  readonly #writer: ChunkWriter;
  readonly #tokens = new AnswerTokens();
  #begun = false;
  #reason: FinishReason | null = null;
  /** A call has begun after the finish reason, and has none of its own so far. */
  #goesOn = false;
  #calledTools = false;
  #ended = false;
  #failure: UpstreamFailure | null = null;
  #usage: ReportedUsage | null = null;

  constructor(writer: ChunkWriter) {
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
    return (this.#reason !== null && !this.#goesOn) || (this.#ended && this.#failure === null);
  }

  /** @returns the lines to send for this event, often none */
  apply(event: ProviderEvent): string {
    if (this.#ended) return "";
    switch (event.kind) {
      case "delta":
        return this.#applyDelta(event);
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

  /** The last lines of the stream. A failure after the finish reason is not reported: the client has the full answer. */
  closingLines(usage: BilledUsage): string {
    const reason = finalReason(this.#reason, this.#calledTools);
    const ending = this.isComplete ? this.#begin() + this.#writer.finish(reason) : this.#error();
    return ending + this.#writer.usage(usage) + doneLine;
  }

  #applyDelta({ delta, finishReason, logprobs }: Delta): string {
    const content = "role" in delta ? withoutRole(delta) : delta;
    const lines = this.#begin();
    this.#tokens.add(content);
    this.#calledTools ||= hasCalls(content);
    if (finishReason !== null || this.#reason !== null) this.#takeReason(finishReason, content);
    const probabilities = logprobsBody(logprobs);
    const line = probabilities !== null || hasContent(content) ? this.#writer.delta(content, probabilities) : "";
    return lines + line;
  }

  /** Called only for a finish reason and for what follows one. */
  #takeReason(finishReason: FinishReason | null, content: Record<string, unknown>): void {
    if (finishReason === null) this.#goesOn ||= hasCalls(content) || "function_call" in content;
    else {
      this.#reason = strongerReason(this.#reason, finishReason);
      this.#goesOn = false;
    }
  }

  #begin(): string {
    if (this.#begun) return "";
    this.#begun = true;
    return this.#writer.begin();
  }

  #error(): string {
    const failure = this.#failure ?? new UpstreamFailure("upstream_error", "the stream ended early");
    return errorLine(streamError(failure));
  }
}

function hasCalls({ tool_calls: calls }: Record<string, unknown>): boolean {
  return Array.isArray(calls) && calls.length > 0;
}

function withoutRole({ role: _role, ...content }: Record<string, unknown>): Record<string, unknown> {
  return content;
}

/** Providers send empty deltas: at the start, with a finish reason, or to keep the stream open. */
function hasContent(delta: Record<string, unknown>): boolean {
  for (const field in delta) {
    const value = delta[field];
    if (value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0)) return true;
  }
  return false;
}
