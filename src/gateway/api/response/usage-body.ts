/** Token counts in the official form. */
import { Type, type Static } from "@sinclair/typebox";
import type { Usage } from "../../models/model.ts";

const tokens = (description: string) => Type.Integer({ minimum: 0, description });

export const UsageBody = Type.Object({
  prompt_tokens: tokens("Tokens of the request"),
  completion_tokens: tokens("Tokens of the answer, including its reasoning"),
  total_tokens: tokens("Tokens of request and answer together"),
  prompt_tokens_details: Type.Object(
    {
      cached_tokens: tokens("Request tokens that were read from the provider's cache"),
      cache_write_tokens: tokens("Request tokens that were written to the provider's cache"),
    },
    { description: "Parts of the request's tokens" },
  ),
  completion_tokens_details: Type.Object(
    { reasoning_tokens: tokens("Answer tokens that were spent on reasoning") },
    { description: "Parts of the answer's tokens" },
  ),
});
export type UsageBody = Static<typeof UsageBody>;

export function usageBody(usage: Usage): UsageBody {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
