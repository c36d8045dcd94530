/** Decodes the chunks of streamGenerateContent. No chunk marks the end: the stream ends with its body. */
import { asObject, isEmpty, parseJson, type JsonObject } from "../wire/json.ts";
import { UpstreamFailure, type ProviderEvent } from "../provider.ts";
import { googleFailureIn } from "./errors.ts";
import { finishReasonIn } from "./finish.ts";
import { GoogleParts, type Said } from "./parts.ts";
import { GoogleUsage } from "./usage.ts";

/** Decodes the data of one event after another; see `WireFormat.streamDecoder`. */
export function googleStreamDecoder(): (data: string) => ProviderEvent[] {
  const stream = new GoogleStream();
  return (data) => stream.take(data);
}

class GoogleStream {
  readonly #usage = new GoogleUsage();
  readonly #parts = new GoogleParts();
  #finished = false;

  take(data: string): ProviderEvent[] {
    const text = data.trim();
    // Vertex sends its keep-alive comments as data.
    if (text === "" || text.startsWith(":")) return [];
    const value = parseJson(text);
    const chunk = asObject(Array.isArray(value) ? value[0] : value);
    if (chunk === null) return [failed(new UpstreamFailure("upstream_error", "a chunk is not a JSON object"))];
    const usage = this.#usageIn(chunk);
    if (chunk["error"]) return [...usage, failed(googleFailureIn(chunk["error"]))];
    const delta = deltaOf(this.#parts.take(chunk));
    const reason = this.#finished ? null : finishReasonIn(chunk, this.#parts.calledTools);
    const finishReason = reason === "failed" ? null : reason;
    this.#finished ||= finishReason !== null;
    const saysNothing = isEmpty(delta) && finishReason === null;
    const events: ProviderEvent[] = [...(saysNothing ? [] : [{ kind: "delta" as const, delta, finishReason }]), ...usage];
    return reason === "failed"
      ? [...events, failed(new UpstreamFailure("upstream_error", "the provider reports a failure"))]
      : events;
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
