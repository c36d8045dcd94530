/** People who click: each session asks for one random page after the other, without pause. */
import { randomFrom } from "../../test/support/random.ts";
import { Histogram, type Summary } from "../load/histogram.ts";
import { look } from "./visit.ts";

export interface Clicker {
  cookie: string;
  addresses: string[];
}

export interface Clicks {
  perSecond: number;
  latencyMs: Summary | null;
  /** Each status with its count. */
  statuses: Record<string, number>;
  /** The first clicks that were refused, as status and path. */
  refused: string[];
}

const refusedMax = 10;

/** Clicks until `work` has ended. */
export async function clickDuring<Result>(
  { clickers, url, seed }: { clickers: readonly Clicker[]; url: string; seed: number },
  work: () => Promise<Result>,
): Promise<{ result: Result; clicks: Clicks }> {
  const times = new Histogram();
  const statuses: Record<string, number> = {};
  const refused: string[] = [];
  let ended = false;
  const startedAt = performance.now();
  const clicking = clickers.map(async ({ cookie, addresses }, n) => {
    const chance = randomFrom(seed + n);
    while (!ended) {
      const address = addresses[Math.floor(chance() * addresses.length)] ?? "/";
      const seen = await look(url + address, cookie);
      times.add(seen.ms);
      statuses[seen.status] = (statuses[seen.status] ?? 0) + 1;
      if (seen.status >= 400 && refused.length < refusedMax)
        refused.push(`${seen.status} after ${seen.ms.toFixed(0)} ms: ${address}`);
    }
  });
  try {
    const result = await work();
    const seconds = (performance.now() - startedAt) / 1_000;
    return { result, clicks: { perSecond: Math.round(times.count / seconds), latencyMs: times.summary(), statuses, refused } };
  } finally {
    ended = true;
    await Promise.all(clicking);
  }
}
