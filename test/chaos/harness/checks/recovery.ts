/** How long the service took to recover, as clients saw it. Times are wall-clock milliseconds. */
import { isGood, type ClientCall } from "../load/client-call.ts";

export interface Recovery {
  /** From the end of the fault to the first good answer; null: there was none. */
  firstMs: number | null;
  /** From the end of the fault to the first whole second in which every gateway gave only good answers; null: there was none yet. */
  steadyMs: number | null;
}

const steadyForMs = 1_000;
const stepMs = 100;

export interface Healed {
  healedAt: number;
  /** The end of the time that is considered. */
  until: number;
  gateways: number;
}

/** Counts only customers with plenty of credit, since others are refused also without a fault. */
export function recoveryOf(calls: readonly ClientCall[], { healedAt, until, gateways }: Healed): Recovery {
  const since = calls.filter(({ isPlenty, sentAt }) => isPlenty && sentAt >= healedAt && sentAt <= until);
  const good = since.filter(isGood).map(({ answeredAt }) => answeredAt ?? Infinity);
  const firstMs = good.length === 0 ? null : Math.min(...good) - healedAt;
  for (let from = healedAt; from + steadyForMs <= until; from += stepMs) {
    const within = since.filter(({ sentAt }) => sentAt >= from && sentAt < from + steadyForMs);
    const served = new Set(within.filter(isGood).map(({ gateway }) => gateway));
    if (served.size === gateways && within.every(isGood)) return { firstMs, steadyMs: from - healedAt };
  }
  return { firstMs, steadyMs: null };
}

/** The bad answers after the end of the fault: how often each came from each gateway. */
export function badAnswersOf(calls: readonly ClientCall[], { healedAt, until }: Healed): string {
  const bad = calls.filter((call) => call.isPlenty && call.sentAt >= healedAt && call.sentAt <= until && !isGood(call));
  const counts = new Map<string, number>();
  for (const { gateway, status, code, endedAt } of bad) {
    const name = `gateway-${gateway + 1} ${endedAt === null ? "open" : `${status} ${code}`}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} of ${name}`).join(", ");
}
