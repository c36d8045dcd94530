import type { ReportedUsage } from "../../models/model.ts";

/** The last count told stands, field by field, and neither a zero nor silence replaces a count: providers send placeholders. */
export function mergeUsage(before: ReportedUsage | null, reported: ReportedUsage): ReportedUsage {
  if (before === null) return reported;
  return {
    ...reported,
    promptTokens: reported.promptTokens || (before.promptTokens ?? reported.promptTokens),
    cachedTokens: reported.cachedTokens || before.cachedTokens,
    cacheWriteTokens: reported.cacheWriteTokens || before.cacheWriteTokens,
    completionTokens: reported.completionTokens || (before.completionTokens ?? reported.completionTokens),
    reasoningTokens: reported.reasoningTokens || before.reasoningTokens,
  };
}
