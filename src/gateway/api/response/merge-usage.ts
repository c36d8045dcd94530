import type { ReportedUsage } from "../../models/model.ts";

/** Keeps the latest count of each field. A zero or an absent count is a placeholder and does not replace a count. */
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
