/** Maps finish reasons to those of chat completions, for chat completions and the Messages API: compatible servers mix the two. */
import type { FinishReason } from "../provider.ts";
import { finalReason } from "../wire/finish-order.ts";

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
 * @param reported also with a detail, as Google's compatible API has it: `content_filter: PROHIBITED_CONTENT`
 * @param toolCalls whether the answer calls tools: several providers then say `stop`, and SDKs would run none of them
 * @returns null when the reason means that the provider failed
 */
export function finishReason(reported: string, toolCalls: boolean): FinishReason | null {
  const word = reported.toLowerCase();
  const reason = reasons.get(word) ?? reasons.get(word.slice(0, Math.max(0, word.indexOf(":")))) ?? "stop";
  if (reason === "failed") return null;
  return finalReason(reason, toolCalls);
}
