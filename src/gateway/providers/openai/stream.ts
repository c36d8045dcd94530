/**
 * Decodes the chunks of a chat-completions stream. More of an answer may follow its finish reason, and counts may stand in several places,
 * so all are read; a failure after a finish reason does not take the answer back.
 * Chunks that differ only in their text are not parsed (`ChunkTemplate`): the text before and after is learned from a parsed chunk, which
 * saves most of a stream's JSON.
 */
import type { FinishReason, ProviderEvent } from "../provider.ts";
import { broken, toldFailure } from "../wire/errors.ts";
import { asArray, asObject, asText, isEmpty, parseJson, type JsonObject } from "../wire/json.ts";
import { finishReason, reportedReason, contentText, firstChoice, furtherFields, UsageTally } from "./answer.ts";
import { failureIn } from "./errors.ts";
import { namelessCall, ToolCallPieces } from "./tool-calls.ts";

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
  /** A function call in the older form that has no arguments so far. */
  #bareCall = false;
  #begun = false;
  /** Some of the answer has arrived, other than its role. */
  #hasContent = false;
  /** The last finish reason. More of the answer may follow it. */
  #reason: FinishReason | null = null;
  /** A call has continued after it. */
  #goesOn = false;

  take(data: string): ProviderEvent[] {
    const content = this.#alike.textOf(data);
    return content === "" ? this.#parse(data) : [{ kind: "delta", delta: { content }, finishReason: null }];
  }

  #parse(data: string): ProviderEvent[] {
    const text = data.trim();
    // Some providers send their keep-alive comments as data.
    if (text === "" || text.startsWith(":")) return [];
    if (text === "[DONE]") return this.#done();
    const value = parseJson(text);
    // Google's compatible API wraps an error in a list.
    const chunk = asObject(Array.isArray(value) ? value[0] : value);
    if (chunk === null) return [broken("a chunk is not a JSON object")];
    // Azure's first chunk, which reports its filter, has no choice; neither has the usage chunk.
    const choice = firstChoice(chunk);
    const news = inOrder(this.#newsOf(chunk, choice), this.#usageOf(chunk, choice));
    const content = contentAlone(news);
    if (content !== null) this.#alike.learn(data, content);
    return news;
  }

  /** Clients cannot parse an empty text: calls without arguments get an empty object, since none will come. */
  #done(): ProviderEvent[] {
    if (!this.#begun) return [broken("the stream ended before it began")];
    if (this.#toolCalls.lacksName()) return [broken(namelessCall)];
    const pieces = this.#toolCalls.end();
    const delta = {
      ...(pieces.length > 0 && { tool_calls: pieces }),
      ...(this.#bareCall && { function_call: { arguments: "{}" } }),
    };
    const reason = this.#reason === null ? finishReason("stop", this.#calledTools) : null;
    const saysNothing = reason === null && isEmpty(delta);
    return [...(saysNothing ? [] : [{ kind: "delta" as const, delta, finishReason: reason }]), { kind: "end" }];
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
    if (choice === null || chunk["error"]) {
      const told = toldFailure(chunk, { begun: this.#hasContent });
      return told && { kind: "failure", failure: failureIn(told) };
    }
    this.#begun = true;
    const delta = this.#pieceOf(asObject(choice["delta"]) ?? {}, chunk["id"]);
    this.#hasContent ||= hasContent(delta);
    const reported = reportedReason(choice["finish_reason"]);
    if (this.#toolCalls.holdsTooMuch || (reported && this.#toolCalls.lacksName())) return broken(namelessCall);
    const read = reported ? finishReason(reported, this.#calledTools) : null;
    // A failure after the finish reason does not take the answer back.
    if (reported && read === null && this.#reason === null) return broken("the provider reports a failure");
    const reason = read === this.#reason && isEmpty(delta) && !this.#goesOn ? null : read;
    this.#goesOn = reported === "" && (this.#goesOn || "tool_calls" in delta || "function_call" in delta);
    this.#reason = read ?? this.#reason;
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
    const called = asObject(delta["function_call"]);
    if (called !== null) this.#bareCall = asText(called["arguments"])?.trim() === "" && (this.#bareCall || "name" in called);
    return delta;
  }
}

function hasContent(delta: JsonObject): boolean {
  return Object.keys(delta).some((field) => field !== "role" && delta[field]);
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

/** Some providers add something new to every chunk, such as random padding. Their chunks are always parsed. */
const attemptsMax = 8;
const opening = /"content": ?"/;
const probe = "probe";
/** Characters that JSON escapes, and the quote that ends a text. */
// oxlint-disable-next-line no-control-regex
const written = /["\\\u0000-\u001f]/;

/**
 * Extracts the text of stream chunks that differ only in their text, without parsing JSON. The text before and after it is
 * learned from a parsed chunk. A chunk with the same text before and after is equal in all else, because a quoted JSON text
 * cannot affect what surrounds it.
 */
class ChunkTemplate {
  #before = "";
  #after = "";
  #attempts = 0;

  /** @returns the text of a chunk that matches the template; "" if the chunk must be parsed */
  textOf(chunk: string): string {
    const { length: before } = this.#before;
    const end = chunk.length - this.#after.length;
    if (before === 0 || end <= before || !chunk.startsWith(this.#before) || !chunk.endsWith(this.#after)) return "";
    const text = chunk.slice(before, end);
    return written.test(text) ? "" : text;
  }

  /** @param text the only content of this chunk: the content of its first choice */
  learn(chunk: string, text: string): void {
    if (this.#attempts === attemptsMax) return;
    this.#attempts++;
    const found = opening.exec(chunk);
    if (found === null) return;
    const start = found.index + found[0].length;
    const before = chunk.slice(0, start);
    const after = chunk.slice(start + text.length);
    if (before + text + after !== chunk || contentOf(before + probe + after) !== probe) return;
    this.#before = before;
    this.#after = after;
  }
}

function contentOf(chunk: string): string | null {
  const choice = firstChoice(asObject(parseJson(chunk)));
  return asText(asObject(choice?.["delta"])?.["content"]);
}
