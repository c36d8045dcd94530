/** Bounds the wrong codes of an account: those within a window, and those without a right one between them. */
import { DomainError } from "../errors.ts";
import { wrongCodesInRowMax, wrongCodesInWindowMax, wrongCodesWindowMs } from "../limits.ts";
import type { SecondFactorRow } from "./second-factor-store.ts";

type Tries = Pick<SecondFactorRow, "email" | "wrongInRow" | "wrongInWindow" | "windowAt">;

/** @returns why no code is read at present, the right one neither; null: codes are read */
export function triesProblem({ wrongInRow, wrongInWindow, windowAt }: Tries, nowMs: number): DomainError | null {
  if (wrongInRow >= wrongCodesInRowMax) {
    return new DomainError("rate_limited", "Too many wrong codes came for this account: ask the operator to reset its sign-in");
  }
  if (!isInWindow(windowAt, nowMs) || wrongInWindow < wrongCodesInWindowMax) return null;
  return new DomainError("rate_limited", "Too many wrong codes came for this account: try again in 15 minutes");
}

/** The tries after one more wrong code. */
export function withWrongCode({ email, wrongInRow, wrongInWindow, windowAt }: Tries, nowMs: number): Tries {
  const isSame = isInWindow(windowAt, nowMs);
  return {
    email,
    wrongInRow: wrongInRow + 1,
    wrongInWindow: isSame ? wrongInWindow + 1 : 1,
    windowAt: isSame ? windowAt : new Date(nowMs),
  };
}

function isInWindow(windowAt: Date | null, nowMs: number): boolean {
  return windowAt !== null && nowMs - windowAt.getTime() < wrongCodesWindowMs;
}
