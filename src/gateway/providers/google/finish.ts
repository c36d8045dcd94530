/** Why an answer ended, in the words of chat completions. */
import { asObject, asText, type JsonObject } from "../wire/json.ts";
import type { FinishReason } from "../provider.ts";
import { candidateOf } from "./parts.ts";

/**
 * SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII and their like mean that the provider withheld the rest. So do LANGUAGE,
 * OTHER and words that are new: the model did not stop of itself, and a client must not take the answer for a whole one.
 */
const withheld: FinishReason = "content_filter";

const reasons = new Map<string, FinishReason | "failed">([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["MALFORMED_FUNCTION_CALL", "failed"],
  ["MALFORMED_RESPONSE", "failed"],
  ["UNEXPECTED_TOOL_CALL", "failed"],
  ["TOO_MANY_TOOL_CALLS", "failed"],
  ["MISSING_THOUGHT_SIGNATURE", "failed"],
]);

/**
 * @param answer a whole one, or a chunk
 * @param calledTools whether the answer calls tools: STOP is said then too, and SDKs would run none of them
 * @returns null: nothing was told
 */
export function finishReasonIn(answer: JsonObject, calledTools: boolean): FinishReason | "failed" | null {
  const candidate = candidateOf(answer);
  // A prompt that was refused has an answer without a candidate, and nothing else tells so.
  if (candidate === null) return asText(asObject(answer["promptFeedback"])?.["blockReason"]) ? withheld : null;
  const told = asText(candidate["finishReason"]);
  if (!told || told === "FINISH_REASON_UNSPECIFIED") return null;
  const reason = reasons.get(told) ?? withheld;
  return reason === "stop" && calledTools ? "tool_calls" : reason;
}
