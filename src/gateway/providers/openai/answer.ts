/**
 * Converts a whole chat completion to our answer, and holds what the stream reads in the same way: the fields of a message that reach the
 * client, finish reasons, counts. All other fields are dropped. Compatible servers differ in names, places and empty values; each known
 * difference is here, with the provider that has it.
 */
import type { ReportedUsage } from "../../models/model.ts";
import { UpstreamFailure, type WholeAnswer, type FinishReason } from "../provider.ts";
import { finalReason, reportedUsage } from "../wire/answers.ts";
import { toldFailure } from "../wire/errors.ts";
import { asArray, asObject, asCount, asText, type JsonObject } from "../wire/json.ts";
import { failureIn } from "./errors.ts";
import { wholeToolCalls, argumentsText, wholeArguments } from "./tool-calls.ts";

/** @throws UpstreamFailure when the body is an error despite status 200, or holds no answer */
export function decodeOpenaiAnswer(body: unknown): WholeAnswer {
  const completion = asObject(Array.isArray(body) ? body[0] : body);
  if (completion === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  const choice = firstChoice(completion);
  const told = choice === null || completion["error"] ? toldFailure(completion) : null;
  if (told !== null) throw failureIn(told);
  const message = asObject(choice?.["message"]);
  if (choice === null || message === null) throw new UpstreamFailure("upstream_error", "the answer holds no message");
  const toolCalls = wholeToolCalls(asArray(message["tool_calls"]), completion["id"]);
  const reason = finishReason(reportedReason(choice["finish_reason"]) || "stop", toolCalls.length > 0);
  if (reason === null) throw new UpstreamFailure("upstream_error", "the provider reports a failure");
  const tally = new UsageTally();
  tally.take(completion["usage"]);
  return {
    message: {
      role: "assistant",
      content: contentText(message["content"]),
      refusal: null,
      ...wholeFields(message),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
    finishReason: reason,
    logprobs: choice["logprobs"] ?? null,
    usage: tally.usage(),
  };
}

// Fields that reach the client

/** The only choice of a whole answer or of a chunk; null if there is none. */
export function firstChoice(source: JsonObject | null): JsonObject | null {
  return asObject(asArray(source?.["choices"])[0]);
}

/** The text of a content: a string, or the text parts of a list; null if there is none. */
export function contentText(content: unknown): string | null {
  if (!Array.isArray(content)) return asText(content);
  return content.map((part) => asText(asObject(part)?.["text"]) ?? "").join("");
}

/**
 * The non-empty fields among `refusal`, `reasoning_content`, `function_call` and `annotations`. Groq, Cerebras, Together and vLLM name the
 * reasoning `reasoning`; some providers send both names.
 */
export function furtherFields(message: JsonObject): JsonObject {
  const fields: JsonObject = {};
  const refusal = asText(message["refusal"]);
  const reasoning = asText(message["reasoning_content"]) || asText(message["reasoning"]) || thoughtsIn(message["content"]);
  const functionCall = asObject(message["function_call"]);
  const annotations = asArray(message["annotations"]);
  if (refusal) fields["refusal"] = refusal;
  if (reasoning) fields["reasoning_content"] = reasoning;
  if (functionCall) fields["function_call"] = functionCallOf(functionCall);
  const citations = annotations.length === 0 ? [] : annotations.flatMap(citationOf);
  if (citations.length > 0) fields["annotations"] = citations;
  return fields;
}

/** Mistral's reasoning: parts of the content that contain texts. */
function thoughtsIn(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return contentText(content.flatMap((part) => asArray(asObject(part)?.["thinking"]))) ?? "";
}

/** A call of a whole answer, or a piece of it: the name first, then the arguments piece by piece. */
function functionCallOf(call: JsonObject): JsonObject {
  const name = asText(call["name"]);
  return { ...(name && { name }), arguments: argumentsText(call["arguments"]) };
}

/** The only kind of annotation in the official schema, with only its fields, since a provider may add anything. Nothing for other kinds. */
function citationOf(annotation: unknown): JsonObject[] {
  const source = asObject(annotation);
  const citation = source?.["type"] === "url_citation" ? asObject(source["url_citation"]) : null;
  const { url, title, start_index, end_index } = citation ?? {};
  if (asText(url) === null || asText(title) === null || asCount(start_index) === null || asCount(end_index) === null) return [];
  return [{ type: "url_citation", url_citation: { url, title, start_index, end_index } }];
}

/** The same for a whole message, whose call has all of its arguments. */
function wholeFields(message: JsonObject): JsonObject {
  const fields = furtherFields(message);
  const called = asObject(fields["function_call"]);
  if (called !== null) fields["function_call"] = { ...called, arguments: wholeArguments(called["arguments"]) };
  return fields;
}

// Finish reasons, of chat completions and the Messages API: compatible servers mix the two

/** The reasons of OpenAI, Anthropic and compatible providers. An unknown reason means that the model ended the answer. */
const reasons = new Map<string, FinishReason | "failed">(
  Object.entries({
    length: "length",
    max_tokens: "length",
    max_output_tokens: "length",
    model_length: "length",
    model_context_window_exceeded: "length",
    tool_call: "tool_calls",
    tool_calls: "tool_calls",
    tool_use: "tool_calls",
    function_call: "function_call",
    content_filter: "content_filter",
    content_filtered: "content_filter",
    guardrail_intervened: "content_filter",
    prohibited_content: "content_filter",
    refusal: "content_filter",
    safety: "content_filter",
    sensitive: "content_filter",
    abort: "failed",
    aborted: "failed",
    error: "failed",
    function_call_filter: "failed",
    insufficient_system_resource: "failed",
    malformed_function_call: "failed",
    malformed_model_output: "failed",
    malformed_tool_use: "failed",
    network_error: "failed",
    server_error: "failed",
  } as const),
);

/** Some providers write these in place of null, in every chunk before the last. */
const placeholders: ReadonlySet<string> = new Set(["null", "none"]);

/** The finish reason of a choice; "" if it has none. */
export function reportedReason(value: unknown): string {
  return typeof value === "string" && !placeholders.has(value.toLowerCase()) ? value : "";
}

/**
 * @param reported may have a detail, as in Google's compatible API: `content_filter: PROHIBITED_CONTENT`
 * @param toolCalls whether the answer calls tools: several providers then say `stop`, and SDKs would run none of them
 * @returns null when the reason means that the provider failed
 */
export function finishReason(reported: string, toolCalls: boolean): FinishReason | null {
  const word = reported.toLowerCase();
  const reason = reasons.get(word) ?? reasons.get(word.slice(0, Math.max(0, word.indexOf(":")))) ?? "stop";
  if (reason === "failed") return null;
  return finalReason(reason, toolCalls);
}

// Counts

type Name = "prompt" | "completion" | "total" | "cached" | "cacheWrite" | "reasoning";

/**
 * Providers report usage in a separate chunk, on the finish chunk, after it, in every chunk, as nulls, as zeros or in parts.
 * The largest value of each count is valid: nothing is added up, and a zero never replaces a count. A count that was never
 * reported is absent.
 */
export class UsageTally {
  readonly #counts: Partial<Record<Name, number>> = {};
  /** The usage object that is read has a new count. */
  #isNew = false;

  /**
   * Reads one usage object, or whatever value is in its place.
   * @returns whether it contained a new count
   */
  take(value: unknown): boolean {
    const reported = asObject(value);
    if (reported === null) return false;
    this.#isNew = false;
    this.#take("prompt", reported["prompt_tokens"]);
    this.#take("completion", reported["completion_tokens"]);
    this.#take("total", reported["total_tokens"]);
    const prompt = asObject(reported["prompt_tokens_details"]);
    this.#take("cached", prompt?.["cached_tokens"]);
    // DeepSeek and Moonshot report cache reads outside the details.
    this.#take("cached", reported["prompt_cache_hit_tokens"]);
    this.#take("cached", reported["cached_tokens"]);
    this.#take("cacheWrite", prompt?.["cache_write_tokens"]);
    this.#take("reasoning", asObject(reported["completion_tokens_details"])?.["reasoning_tokens"]);
    // SGLang reports it outside the details.
    this.#take("reasoning", reported["reasoning_tokens"]);
    return this.#isNew;
  }

  /** null if nothing was counted so far. */
  usage(): ReportedUsage | null {
    const { prompt = null, completion = null, total = 0, cached = 0, cacheWrite = 0, reasoning = 0 } = this.#counts;
    if ((prompt ?? 0) + (completion ?? 0) + total === 0) return null;
    return reportedUsage({ prompt, completion, total, cached, cacheWrite, reasoning });
  }

  #take(name: Name, value: unknown): void {
    const count = asCount(value);
    if (count === null) return;
    const before = this.#counts[name] ?? 0;
    this.#counts[name] = Math.max(before, count);
    this.#isNew ||= count > before;
  }
}
