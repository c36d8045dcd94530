/** Why an answer ended, in the words of chat completions. */
import type { FinishReason } from "../provider.ts";

/** A word that is not here (`end_turn`, `stop_sequence`, `pause_turn`, new ones) means that the answer ended of itself. */
const reasons = new Map<unknown, FinishReason>([
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "content_filter"],
]);

/** @param calledTools whether the answer calls tools, which SDKs would otherwise not run */
export function finishReasonOf(stopReason: unknown, calledTools: boolean): FinishReason {
  return reasons.get(stopReason) ?? (calledTools ? "tool_calls" : "stop");
}
