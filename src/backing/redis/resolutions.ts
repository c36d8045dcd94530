/** Resolutions by the numbers that the functions store. */
import type { Resolution } from "../counters.ts";

const numbers: Readonly<Record<Resolution, number>> = { settled: 1, void: 2, expired: 3, unknown: 4 };
const resolutions: readonly Resolution[] = ["settled", "void", "expired", "unknown"];

export function numberOf(resolution: Resolution): number {
  return numbers[resolution];
}

/** @throws Error when no resolution has this number */
export function resolutionOf(number: number): Resolution {
  const resolution = resolutions.find((one) => numbers[one] === number);
  if (resolution === undefined) throw new Error(`Cannot read ${number} in a function's reply: it is not a resolution`);
  return resolution;
}
