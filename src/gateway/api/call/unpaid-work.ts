/**
 * Work that a provider may bill and that nobody pays: requests that were sent and timed out, or whose answer was too large. Each
 * process lets a workspace have a little of it in an hour, since a timeout is seldom the client's doing. Beyond that, waiting costs
 * what leaving costs: a client chooses how much work it asks for, and could otherwise let it time out for nothing.
 */
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { unpaidUsdTotal } from "../../../kernel/metrics.ts";
import { nanoRoundedHalfUp, usdAsJsonNumber, type NanoUsd } from "../../../kernel/money.ts";
import type { Reservation } from "../../credit/reservation.ts";
import { unpaidNanoMax, unpaidSpanMs, unpaidWindowMs, unpaidWorkspacesMax } from "../../limits.ts";
import type { Usage } from "../../models/model.ts";
import { tieredCost } from "../../models/price.ts";
import type { Candidate } from "../../models/routing/candidate.ts";
import { isGivenUp, type UpstreamFailure } from "../../providers/provider.ts";
import type { ChargedUsage } from "./charged-usage.ts";

/** Work whose ends lie within a minute, in monotonic milliseconds: it is forgotten together, an hour after its last end. */
interface Span {
  firstAt: number;
  lastAt: number;
  cost: NanoUsd;
}

export class UnpaidWork {
  readonly #clock: Clock;
  readonly #allowance: NanoUsd;
  /** The workspace that took some last is last. */
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
 * What is charged for a call that failed: what was delivered, unless the gateway gave it up after its request was sent, and the workspace
 * has had its hour's unpaid work. Call it once for each: it counts what stays unpaid.
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

/** As it is charged. The workspace itself pays the provider of its own key. */
function costOf(usage: Usage, { reservation, candidate: { route } }: FailedCall): NanoUsd {
  if (route.prices === null || route.ownKey) return 0n;
  const cost = nanoRoundedHalfUp(tieredCost(route.prices, usage));
  return cost < reservation.amount ? cost : reservation.amount;
}
