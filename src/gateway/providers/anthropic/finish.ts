/** Maps stop reasons to the finish reasons of chat completions. */
import type { FinishReason } from "../provider.ts";

/** A reason that is not listed (`end_turn`, `stop_sequence`, `pause_turn`, new ones) means that the model ended the answer. */
const reasons = new Map<unknown, FinishReason>([
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "content_filter"],
]);

/** @param calledTools whether the answer calls tools; SDKs run them only with the reason `tool_calls` */
export function finishReasonOf(stopReason: unknown, calledTools: boolean): FinishReason {
  return reasons.get(stopReason) ?? (calledTools ? "tool_calls" : "stop");
}
