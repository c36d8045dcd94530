/** The top-ups of a run. They draw from random numbers of their own, so that they change nothing in runs without them. */
import { Chance } from "../chance.ts";

export const nanoPerCent = 10_000_000;

/** One of four runs has top-ups. */
export function hasTopUps(seed: number): boolean {
  return seed % 4 === 2;
}

export function topUpChanceOf(seed: number): Chance {
  return new Chance(seed ^ 0x2545f491);
}

/** What a workspace is topped up by, in nano-USD. The amounts are as small as those of the requests. */
export interface AutomaticTopUp {
  threshold: bigint;
  amount: bigint;
  monthlyCap: bigint;
}

/** @param unit thresholds and amounts are some of it */
export function someAutomatic(unit: bigint, chance: Chance): AutomaticTopUp {
  const amount = unit * BigInt(chance.between(1, 3));
  return { threshold: unit * BigInt(chance.between(1, 12)), amount, monthlyCap: amount * BigInt(chance.between(1, 8)) };
}
