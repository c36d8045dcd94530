/**
 * What is charged for an answer: what its provider counted, as far as that is possible, and a count of ours where it told
 * nothing, half or the impossible, or was not heard to its end.
 */
import { streamStallMsMax } from "../../limits.ts";
import type { ReportedUsage, Usage } from "../../models/model.ts";
import type { StreamOutcome } from "../stream/stream.ts";

export interface ChargedUsage {
  usage: Usage;
  /** At least one side was counted by us. */
  estimated: boolean;
}

/** What is known of an answer without asking its provider. */
export interface UsageBounds {
  /** The request's tokens, estimated. */
  promptEstimate: number;
  /** The context window and the prompt that the provider adds itself: no side of an answer has more tokens. */
  tokensMax: number;
  /** What the provider was told to write at most. */
  maxOutputTokens: number;
  /** The model may reason, and its provider may count that in the total alone. */
  reasons: boolean;
}

export const noUsage: Usage = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };

/**
 * A failure that delivered nothing costs nothing. A client that left pays for its prompt all the same, and for what was produced
 * or, where that is more, for what the route is known to produce in such a time: hanging up saves nothing.
 * @param likelyTokens what the route makes in the time that the call took, by its measured speed; 0: not measured
 */
export function chargedUsage(outcome: StreamOutcome, bounds: UsageBounds, likelyTokens = 0): ChargedUsage {
  const { usage: reported, final, failure, how, producedTokens, uncountedTokens } = outcome;
  const clientLeft = how === "client_gone" || outcome.heldUpMs >= streamStallMsMax;
  // Our own clock ends what a client holds up: that is no failure of the provider, which has long written on.
  const hasFailed = failure !== null && !(clientLeft && failure.code === "upstream_timeout");
  if (!final && hasFailed && producedTokens === 0 && how !== "completed") return { usage: noUsage, estimated: false };
  const plausible = plausibleUsage(reported, bounds);
  const produced = Math.min(producedTokens, bounds.maxOutputTokens);
  if (final) return withEstimates(plausible, { prompt: bounds.promptEstimate, completion: produced });
  const seen = plausible.completionTokens === null ? producedTokens : plausible.completionTokens + uncountedTokens;
  const isFullyWritten = outcome.isComplete && !bounds.reasons;
  const likely = clientLeft && !hasFailed && !isFullyWritten ? likelyTokens : 0;
  const completion = Math.min(Math.max(seen, likely), bounds.maxOutputTokens);
  const { usage } = withEstimates({ ...plausible, completionTokens: null }, { prompt: bounds.promptEstimate, completion });
  return { usage, estimated: true };
}

/** @param producedTokens estimated from the answer's texts */
export function chargedWhole(reported: ReportedUsage | null, bounds: UsageBounds, producedTokens: number): ChargedUsage {
  const completion = Math.min(producedTokens, bounds.maxOutputTokens);
  return withEstimates(plausibleUsage(reported, bounds), { prompt: bounds.promptEstimate, completion });
}

/** A client left before its stream had begun, and the request had been sent. @param likelyTokens as above */
export function chargedDisconnect({ promptEstimate, maxOutputTokens }: UsageBounds, likelyTokens: number): ChargedUsage {
  const completionTokens = Math.min(likelyTokens, maxOutputTokens);
  return { usage: { ...noUsage, promptTokens: promptEstimate, completionTokens }, estimated: true };
}

const nothingReported: ReportedUsage = { ...noUsage, promptTokens: null, completionTokens: null };

/**
 * What can be true of what was reported. A count above all that fits into the model is none. Tokens of the total that no part bears out
 * are reasoning where the model may reason and was allowed so many; otherwise the total contradicts its parts and is none.
 */
function plausibleUsage(reported: ReportedUsage | null, { tokensMax, maxOutputTokens, reasons }: UsageBounds): ReportedUsage {
  if (reported === null) return nothingReported;
  const possible = (count: number | null): number | null => (count === null || count > tokensMax ? null : count);
  const { unexplainedTokens: rest = 0, ...parts } = reported;
  const output = parts.completionTokens ?? 0;
  const reasoned = reasons && output + rest <= maxOutputTokens ? rest : 0;
  return {
    ...parts,
    promptTokens: possible(parts.promptTokens),
    completionTokens: possible(reasoned > 0 ? output + reasoned : parts.completionTokens),
    reasoningTokens: parts.reasoningTokens + reasoned,
  };
}

/** Estimates in place of the sides that were not told; parts that fit into their wholes. */
function withEstimates(reported: ReportedUsage, estimate: { prompt: number; completion: number }): ChargedUsage {
  const promptTokens = reported.promptTokens ?? estimate.prompt;
  const completionTokens = reported.completionTokens ?? estimate.completion;
  const cachedTokens = Math.min(reported.cachedTokens, promptTokens);
  const usage = {
    promptTokens,
    cachedTokens,
    cacheWriteTokens: Math.min(reported.cacheWriteTokens, promptTokens - cachedTokens),
    completionTokens,
    reasoningTokens: Math.min(reported.reasoningTokens, completionTokens),
  };
  const counted = reported.promptTokens !== null && (reported.completionTokens !== null || completionTokens === 0);
  return { usage, estimated: !counted };
}
