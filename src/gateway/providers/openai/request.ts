/** Encodes our request as chat completions: unchanged, except for what the provider does not take. */
import type { Route } from "../../models/model.ts";
import type { EncodedCall, ProviderCall } from "../provider.ts";
import { fittedEffort, takesSampling } from "../wire/effort.ts";
import { fittedMessages } from "./messages.ts";

/**
 * Fields that are not sent on: those set below, and those that only label a request. Labels would reveal the caller's customers
 * to a third party, do not change the answer, and several providers refuse them (OpenAI refuses `metadata` without `store`).
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

/** Requests usage even if the client does not see it, unless the provider reports it anyway. */
export function encodeOpenaiRequest({ generation, route, chat, maxOutputTokens, streamed }: ProviderCall): EncodedCall {
  const body: Record<string, unknown> = { model: route.upstreamModel };
  for (const field in chat) if (!keptBack.has(field)) body[field] = chat[field];
  const { dialect } = route.provider;
  if (!dialect.parallelToolCalls) delete body["parallel_tool_calls"];
  if (route.efforts || route.samplesWithoutReasoning) fitEffort(body, route);
  body["messages"] = fittedMessages(chat.messages, dialect);
  body[route.maxTokensField] = maxOutputTokens;
  if (streamed) {
    body["stream"] = true;
    if (route.provider.streamOptions) body["stream_options"] = { include_usage: true };
  }
  return {
    path: "/chat/completions",
    // OpenAI's support and logs read this id; other providers ignore it. It is not an idempotency key: a second attempt must be
    // a second call.
    headers: { "x-client-request-id": generation },
    body: JSON.stringify(body),
  };
}

function fitEffort(body: Record<string, unknown>, route: Route): void {
  const effort = fittedEffort(body["reasoning_effort"], route.efforts);
  body["reasoning_effort"] = effort;
  if (takesSampling(route, effort)) return;
  delete body["temperature"];
  delete body["top_p"];
}
