/**
 * The tokens that a provider counts for a request, without its own hidden prompt: an upper bound, which is reserved, and an estimate, for
 * requests whose provider reports no count. A token represents at least one byte of text in every byte-level vocabulary, so bytes bound
 * tokens without a tokenizer, and 8 MiB take milliseconds. Every field counts unless it is known to control the call, so a new field is
 * never missed. The estimate is made at the first call, since most requests are counted by their provider. Answers are estimated in the
 * same way, piece by piece.
 */
import { isJsonObject } from "../../http/json.ts";
import { jsonBytes, textBytes } from "../../http/long-texts.ts";
import { inputTokensPerMessage } from "../limits.ts";
import { readToolCallId } from "../tool-call-id.ts";
import { estimateTokens, TextTokens, tokensOf } from "./text-tokens.ts";

/** Fields that control the call and are not part of the prompt. All others are counted, so a new field is never missed. */
const notPrompt = new Set([
  "model",
  "messages",
  "metadata",
  "stream_options",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "cache_control",
]);

interface SentChat {
  messages: readonly { content?: unknown; [field: string]: unknown }[];
  [field: string]: unknown;
}

/**
 * UTF-8 bytes of all texts (contents, names, tool calls, tool schemas, response schema) and 16 a message. The signature in an id counts
 * with its decoded bytes: encrypted thoughts are as long as the thoughts, and base64 is never in a prompt.
 */
export function inputTokensBound(chat: SentChat): number {
  let bytes = 0;
  for (const message of chat.messages) bytes += inputTokensPerMessage + messageBytes(message);
  for (const field in chat) if (!notPrompt.has(field)) bytes += fieldBytes(chat[field]);
  return bytes;
}

/** The estimate, at most the bound. */
export function inputTokensEstimate(chat: SentChat): number {
  let tokens = 0;
  for (const message of chat.messages) tokens += tokensPerMessage + textTokens(message);
  for (const field in chat) if (!notPrompt.has(field)) tokens += estimateTokens(fieldText(chat[field]));
  return tokens;
}

/** The role, and what separates it from the next message. */
const tokensPerMessage = 4;

/**
 * Counts at the first call, since most requests are counted by their provider, and releases the input then: an open stream would keep
 * the request's body in memory.
 */
export function countedOnce<Input>(input: Input, count: (input: Input) => number): () => number {
  let uncounted: Input | null = input;
  let tokens = 0;
  return () => {
    if (uncounted !== null) tokens = count(uncounted);
    uncounted = null;
    return tokens;
  };
}

/** What the journal records of a prompt before its provider is called. The text is not read, since that would cost time on every request. */
export function guessTokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** The estimate of a whole message. */
export function answerTokens(message: Record<string, unknown>): number {
  const produced = new AnswerTokens();
  produced.add(message);
  return produced.tokens;
}

/** The estimate of an answer: of content, refusal, reasoning, and names and arguments of calls. */
export class AnswerTokens {
  readonly #content = new TextTokens();
  readonly #refusal = new TextTokens();
  readonly #reasoning = new TextTokens();
  readonly #calls = new TextTokens();
  #countedUnits = 0;

  /** @param part a whole message, or one delta of it */
  add(part: Record<string, unknown>): void {
    addText(this.#content, part["content"]);
    addText(this.#refusal, part["refusal"]);
    addText(this.#reasoning, part["reasoning_content"]);
    this.#addCall(part["function_call"]);
    const calls = part["tool_calls"];
    if (!Array.isArray(calls)) return;
    for (const call of calls) {
      if (!isJsonObject(call)) continue;
      this.#addCall(call["function"]);
      this.#addCall(call["custom"]);
    }
  }

  /** A provider's count includes everything so far. */
  markCounted(): void {
    this.#countedUnits = this.#units;
  }

  get tokens(): number {
    return tokensOf(this.#units);
  }

  /** The tokens that came after the provider's last count. */
  get uncountedTokens(): number {
    return tokensOf(this.#units - this.#countedUnits);
  }

  get #units(): number {
    return this.#content.units + this.#refusal.units + this.#reasoning.units + this.#calls.units;
  }

  #addCall(call: unknown): void {
    if (!isJsonObject(call)) return;
    addText(this.#calls, call["name"]);
    addText(this.#calls, call["arguments"]);
    addText(this.#calls, call["input"]);
  }
}

function messageBytes(message: SentChat["messages"][number]): number {
  let bytes = 0;
  for (const field in message) if (field !== "role") bytes += fieldBytes(message[field]);
  if (message["tool_call_id"] !== undefined) bytes -= idBytes(message["tool_call_id"]).unsent;
  if (Array.isArray(message["tool_calls"])) for (const call of message["tool_calls"]) bytes -= unsentOfCall(call);
  return bytes;
}

function fieldBytes(value: unknown): number {
  return typeof value === "string" ? textBytes(value) : jsonBytes(fieldText(value));
}

/** Structures are counted as JSON, since that is how providers write them into the prompt. Numbers and booleans are not text. */
function fieldText(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : "";
}

/** A provider whose ids are short gets one of at most this many characters in place of a signed one. */
const replacedIdCharactersMax = 40;

/** The bytes of an id that no provider receives as an id. The signature goes only with the call, in its own field. */
function idBytes(id: unknown): { unsent: number; signature: number } {
  const { id: own, signature } = readToolCallId(typeof id === "string" ? id : "");
  if (typeof id !== "string" || signature === null) return { unsent: 0, signature: 0 };
  const sent = Math.max(Buffer.byteLength(own), replacedIdCharactersMax);
  return { unsent: Buffer.byteLength(id) - sent, signature: Buffer.byteLength(signature.base64, "base64") };
}

function unsentOfCall(call: unknown): number {
  const { unsent, signature } = idBytes(typeof call === "object" && call !== null && "id" in call ? call.id : undefined);
  return unsent - signature;
}

/** Fields of a message, and of its parts, that are not part of its text. */
const notText = new Set(["role", "type", "id", "tool_call_id", "cache_control"]);

/** The tokens of all texts in a message, without the JSON that holds them. */
function textTokens(value: unknown): number {
  if (typeof value === "string") return estimateTokens(value);
  if (typeof value !== "object" || value === null) return 0;
  let tokens = 0;
  // A body may have 66,000 parts, and listing the entries of each costs ten times the time.
  if (Array.isArray(value)) for (const part of value) tokens += textTokens(part);
  else for (const field in value) if (!notText.has(field)) tokens += textTokens(Reflect.get(value, field));
  return tokens;
}

function addText(estimate: TextTokens, text: unknown): void {
  if (typeof text === "string") estimate.add(text);
}
