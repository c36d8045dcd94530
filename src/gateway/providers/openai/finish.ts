/** Why an answer ended, in the words of chat completions. */
import type { FinishReason } from "../provider.ts";

/** What OpenAI and those who speak its format say; a word that is not here means that the answer ended of itself. */
const reasons: Record<string, FinishReason | "failed"> = {
  length: "length",
  max_tokens: "length",
  model_length: "length",
  tool_calls: "tool_calls",
  tool_use: "tool_calls",
  function_call: "function_call",
  content_filter: "content_filter",
  safety: "content_filter",
  error: "failed",
  insufficient_system_resource: "failed",
};

/**
 * @param toolCalls whether the answer calls tools: several providers say `stop` then, and SDKs would run none of them
 * @returns null when the word means that the provider failed
 */
export function finishReason(told: string, toolCalls: boolean): FinishReason | null {
  const reason = reasons[told.toLowerCase()] ?? "stop";
  if (reason === "failed") return null;
  return reason === "stop" && toolCalls ? "tool_calls" : reason;
}
