/**
 * Decides the usage that is charged: the provider's counts where they are plausible; our own estimate where it reported no count, only
 * one side or an impossible count, or where the answer was not read to its end.
 */
import { streamStallMsMax } from "../../limits.ts";
import type { ReportedUsage, Usage } from "../../models/model.ts";
import { isGivenUp } from "../../providers/provider.ts";
import type { StreamOutcome } from "../stream/stream.ts";

export interface ChargedUsage {
  usage: Usage;
  /** At least one side is our estimate. */
  estimated: boolean;
}

/** The bounds of an answer that are known without its provider. */
export interface UsageBounds {
  /** Estimates the tokens of the request. */
  promptEstimate: () => number;
  /** The context window and the prompt that the provider adds itself: neither prompt nor output has more tokens. */
  tokensMax: number;
  /** The bound on output that the provider got. */
  maxOutputTokens: number;
  /** The model may reason, and its provider may count reasoning only in the total. */
  reasons: boolean;
}

export const noUsage: Usage = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };

export const nothingCharged: ChargedUsage = { usage: noUsage, estimated: false };

/**
 * A failure that delivered nothing costs nothing. A client that left pays for its prompt, and for the produced output or, where that is
 * more, for the output that the route usually produces in that time: hanging up saves nothing.
 * @param likelyTokens the route's usual output in the time of the call, by its measured speed; 0: not measured
 */
export function chargedUsage(outcome: StreamOutcome, bounds: UsageBounds, likelyTokens = 0): ChargedUsage {
  const { usage: reported, final, failure, how, producedTokens, uncountedTokens } = outcome;
  const clientLeft = how === "client_gone" || outcome.heldUpMs >= streamStallMsMax;
  // A client that holds a stream up makes it time out here: that is not a failure of the provider.
  const hasFailed = failure !== null && !(clientLeft && isGivenUp(failure));
  if (!final && hasFailed && producedTokens === 0 && how !== "completed") return nothingCharged;
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

/** @param producedTokens estimates the answer's texts, which may be long, where its provider has not counted them */
export function chargedWhole(reported: ReportedUsage | null, bounds: UsageBounds, producedTokens: () => number): ChargedUsage {
  const plausible = plausibleUsage(reported, bounds);
  const completion = plausible.completionTokens ?? Math.min(producedTokens(), bounds.maxOutputTokens);
  return withEstimates(plausible, { prompt: bounds.promptEstimate, completion });
}

/**
 * The client left before its stream began, and the request had been sent.
 * @param reported what the provider had counted by then. @param likelyTokens as above
 */
export function chargedDisconnect(reported: ReportedUsage | null, bounds: UsageBounds, likelyTokens: number): ChargedUsage {
  return chargedUsage({ ...leftBefore, usage: reported }, bounds, likelyTokens);
}

/** The outcome of a stream that its client left before its first event. */
const leftBefore: StreamOutcome = {
  how: "client_gone",
  failure: null,
  usage: null,
  final: false,
  producedTokens: 0,
  uncountedTokens: 0,
  firstTokenMs: null,
  heldUpMs: 0,
  isComplete: false,
};

/**
 * Embeddings have a prompt alone. A count of 0, and one above what the inputs can have, is no count.
 * @param estimate counts the inputs. @param tokensMax what the provider can count for them
 */
export function chargedEmbedding(
  reported: number | null,
  { estimate, tokensMax }: { estimate: () => number; tokensMax: number },
): ChargedUsage {
  const counted = reported !== null && reported > 0 && reported <= tokensMax;
  return { usage: { ...noUsage, promptTokens: counted ? reported : estimate() }, estimated: !counted };
}

const nothingReported: ReportedUsage = { ...noUsage, promptTokens: null, completionTokens: null };

/**
 * The plausible part of the reported usage. A count of zero, and one above everything that fits into the model, is no count: there
 * was a prompt, and where nothing was produced the estimate is zero too. Tokens that only the total has count as reasoning if the
 * model may reason and was allowed so many; otherwise the total contradicts its parts and is dropped.
 */
function plausibleUsage(reported: ReportedUsage | null, { tokensMax, maxOutputTokens, reasons }: UsageBounds): ReportedUsage {
  if (reported === null) return nothingReported;
  const possible = (count: number | null): number | null => (!count || count > tokensMax ? null : count);
  const { unexplainedTokens: rest = 0, ...parts } = reported;
  const output = parts.completionTokens ?? 0;
  const reasoned = reasons && output + rest <= maxOutputTokens ? rest : 0;
  const promptTokens = possible(parts.promptTokens);
  return {
    ...parts,
    promptTokens,
    // The parts of an impossible prompt would give our estimate their prices.
    ...(promptTokens === null && { cachedTokens: 0, cacheWriteTokens: 0 }),
    completionTokens: possible(reasoned > 0 ? output + reasoned : parts.completionTokens),
    reasoningTokens: parts.reasoningTokens + reasoned,
  };
}

/** Fills in estimates for sides that were not reported, and caps parts at their totals. */
function withEstimates(reported: ReportedUsage, estimate: { prompt: () => number; completion: number }): ChargedUsage {
  const promptTokens = reported.promptTokens ?? estimate.prompt();
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
