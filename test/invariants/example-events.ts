/** Events for tests of the checkers. Times are milliseconds. */
import type { Admitted, Charged, EventOf, HistoryEvent } from "./history.ts";

const place = { workspace: "w", key: "k", month: "2026-11" };

/** The default amount of a reservation. */
export const amount = 200n;

export function admitted(at: number, generation: string, fields: Partial<Admitted> = {}): HistoryEvent {
  return { kind: "admitted", at, generation, ...place, amount, admittedAt: at, invocation: generation, ...fields };
}

export function called(at: number, generation: string): HistoryEvent {
  return { kind: "called", at, generation };
}

export function served(at: number, generation: string, cost: bigint): HistoryEvent {
  return { kind: "served", at, generation, cost };
}

export function charged(at: number, generation: string, fields: Partial<Charged> = {}): HistoryEvent {
  return { kind: "charged", at, generation, ...place, outcome: "settled", reserved: amount, ...ending, ...fields };
}

const ending = { cost: 50n, excess: 0n, late: false, cut: false };

export function owed(at: number, generation: string, sum: bigint): HistoryEvent {
  return { kind: "owed", at, generation, amount: sum };
}

export function credited(at: number, sum: bigint, workspace = "w"): HistoryEvent {
  return { kind: "credited", at, workspace, amount: sum };
}

export function invoked(at: number, invocation: string, fields: Partial<EventOf<"invoked">> = {}): HistoryEvent {
  return { kind: "invoked", at, invocation, workspace: "w", key: "k", ...fields };
}

export function answered(at: number, invocation: string, fields: Partial<EventOf<"answered">> = {}): HistoryEvent {
  const whole = { status: 200, code: null, generation: invocation, whole: true };
  return { kind: "answered", at, invocation, ...whole, ...fields };
}

export function refused(at: number, invocation: string, code: string, retryAfterMs?: number): HistoryEvent {
  const status = code === "rate_limited" ? 429 : 503;
  const refusal = { kind: "answered", at, invocation, status, code, generation: null, whole: false } as const;
  return retryAfterMs === undefined ? refusal : { ...refusal, retryAfterMs };
}

/** A whole generation, from its request to its charge, in four milliseconds. */
export function generation(at: number, name: string, cost = 50n): HistoryEvent[] {
  return [
    invoked(at, name),
    admitted(at, name),
    called(at + 1, name),
    served(at + 2, name, cost),
    answered(at + 3, name),
    charged(at + 4, name, { cost }),
  ];
}
