/** Decodes the chunks of a chat-completions stream. */
import { UpstreamFailure, type FinishReason, type ProviderEvent } from "../provider.ts";
import { asArray, asObject, asText, isEmpty, parseJson, type JsonObject } from "../wire/json.ts";
import { ChunkTemplate } from "./chunk-template.ts";
import { failureIn } from "./errors.ts";
import { finishReason } from "./finish.ts";
import { contentText, firstChoice, furtherFields } from "./message.ts";
import { namelessCall, ToolCallPieces } from "./tool-calls.ts";
import { UsageTally } from "./usage.ts";

/** Decodes the data of one event after another; see `WireFormat.streamDecoder`. */
export function openaiStreamDecoder(): (data: string) => ProviderEvent[] {
  const stream = new OpenaiStream();
  return (data) => stream.take(data);
}

class OpenaiStream {
  readonly #usage = new UsageTally();
  readonly #toolCalls = new ToolCallPieces();
  readonly #alike = new ChunkTemplate();
  #calledTools = false;
  #begun = false;
  #finished = false;

  take(data: string): ProviderEvent[] {
    const content = this.#alike.textOf(data);
    return content === "" ? this.#parse(data) : [{ kind: "delta", delta: { content }, finishReason: null }];
  }

  #parse(data: string): ProviderEvent[] {
    const text = data.trim();
    // Some providers send their keep-alive comments as data.
    if (text === "" || text.startsWith(":")) return [];
    if (text === "[DONE]") return this.#done();
    const chunk = asObject(parseJson(text));
    if (chunk === null) return [broken("a chunk is not a JSON object")];
    // Azure's first chunk, which reports its filter, has no choice; neither has the usage chunk.
    const choice = firstChoice(chunk);
    const news = inOrder(this.#newsOf(chunk, choice), this.#usageOf(chunk, choice));
    const content = contentAlone(news);
    if (content !== null) this.#alike.learn(data, content);
    return news;
  }

  #done(): ProviderEvent[] {
    if (!this.#begun) return [broken("the stream ended before it began")];
    if (this.#finished) return [{ kind: "end" }];
    if (this.#toolCalls.lacksName()) return [broken(namelessCall)];
    const reason = finishReason("stop", this.#calledTools);
    return [{ kind: "delta", delta: {}, finishReason: reason }, { kind: "end" }];
  }

  /** Usage may be in several places, so all are read. */
  #usageOf(chunk: JsonObject, choice: JsonObject | null): ProviderEvent | null {
    let isNew = this.#usage.take(chunk["usage"]);
    isNew = this.#usage.take(asObject(chunk["x_groq"])?.["usage"]) || isNew;
    isNew = this.#usage.take(choice?.["usage"]) || isNew;
    const usage = isNew ? this.#usage.usage() : null;
    return usage && { kind: "usage", usage };
  }

  #newsOf(chunk: JsonObject, choice: JsonObject | null): ProviderEvent | null {
    if (chunk["error"]) return { kind: "failure", failure: failureIn(chunk["error"]) };
    if (choice === null) return null;
    this.#begun = true;
    const delta = this.#pieceOf(asObject(choice["delta"]) ?? {}, chunk["id"]);
    const reported = asText(choice["finish_reason"]);
    if (this.#toolCalls.holdsTooMuch || (reported && this.#toolCalls.lacksName())) return broken(namelessCall);
    let reason: FinishReason | null = null;
    if (reported && !this.#finished) {
      reason = finishReason(reported, this.#calledTools);
      if (reason === null) return broken("the provider reports a failure");
      this.#finished = true;
    }
    const logprobs = asObject(choice["logprobs"]);
    if (logprobs !== null) return { kind: "delta", delta, finishReason: reason, logprobs };
    return reason === null && isEmpty(delta) ? null : { kind: "delta", delta, finishReason: reason };
  }

  #pieceOf(piece: JsonObject, answerId: unknown): Record<string, unknown> {
    const delta = furtherFields(piece);
    const content = contentText(piece["content"]);
    const role = asText(piece["role"]);
    if (role) delta["role"] = "assistant";
    if (content !== null && (content !== "" || role)) delta["content"] = content;
    const pieces = this.#toolCalls.take(asArray(piece["tool_calls"]), answerId);
    if (pieces.length > 0) {
      this.#calledTools = true;
      delta["tool_calls"] = pieces;
    }
    return delta;
  }
}

/** Nothing is read after a failure. */
function inOrder(news: ProviderEvent | null, usage: ProviderEvent | null): ProviderEvent[] {
  if (usage === null) return news === null ? [] : [news];
  if (news === null) return [usage];
  return news.kind === "failure" ? [usage, news] : [news, usage];
}

/** The content if the events contain nothing else; otherwise null. */
function contentAlone([event, another]: ProviderEvent[]): string | null {
  if (another !== undefined || event?.kind !== "delta" || event.finishReason !== null || event.logprobs !== undefined)
    return null;
  for (const field in event.delta) if (field !== "content") return null;
  return asText(event.delta["content"]);
}

function broken(detail: string): ProviderEvent {
  return { kind: "failure", failure: new UpstreamFailure("upstream_error", detail) };
}
