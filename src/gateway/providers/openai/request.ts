/** Our request as chat completions: nearly itself. */
import type { EncodedCall, ProviderCall } from "../provider.ts";

/**
 * Fields that end here: those that are set below, and those that only label a request. Labels name the caller's own customers
 * to a third party, change nothing in the answer, and are refused by several providers (`metadata` without `store` by OpenAI).
 */
const keptBack = new Set([
  "model",
  "n",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "user",
  "metadata",
  "store",
  "safety_identifier",
  "prompt_cache_key",
]);

/** Usage is asked for, whether or not the client gets to see it, wherever the provider does not tell it unasked. */
export function encodeOpenaiRequest({ generation, route, chat, maxOutputTokens, streamed }: ProviderCall): EncodedCall {
  const body: Record<string, unknown> = { model: route.upstreamModel };
  for (const [field, value] of Object.entries(chat)) {
    if (!keptBack.has(field)) body[field] = value;
  }
  body[route.maxTokensField] = maxOutputTokens;
  if (streamed) {
    body["stream"] = true;
    if (route.provider.streamOptions) body["stream_options"] = { include_usage: true };
  }
  return {
    path: "/chat/completions",
    // Read by OpenAI's support and logs; others ignore it. Not an idempotency key: a second try must be a second call.
    headers: { "x-client-request-id": generation },
    body: JSON.stringify(body),
  };
}
