/** Maps providers' finish reasons to those of chat completions. */
import type { FinishReason } from "../provider.ts";

/** The reasons of OpenAI and compatible providers. An unknown reason means that the model ended the answer. */
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
 * @param toolCalls whether the answer calls tools: several providers then say `stop`, and SDKs would run none of them
 * @returns null when the reason means that the provider failed
 */
export function finishReason(reported: string, toolCalls: boolean): FinishReason | null {
  const reason = reasons[reported.toLowerCase()] ?? "stop";
  if (reason === "failed") return null;
  return reason === "stop" && toolCalls ? "tool_calls" : reason;
}
