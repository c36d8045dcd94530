/** Maps the status of a response to the finish reasons of chat completions. */
import type { FinishReason } from "../provider.ts";
import { finalReason } from "../wire/finish-order.ts";
import { asObject, type JsonObject } from "../wire/json.ts";

/**
 * An incomplete response reached its bound on output, unless it says that the rest was withheld.
 * @param status what the response or its last event says; a response without one, or with null, is complete
 * @param calledTools whether the answer calls tools; SDKs run them only with the reason `tool_calls`
 * @returns null when the provider did not finish the response
 */
export function finishReasonOf(response: JsonObject, status: unknown, calledTools: boolean): FinishReason | null {
  if ((status ?? "completed") === "completed") return finalReason("stop", calledTools);
  if (status !== "incomplete") return null;
  return asObject(response["incomplete_details"])?.["reason"] === "content_filter" ? "content_filter" : "length";
}
