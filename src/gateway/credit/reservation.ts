/**
 * Proof that credit was reserved, which every provider call needs. `callProvider` takes one and only admission makes them, so code cannot
 * call a provider without a reservation. The compiler and the architecture test hold this: the symbol that marks a reservation is not
 * exported. A launch check spends no workspace's credit and has its own ticket.
 */
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { monthOf, type Month } from "../../kernel/clock.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { Claim } from "../field-parts.ts";
import { probeOutputTokensMax } from "../limits.ts";

const proof: unique symbol = Symbol("admitted");

export interface Reservation {
  readonly [proof]: true;
  readonly generation: GenerationId;
  /** The audit id of `X-Request-Id`. */
  readonly request: string;
  readonly workspace: WorkspaceId;
  readonly key: KeyId;
  /** UTC month of admission by the counters' clock, to which the whole generation is booked. */
  readonly month: Month;
  readonly amount: NanoUsd;
  /** Milliseconds, the counters' clock. */
  readonly admittedAt: number;
  /** The block that it was made with; absent: it has its own hold. */
  readonly block?: GenerationId;
  /** Recognises a repetition of its request; absent: it had no idempotency key. */
  readonly claim?: Claim;
  /** The priced output bound. */
  readonly maxOutputTokens: number;
}

/** Only admission calls it, with the facts of an `admitted` reply (enforced by the architecture test). */
export function reservationFrom(facts: Omit<Reservation, typeof proof>): Reservation {
  return { ...facts, [proof]: true };
}

/** The ticket of a launch check, which costs no credit. Only the prober and tests of own keys make one (enforced by the architecture test). */
export function probeTicket({
  generation,
  request,
  nowMs,
}: {
  generation: GenerationId;
  request: string;
  nowMs: number;
}): Reservation {
  const withoutCredit = { workspace: "", key: "", amount: 0n, maxOutputTokens: probeOutputTokensMax };
  return { ...withoutCredit, generation, request, month: monthOf(nowMs), admittedAt: nowMs, [proof]: true };
}
