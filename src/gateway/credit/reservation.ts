/**
 * Proof that credit was set aside: the only ticket to a provider. `callProvider` takes one, and admission alone makes them,
 * so a call that nobody reserved for cannot be written.
 */
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { monthOf, type Month } from "../../kernel/clock.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { probeOutputTokensMax } from "../limits.ts";

const proof: unique symbol = Symbol("admitted");

export interface Reservation {
  readonly [proof]: true;
  readonly generation: GenerationId;
  /** The audit id of `X-Request-Id`. */
  readonly request: string;
  readonly workspace: WorkspaceId;
  readonly key: KeyId;
  /** UTC month of admission by the counters' clock: all of the generation is booked to it. */
  readonly month: Month;
  readonly amount: NanoUsd;
  /** Milliseconds, the counters' clock. */
  readonly admittedAt: number;
  /** The output bound that was priced. */
  readonly maxOutputTokens: number;
}

/** Called by admission with the facts of an `admitted` reply, and by nobody else (held by the architecture test). */
export function reservationFrom(facts: Omit<Reservation, typeof proof>): Reservation {
  return { ...facts, [proof]: true };
}

/** The ticket of a launch check, which is our own cost and nobody's credit: for the prober alone (held by the architecture test). */
export function probeTicket({
  generation,
  request,
  nowMs,
}: {
  generation: GenerationId;
  request: string;
  nowMs: number;
}): Reservation {
  const nobody = { workspace: "", key: "", amount: 0n, maxOutputTokens: probeOutputTokensMax };
  return { ...nobody, generation, request, month: monthOf(nowMs), admittedAt: nowMs, [proof]: true };
}
