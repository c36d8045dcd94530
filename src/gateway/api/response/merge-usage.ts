import type { ReportedUsage } from "../../models/model.ts";

/** The last count told stands, field by field, and neither a zero nor silence replaces a count: providers send placeholders. */
export function mergeUsage(before: ReportedUsage | null, told: ReportedUsage): ReportedUsage {
  if (before === null) return told;
  return {
    ...told,
    promptTokens: told.promptTokens || (before.promptTokens ?? told.promptTokens),
    cachedTokens: told.cachedTokens || before.cachedTokens,
    cacheWriteTokens: told.cacheWriteTokens || before.cacheWriteTokens,
    completionTokens: told.completionTokens || (before.completionTokens ?? told.completionTokens),
    reasoningTokens: told.reasoningTokens || before.reasoningTokens,
  };
}
