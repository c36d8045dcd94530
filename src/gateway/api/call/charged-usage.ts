/**
 * Decides the usage that is charged, for every way in which a call can end. The provider's counts hold where they are plausible; our own
 * estimate is charged where it reported no count, only one side or an impossible count, and where the answer was not read to its end. An
 * answer says which of the two it was (`estimated`). A failure that delivered nothing costs nothing. Hanging up saves nothing: a client
 * that left pays for its prompt and for what was produced or usually is in that time. A provider may also bill work that brought no answer:
 * requests that timed out, or whose answer was too large. A workspace gets a little of that free in an hour (`UnpaidWork`), since a timeout
 * is seldom the client's doing; beyond it, waiting costs what leaving costs.
 */
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { unpaidUsdTotal } from "../../../kernel/metrics.ts";
import { nanoRoundedHalfUp, usdAsJsonNumber, type NanoUsd } from "../../../kernel/money.ts";
import type { Reservation } from "../../credit/reservation.ts";
import { streamStallMsMax, unpaidNanoMax, unpaidSpanMs, unpaidWindowMs, unpaidWorkspacesMax } from "../../limits.ts";
import type { ReportedUsage, Usage, Model, Route } from "../../models/model.ts";
import { hiddenInputTokens, tieredCost } from "../../models/price.ts";
import type { Candidate } from "../../models/candidate.ts";
import { isGivenUp, type UpstreamFailure } from "../../providers/provider.ts";
import type { StreamOutcome } from "../answer/relay.ts";
import type { CheckedChat } from "../request/chat-request.ts";

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
  // A client that holds up a stream makes it time out here, which is not a failure of the provider.
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
 * Embeddings have only a prompt. A count of 0, or above what the inputs can have, is not a count.
 * @param estimate counts the inputs. @param tokensMax what the provider can count for them
 */
export function chargedEmbedding(
  reported: number | null,
  { estimate, tokensMax }: { estimate: () => number; tokensMax: number },
): ChargedUsage {
  const counted = reported !== null && reported > 0 && reported <= tokensMax;
  return { usage: { ...noUsage, promptTokens: counted ? reported : estimate() }, estimated: !counted };
}

interface CalledRequest {
  model: Pick<Model, "contextLength" | "reasons">;
  route: Pick<Route, "hiddenInputTokens">;
  chat: Pick<CheckedChat, "promptEstimate" | "tools">;
  /** The bound on output that the provider got. */
  maxOutputTokens: number;
}

/** The bounds that a provider's counts for such a request must keep. */
export function usageBounds({ model, route, chat, maxOutputTokens }: CalledRequest): UsageBounds {
  return {
    promptEstimate: chat.promptEstimate,
    tokensMax: model.contextLength + hiddenInputTokens(route, chat.tools),
    maxOutputTokens,
    reasons: model.reasons,
  };
}

/**
 * The bounds for a stream whose provider has counted its prompt before the first event: then it need not be estimated, which takes time.
 */
export function boundsOnceTold(bounds: UsageBounds, reported: ReportedUsage | null): UsageBounds {
  const counted = reported?.promptTokens ?? 0;
  return counted > 0 && counted <= bounds.tokensMax ? { ...bounds, promptEstimate: () => counted } : bounds;
}

/** Work whose ends lie within a minute, in monotonic milliseconds: it is forgotten together, an hour after its last end. */
interface Span {
  firstAt: number;
  lastAt: number;
  cost: NanoUsd;
}

/**
 * Work that a provider may bill and no customer pays: requests that were sent and timed out, or whose answer was too large. Each process
 * lets a workspace have a little of it in an hour. Without that bound a client could ask for much work and let it time out for nothing.
 */
export class UnpaidWork {
  readonly #clock: Clock;
  readonly #allowance: NanoUsd;
  /** The workspace that used it most recently is last. */
  readonly #spans = new Map<WorkspaceId, Span[]>();

  /** @param allowance of a workspace in an hour */
  constructor(clock: Clock, allowance: NanoUsd = unpaidNanoMax) {
    this.#clock = clock;
    this.#allowance = allowance;
  }

  /** Leaves this work unpaid, if the workspace's last hour with it is within the allowance. @returns whether it does */
  take(workspace: WorkspaceId, cost: NanoUsd): boolean {
    const now = this.#clock.monotonic();
    const spans = (this.#spans.get(workspace) ?? []).filter(({ lastAt }) => lastAt > now - unpaidWindowMs);
    if (spans.reduce((sum, span) => sum + span.cost, cost) > this.#allowance) return false;
    const last = spans.at(-1);
    if (last === undefined || last.firstAt <= now - unpaidSpanMs) spans.push({ firstAt: now, lastAt: now, cost });
    else Object.assign(last, { lastAt: now, cost: last.cost + cost });
    this.#spans.delete(workspace);
    this.#spans.set(workspace, spans);
    const [oldest] = this.#spans.keys();
    if (this.#spans.size > unpaidWorkspacesMax && oldest !== undefined) this.#spans.delete(oldest);
    return true;
  }
}

export interface SentCall {
  /** Monotonic milliseconds: when the request was sent; null: it has not been. */
  readonly sentAt: number | null;
}

interface FailedCall {
  reservation: Pick<Reservation, "workspace" | "amount">;
  candidate: Candidate;
  failure: UpstreamFailure;
  lifecycle: SentCall;
  /** What was delivered. */
  delivered: ChargedUsage;
  /** What would be charged if the client had left at this moment. */
  left: () => ChargedUsage;
  /** The client has left: no timeout kept it from its answer. */
  hasLeft: boolean;
}

/**
 * What is charged for a call that failed: what was delivered, unless the gateway abandoned it after its request was sent and the workspace
 * has used up its hour's unpaid work. Call it once for each, since it counts the unpaid work.
 */
export function chargedFailure(call: FailedCall, unpaid: UnpaidWork): ChargedUsage {
  const { reservation, candidate, failure, lifecycle, delivered, hasLeft } = call;
  if (!isGivenUp(failure) || lifecycle.sentAt === null) return delivered;
  const left = call.left();
  const rest = costOf(left.usage, call) - costOf(delivered.usage, call);
  if (rest <= 0n) return delivered;
  if (hasLeft || !unpaid.take(reservation.workspace, rest)) return left;
  unpaidUsdTotal.inc({ provider: candidate.route.provider.id }, usdAsJsonNumber(rest));
  return delivered;
}

const nothingReported: ReportedUsage = { ...noUsage, promptTokens: null, completionTokens: null };

/**
 * The plausible part of the reported usage. A count of zero, and one above everything that fits into the model, is not a count: there
 * was a prompt, and where nothing was produced the estimate is zero too. Tokens that only the total has count as reasoning if the
 * model may reason and was allowed this many; otherwise the total contradicts its parts and is dropped.
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
    // The parts of an impossible prompt would put their prices on our estimate.
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

/** What is charged for this usage. With an own key the workspace itself pays the provider. */
function costOf(usage: Usage, { reservation, candidate: { route } }: FailedCall): NanoUsd {
  if (route.prices === null || route.ownKey) return 0n;
  const cost = nanoRoundedHalfUp(tieredCost(route.prices, usage));
  return cost < reservation.amount ? cost : reservation.amount;
}
