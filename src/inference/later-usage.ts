import type { Usage } from "../models/model.ts";

/** The last count told stands, field by field, and a zero never replaces a count: providers send placeholders. */
export function laterUsage(before: Usage | null, told: Usage): Usage {
  if (before === null) return told;
  return {
    promptTokens: told.promptTokens || before.promptTokens,
    cachedTokens: told.cachedTokens || before.cachedTokens,
    cacheWriteTokens: told.cacheWriteTokens || before.cacheWriteTokens,
    completionTokens: told.completionTokens || before.completionTokens,
    reasoningTokens: told.reasoningTokens || before.reasoningTokens,
  };
}
