/** Combines a provider's counts, total and parts, into one usage. */
import type { ReportedUsage } from "../../models/model.ts";

export interface ReportedCounts {
  /** null if not reported. */
  prompt: number | null;
  /** null if not reported. */
  completion: number | null;
  /** 0 if not reported. */
  total: number;
  cached: number;
  cacheWrite: number;
  reasoning: number;
}

/**
 * A side that was not reported, or reported as zero, is the rest of the total. Reasoning that the provider counted outside of
 * its completion is added to it. Any further rest of the total is returned separately, because the parts do not explain it.
 */
export function reportedUsage({ prompt, completion, total, cached, cacheWrite, reasoning }: ReportedCounts): ReportedUsage {
  // The total does not tell which part of it is which side's where neither is counted.
  const divisible = prompt === 0 && completion === 0 ? 0 : total;
  const promptTokens = prompt || (remainder(divisible, completion) ?? prompt);
  const counted = completion || (remainder(divisible, prompt) ?? completion);
  const rest = promptTokens === null || counted === null ? 0 : Math.max(0, total - promptTokens - counted);
  const outside = rest === reasoning ? rest : 0;
  const completionTokens = counted === null ? null : counted + outside;
  const cachedTokens = Math.min(cached, promptTokens ?? 0);
  return {
    promptTokens,
    cachedTokens,
    cacheWriteTokens: Math.min(cacheWrite, (promptTokens ?? 0) - cachedTokens),
    completionTokens,
    reasoningTokens: Math.min(reasoning, completionTokens ?? 0),
    ...(rest > outside && { unexplainedTokens: rest }),
  };
}

/** null if the total says nothing about this side. */
function remainder(total: number, other: number | null): number | null {
  return other === null || total <= other ? null : total - other;
}
