/**
 * An upper bound of a provider's token count for the request, without its own hidden prompt. A token represents at least one byte of
 * text in every byte-level vocabulary, so bytes bound tokens without a tokenizer, and 8 MiB take milliseconds.
 */
import { inputTokensPerMessage } from "../limits.ts";

/** Fields that control the call and are not part of the prompt. All others are counted, so that a new field is never missed. */
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

export interface SentChat {
  messages: readonly { content?: unknown; [field: string]: unknown }[];
  [field: string]: unknown;
}

/** UTF-8 bytes of all texts (contents, names, tool calls, tool schemas, response schema) and 16 a message. */
export function inputTokensBound(chat: SentChat): number {
  let bytes = 0;
  for (const message of chat.messages) bytes += inputTokensPerMessage + messageBytes(message);
  for (const field in chat) if (!notPrompt.has(field)) bytes += fieldBytes(chat[field]);
  return bytes;
}

function messageBytes(message: SentChat["messages"][number]): number {
  let bytes = 0;
  for (const field in message) if (field !== "role") bytes += fieldBytes(message[field]);
  return bytes;
}

/** Structures are counted as JSON, since providers write them so into the prompt. Numbers and booleans are not text. */
function fieldBytes(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  return Buffer.byteLength(JSON.stringify(value));
}
