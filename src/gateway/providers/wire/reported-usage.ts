/** From a provider's counts, total and parts, to one usage. */
import type { ReportedUsage } from "../../models/model.ts";

export interface ReportedCounts {
  /** null: not told. */
  prompt: number | null;
  /** null: not told. */
  completion: number | null;
  /** 0: not told. */
  total: number;
  cached: number;
  cacheWrite: number;
  reasoning: number;
}

/**
 * A side that was not told, or told as zero, is what the total leaves for it. Reasoning that a provider counted outside of its
 * completion is added to it. What else the total has above its parts is told apart, for the parts do not bear it out.
 */
export function reportedUsage({ prompt, completion, total, cached, cacheWrite, reasoning }: ReportedCounts): ReportedUsage {
  const promptTokens = prompt || (remainder(total, completion) ?? prompt);
  const counted = completion || (remainder(total, prompt) ?? completion);
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

/** null: the total tells nothing of this side. */
function remainder(total: number, other: number | null): number | null {
  return other === null || total <= other ? null : total - other;
}
