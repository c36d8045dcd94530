/** What is charged for an answer: what its provider counted, or a count of ours where it told none or was not heard to its end. */
import type { Usage } from "../models/model.ts";
import type { StreamOutcome } from "./stream.ts";

export interface ChargedUsage {
  usage: Usage;
  /** Counted by us, one token for every started four bytes. */
  estimated: boolean;
}

export const noUsage: Usage = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };

/**
 * A failure, or a client that left, before anything was delivered costs nothing, unless the provider was heard to its end.
 * @param promptTokens our estimate of the request's tokens
 */
export function chargedUsage(outcome: StreamOutcome, promptTokens: number): ChargedUsage {
  const { usage, final, deliveredTokens, how } = outcome;
  if (final && usage !== null) return { usage, estimated: false };
  if (deliveredTokens === 0 && how !== "completed") return { usage: noUsage, estimated: false };
  return { usage: estimatedUsage({ told: usage, promptTokens, completionTokens: deliveredTokens }), estimated: true };
}

/** Never below what the provider told. */
export function estimatedUsage({
  told,
  promptTokens,
  completionTokens,
}: {
  told: Usage | null;
  promptTokens: number;
  completionTokens: number;
}): Usage {
  return {
    ...(told ?? noUsage),
    promptTokens: told?.promptTokens || promptTokens,
    completionTokens: Math.max(told?.completionTokens ?? 0, completionTokens),
  };
}
