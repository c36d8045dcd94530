/** Token counts in the official form. */
import { Type, type Static } from "@sinclair/typebox";
import { formatUsd, usdAsJsonNumber, type NanoUsd } from "../../../kernel/money.ts";
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
  cost: Type.Optional(
    Type.Number({ minimum: 0, description: "The charge in USD, if the request or the workspace wants it", "x-addition": true }),
  ),
  cost_details: Type.Optional(
    Type.Object(
      { cost_usd: Type.String({ description: "The charge in USD with nine decimals" }) },
      { description: "The charge as an exact text, beside `cost`", "x-addition": true },
    ),
  ),
});
export type UsageBody = Static<typeof UsageBody>;

/** The charged usage, with the charge if the answer shows it. */
export interface BilledUsage extends Usage {
  cost?: NanoUsd;
}

export function usageBody(usage: BilledUsage): UsageBody {
  const body = {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
  if (usage.cost === undefined) return body;
  return { ...body, cost: usdAsJsonNumber(usage.cost), cost_details: { cost_usd: formatUsd(usage.cost) } };
}

/** `usageBody` as JSON. Written field by field where it has numbers alone, which is faster than making the object first. */
export function usageText(usage: BilledUsage): string {
  if (usage.cost !== undefined) return JSON.stringify(usageBody(usage));
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
  return (
    `{"prompt_tokens":${promptTokens},"completion_tokens":${completionTokens},"total_tokens":${promptTokens + completionTokens},` +
    `"prompt_tokens_details":{"cached_tokens":${cachedTokens},"cache_write_tokens":${cacheWriteTokens}},` +
    `"completion_tokens_details":{"reasoning_tokens":${reasoningTokens}}}`
  );
}
