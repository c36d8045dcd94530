/**
 * Decodes the chunks of streamGenerateContent. No chunk marks the end: the stream ends with its body. If no finish reason has come by then,
 * the answer is incomplete. More may follow a finish reason, since with several calls each has had one.
 */
import { asObject, isEmpty, parseJson, type JsonObject } from "../wire/json.ts";
import { UpstreamFailure, type FinishReason, type ProviderEvent } from "../provider.ts";
import { toldFailure } from "../wire/errors.ts";
import { googleFailureIn } from "./errors.ts";
import { finishReasonIn, candidateOf, GoogleParts, type Said, GoogleUsage } from "./answer.ts";

/** Decodes the data of one event after another; see `WireFormat.streamDecoder`. */
export function googleStreamDecoder(): (data: string) => ProviderEvent[] {
  const stream = new GoogleStream();
  return (data) => stream.take(data);
}

class GoogleStream {
  readonly #usage = new GoogleUsage();
  readonly #parts = new GoogleParts();
  /** The last finish reason. More of the answer may follow it: with several calls, each has had one. */
  #reason: FinishReason | null = null;
  #hasContent = false;
  /** A call has continued after it. */
  #goesOn = false;

  take(data: string): ProviderEvent[] {
    try {
      return this.#take(data);
    } catch (error) {
      if (error instanceof UpstreamFailure) return [failed(error)];
      throw error;
    }
  }

  #take(data: string): ProviderEvent[] {
    const text = data.trim();
    if (text === "[DONE]") return this.#done();
    // Vertex sends its keep-alive comments as data.
    if (text === "" || text.startsWith(":")) return [];
    const value = parseJson(text);
    const chunk = asObject(Array.isArray(value) ? value[0] : value);
    if (chunk === null) return [failed(new UpstreamFailure("upstream_error", "a chunk is not a JSON object"))];
    const usage = this.#usageIn(chunk);
    const told = chunk["error"] || candidateOf(chunk) === null ? toldFailure(chunk, { begun: this.#hasContent }) : null;
    if (told !== null) return [...usage, failed(googleFailureIn(told))];
    const delta = deltaOf(this.#parts.take(chunk));
    this.#hasContent ||= !isEmpty(delta);
    const read = finishReasonIn(chunk, this.#parts.calledTools);
    // A failure after the finish reason does not take the answer back.
    const fails = read === "failed" && this.#reason === null;
    const repeats = read === this.#reason && isEmpty(delta) && !this.#goesOn;
    const finishReason = read === "failed" || repeats ? null : read;
    this.#goesOn = read === null && (this.#goesOn || "tool_calls" in delta);
    this.#reason = finishReason ?? this.#reason;
    const saysNothing = isEmpty(delta) && finishReason === null;
    const events: ProviderEvent[] = [...(saysNothing ? [] : [{ kind: "delta" as const, delta, finishReason }]), ...usage];
    return fails ? [...events, failed(new UpstreamFailure("upstream_error", "the provider reports a failure"))] : events;
  }

  /** The end of the body, or the mark that some compatible servers send. Without a finish reason the answer is incomplete. */
  #done(): ProviderEvent[] {
    if (this.#reason === null) return [];
    const pieces = this.#parts.end();
    const rest: ProviderEvent[] =
      pieces.length === 0 ? [] : [{ kind: "delta", delta: { tool_calls: pieces }, finishReason: null }];
    return [...rest, { kind: "end" }];
  }

  #usageIn(chunk: JsonObject): ProviderEvent[] {
    const news = this.#usage.take(chunk["usageMetadata"]);
    const usage = this.#usage.usage();
    return news && usage !== null ? [{ kind: "usage", usage }] : [];
  }
}

function deltaOf({ content, reasoning, toolCalls }: Said): JsonObject {
  return {
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(content !== "" && { content }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  };
}

function failed(failure: UpstreamFailure): ProviderEvent {
  return { kind: "failure", failure };
}
