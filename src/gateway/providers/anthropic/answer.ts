/**
 * Converts a whole Anthropic message to our answer, and holds what the stream reads in the same way: finish reasons, and the counts of the
 * Messages API: the prompt in three disjoint parts, and the output including thinking. Compatible servers mix in reasons of chat
 * completions, and estimate counts before they report them at the end.
 */
import type { ReportedUsage, Route } from "../../models/model.ts";
import { mintedToolCallId } from "../../tool-call-id.ts";
import { finishReason } from "../openai/answer.ts";
import { namelessCall, wholeArguments } from "../openai/tool-calls.ts";
import {
  stopReasons,
  UpstreamFailure,
  type AnswerPiece,
  type AnswerWants,
  type FinishReason,
  type StopWord,
  type WholeAnswer,
} from "../provider.ts";
import { toldFailure } from "../wire/errors.ts";
import { asObject, asText, type JsonObject, asCount } from "../wire/json.ts";
import { anthropicFailureIn } from "./errors.ts";
import { SealedThoughts, ThoughtsBeforeCalls } from "./thoughts.ts";

/**
 * @param route the called one; absent: no thoughts are kept for it
 * @param wants the call's
 * @throws UpstreamFailure when the body is an error despite status 200, or holds no answer
 */
export function decodeAnthropicAnswer(body: unknown, route?: Route, wants?: AnswerWants): WholeAnswer {
  const message = asObject(Array.isArray(body) ? body[0] : body);
  if (message === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  const { content } = message;
  const told = message["error"] || !Array.isArray(content) ? toldFailure(message) : null;
  if (told !== null) throw anthropicFailureIn(told);
  if (!Array.isArray(content)) throw new UpstreamFailure("upstream_error", "the answer holds no content");
  const blocks = content.map((block) => asObject(block) ?? {});
  const texts = textsOf(blocks, "text");
  const reasoning = textsOf(blocks, "thinking").join("");
  const thoughts = new ThoughtsBeforeCalls(wants ? undefined : route);
  const toolCalls = toolCallsOf(blocks, { answerId: message["id"], thoughts });
  const finishReason = anthropicFinishReason(message["stop_reason"], toolCalls.length > 0);
  if (finishReason === null) throw new UpstreamFailure("upstream_error", "the provider reports a failure");
  return {
    message: {
      role: "assistant",
      content: texts.length === 0 && toolCalls.length > 0 ? null : texts.join(""),
      refusal: null,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
    finishReason,
    logprobs: null,
    usage: usageOf(message["usage"]),
    ...(wants && { stop: stopWordOf(message), pieces: piecesOf(blocks, toolCalls) }),
  };
}

/** The parts of the message in the model's order, each thought with its seal. */
function piecesOf(blocks: readonly JsonObject[], calls: readonly JsonObject[]): AnswerPiece[] {
  const thoughts = new SealedThoughts();
  let index = 0;
  const pieces = blocks.flatMap((block): AnswerPiece[] => {
    const { type, text, thinking } = block;
    const before = thoughts.block(block);
    if (type === "tool_use") return [...before, piece("tool_calls", [{ index, ...calls[index++] }])];
    const said = type === "text" ? asText(text) : type === "thinking" ? asText(thinking) : null;
    return said ? [...before, piece(type === "text" ? "content" : "reasoning_content", said)] : before;
  });
  return [...pieces, ...thoughts.end()];
}

function piece(field: string, value: unknown): AnswerPiece {
  return { kind: "delta", delta: { [field]: value }, finishReason: null };
}

/** Text blocks hold their text in `text`, thinking blocks in `thinking`. */
function textsOf(blocks: JsonObject[], type: "text" | "thinking"): string[] {
  return blocks.filter((block) => block["type"] === type).map((block) => asText(block[type]) ?? "");
}

function toolCallsOf(
  blocks: readonly JsonObject[],
  { answerId, thoughts }: { answerId: unknown; thoughts: ThoughtsBeforeCalls },
): JsonObject[] {
  const calls: JsonObject[] = [];
  for (const block of blocks) {
    if (block["type"] !== "tool_use") thoughts.block(block);
    else {
      const name = asText(block["name"]) ?? "";
      if (name === "") throw new UpstreamFailure("upstream_error", namelessCall);
      const called = { name, arguments: wholeArguments(block["input"]) };
      const id = asText(block["id"]) || mintedToolCallId(answerId, calls.length);
      calls.push({ id: thoughts.signed(id), type: "function", function: called });
    }
  }
  return calls;
}

function usageOf(reported: unknown): ReportedUsage | null {
  const usage = new AnthropicUsage();
  usage.take(reported);
  return usage.usage();
}

// Finish reasons

/**
 * Compatible servers also send the reasons of chat completions. A reason that is not in the table (`end_turn`, `stop_sequence`,
 * `pause_turn`, new ones) means that the model ended the answer.
 * @param calledTools whether the answer calls tools; SDKs run them only with the reason `tool_calls`
 * @returns null when the reason means that the provider failed
 */
export function anthropicFinishReason(stopReason: unknown, calledTools: boolean): FinishReason | null {
  return finishReason(asText(stopReason) ?? "", calledTools);
}

/** @param said the message, or the delta of a stream that ends it @returns undefined: the word is not the API's */
export function stopWordOf({ stop_reason, stop_sequence }: JsonObject): StopWord | undefined {
  const reason = stopReasons.find((word) => word === stop_reason);
  return reason && { reason, sequence: asText(stop_sequence) };
}

// Counts

interface Prompt {
  fresh: number;
  cacheRead: number;
  cacheWrite: number;
}

export class AnthropicUsage {
  readonly #prompt: Prompt = { fresh: 0, cacheRead: 0, cacheWrite: 0 };
  #output = 0;
  #thinking = 0;

  /** Reads the usage at the start of a stream. Its output count is a placeholder, since nothing has been written yet. */
  takePrompt(value: unknown): void {
    const { fresh, cacheRead, cacheWrite } = promptOf(asObject(value) ?? {});
    const known = this.#prompt;
    // Some compatible servers first estimate the whole prompt, and at the end report only that it came from the cache.
    const wasWhole = fresh === 0 && known.cacheRead + known.cacheWrite === 0 && cacheRead + cacheWrite >= known.fresh;
    // Each count is an independent total: a later one replaces it, but an absent one or a zero does not.
    known.fresh = fresh || (wasWhole ? 0 : known.fresh);
    known.cacheRead = cacheRead || known.cacheRead;
    known.cacheWrite = cacheWrite || known.cacheWrite;
  }

  /** Reads the usage of a whole answer, or what a stream has counted so far. */
  take(value: unknown): void {
    const reported = asObject(value) ?? {};
    this.takePrompt(reported);
    this.#output = Math.max(this.#output, count(reported, "output_tokens"));
    this.#thinking = Math.max(this.#thinking, count(asObject(reported["output_tokens_details"]) ?? {}, "thinking_tokens"));
  }

  /** null if nothing was counted so far. Every prompt and every answer has tokens, so a zero says nothing about its side. */
  usage(): ReportedUsage | null {
    const promptTokens = sumOf(this.#prompt);
    if (promptTokens + this.#output === 0) return null;
    return {
      promptTokens: promptTokens || null,
      cachedTokens: this.#prompt.cacheRead,
      cacheWriteTokens: this.#prompt.cacheWrite,
      completionTokens: this.#output || null,
      reasoningTokens: Math.min(this.#thinking, this.#output),
    };
  }
}

/** Cache writes are reported as a sum and once more for each lifetime. */
function promptOf(reported: JsonObject): Prompt {
  const lifetimes = asObject(reported["cache_creation"]) ?? {};
  const apart = count(lifetimes, "ephemeral_5m_input_tokens") + count(lifetimes, "ephemeral_1h_input_tokens");
  return {
    fresh: count(reported, "input_tokens"),
    cacheRead: count(reported, "cache_read_input_tokens"),
    cacheWrite: Math.max(count(reported, "cache_creation_input_tokens"), apart),
  };
}

function count(reported: JsonObject, field: string): number {
  return asCount(reported[field]) ?? 0;
}

function sumOf({ fresh, cacheRead, cacheWrite }: Prompt): number {
  return fresh + cacheRead + cacheWrite;
}
