/** One load on one contender, with what it cost. */
import type { Running } from "../contenders/contender.ts";
import type { Provider } from "../contenders/provider.ts";
import type { Result } from "../load/tally.ts";
import { usageOf, type Usage } from "../processes/usage.ts";
import { runLoadProcess } from "./load-process.ts";

export interface Measurement {
  contender: string;
  /** What varies: connections, rate, streams, bodies. */
  load: string;
  round: number;
  result: Result;
  /** CPU seconds per 1,000 requests, by process; warming up counts on both sides. */
  cpuPer1000: Record<string, number>;
}

export interface MeasurePlan {
  contender: string;
  running: Running;
  provider: Provider;
  load: string;
  words: string[];
  round: number;
}

export async function measure({ contender, running, provider, load, words, round }: MeasurePlan): Promise<Measurement> {
  const all = (): Record<string, Usage> => ({ provider: usageOf(provider.pid), ...running.usage() });
  const before = all();
  const { result, cpuSeconds } = await runLoadProcess([...running.target, ...words]);
  const after = all();
  const thousands = Math.max(1, result.endedInAll) / 1_000;
  const spent = Object.entries(after).map(
    ([name, { cpuSeconds }]) => [name, cpuSeconds - (before[name]?.cpuSeconds ?? 0)] as const,
  );
  const cpuPer1000 = Object.fromEntries(
    [["load generator", cpuSeconds] as const, ...spent].map(([name, seconds]) => [
      name,
      Number((seconds / thousands).toFixed(4)),
    ]),
  );
  return { contender, load, round, result, cpuPer1000 };
}

/** A line of progress. */
export function saidOf({ contender, load, result }: Measurement): string {
  const { perSecond, failedInAll, latencyMs, codes } = result;
  const failures = failedInAll > 0 ? `, ${failedInAll} FAILED ${JSON.stringify(codes)}` : "";
  return `${contender}, ${load}: ${perSecond} /s, p50 ${latencyMs?.p50} ms, p99 ${latencyMs?.p99} ms${failures}`;
}
