/** Maps Google's finish reasons to those of chat completions. */
import { asObject, asText, type JsonObject } from "../wire/json.ts";
import type { FinishReason } from "../provider.ts";
import { finalReason } from "../wire/finish-order.ts";
import { candidateOf } from "./parts.ts";

/**
 * SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII and similar reasons mean that the provider withheld the rest. So do
 * LANGUAGE, OTHER and unknown reasons: the model did not end the answer, and a client must not treat it as complete.
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
 * @param answer a whole answer or a chunk
 * @param calledTools whether the answer calls tools: Google then also says STOP, and SDKs would run none of them
 * @returns null if there is no finish reason
 */
export function finishReasonIn(answer: JsonObject, calledTools: boolean): FinishReason | "failed" | null {
  const candidate = candidateOf(answer);
  // The answer to a refused prompt has no candidate, and no other sign of the refusal.
  if (candidate === null) return asText(asObject(answer["promptFeedback"])?.["blockReason"]) ? withheld : null;
  const reported = asText(candidate["finishReason"]);
  if (!reported || reported === "FINISH_REASON_UNSPECIFIED") return null;
  const reason = reasons.get(reported) ?? withheld;
  return reason === "failed" ? reason : finalReason(reason, calledTools);
}
