/** One load on one contender, with what it cost. */
import type { Running } from "../contenders/contender.ts";
import type { Provider } from "../contenders/provider.ts";
import type { Result } from "../load/tally.ts";
import { usageOf, type Usage } from "../processes/usage.ts";
import type { LoadGenerator } from "./load-generator.ts";
import { runLoadProcess } from "./load-process.ts";

/** What a contender's requests cost. */
export interface Cost {
  contender: string;
  /** CPU seconds per 1,000 requests, by process; warming up counts on both sides. */
  cpuPer1000: Record<string, number>;
}

export interface Measurement extends Cost {
  /** What varies: connections, rate, streams, bodies. */
  load: string;
  round: number;
  /** Where contenders alternate: which of all rounds' sweeps. What one sweep measured was measured within seconds. */
  sweep?: number;
  result: Result;
  /** Where it was waited for: from the last answer until the ledger had confirmed everything. */
  lagSeconds?: number;
}

export interface MeasurePlan {
  contender: string;
  running: Pick<Running, "target" | "usage" | "settled">;
  provider: Provider;
  load: string;
  words: string[];
  round: number;
  sweep?: number;
  /** One that runs already; without it one is started for this load alone. */
  generator?: LoadGenerator;
  /** Waits until what is done after answers is done too, and counts it to their cost. */
  untilSettled?: boolean;
}

export async function measure(plan: MeasurePlan): Promise<Measurement> {
  const { contender, running, provider, load, round, sweep, generator } = plan;
  const words = [...running.target, ...plan.words];
  const all = (): Record<string, Usage> => ({ provider: usageOf(provider.pid), ...running.usage() });
  const before = all();
  const { result, cpuSeconds } = await (generator === undefined ? runLoadProcess(words) : generator.load(words));
  const settledAt = plan.untilSettled ? await running.settled?.() : undefined;
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
  return {
    contender,
    load,
    round,
    ...(sweep !== undefined && { sweep }),
    result,
    cpuPer1000,
    ...(settledAt !== undefined && { lagSeconds: (settledAt - result.lastEndedAt) / 1_000 }),
  };
}

/** A line of progress. */
export function progressLine({ contender, load, result }: Measurement): string {
  const { perSecond, failedInAll, latencyMs, codes } = result;
  const failures = failedInAll > 0 ? `, ${failedInAll} FAILED ${JSON.stringify(codes)}` : "";
  return `${contender}, ${load}: ${perSecond} /s, p50 ${latencyMs?.p50} ms, p99 ${latencyMs?.p99} ms${failures}`;
}
