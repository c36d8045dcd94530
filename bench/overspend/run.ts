/** The overspend test: how many of 200 requests at once pass a budget, or a limit a minute, for 20. */
import type { Running } from "../contenders/contender.ts";
import { pause } from "../until.ts";
import { instantLimited, pacedLimited, requestsAtOnce, type Limit } from "./limit.ts";
import { sendAtOnce, type Statuses } from "./send.ts";

export interface OverspendCase {
  name: string;
  limit: Limit;
  upstream: string;
  streamed: boolean;
}

export const overspendCases: readonly OverspendCase[] = [
  { name: "budget, answered at once", limit: "budget", upstream: instantLimited, streamed: false },
  { name: "budget, streams of 0.8 s", limit: "budget", upstream: pacedLimited, streamed: true },
  { name: "a minute, answered at once", limit: "rate", upstream: instantLimited, streamed: false },
];

export interface Overspend {
  contender: string;
  case: string;
  first: Statuses;
  /** As many requests again, some seconds after the last answer; null: not sent. */
  again: Statuses | null;
}

const minuteMs = 60_000;
/** A gateway that counts by the minutes of the clock would otherwise begin a new one during the test. */
const leftOfMinuteMsMin = 15_000;
/** Longer than any contender needs to book what it has answered. */
const bookedMs = 3_000;

/** @returns nothing for a contender without limits */
export async function overspendOf(name: string, { limited }: Pick<Running, "limited">): Promise<Overspend[]> {
  if (limited === undefined) return [];
  const found: Overspend[] = [];
  for (const { name: what, limit, upstream, streamed } of overspendCases) {
    const key = await limited(limit, upstream);
    await enoughOfMinute();
    const first = await sendAtOnce(key, requestsAtOnce, streamed);
    await pause(bookedMs);
    // Time alone gives requests a minute back.
    const again = limit === "rate" ? null : await sendAtOnce(key, requestsAtOnce, streamed);
    found.push({ contender: name, case: what, first, again });
  }
  return found;
}

async function enoughOfMinute(): Promise<void> {
  const left = minuteMs - (Date.now() % minuteMs);
  if (left < leftOfMinuteMsMin) await pause(left + 1_000);
}
