/** Maps stop reasons to the finish reasons of chat completions. */
import { finishReason } from "../openai/finish.ts";
import type { FinishReason } from "../provider.ts";
import { asText } from "../wire/json.ts";

/**
 * Compatible servers also send the reasons of chat completions. A reason that is not in the table (`end_turn`, `stop_sequence`,
 * `pause_turn`, new ones) means that the model ended the answer.
 * @param calledTools whether the answer calls tools; SDKs run them only with the reason `tool_calls`
 * @returns null when the reason means that the provider failed
 */
export function finishReasonOf(stopReason: unknown, calledTools: boolean): FinishReason | null {
  return finishReason(asText(stopReason) ?? "", calledTools);
}
