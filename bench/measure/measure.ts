/** Measures one load on one contender, with its cost. */
import type { Running } from "../contenders/contender.ts";
import type { Provider } from "../contenders/provider.ts";
import type { Result } from "../load/tally.ts";
import { usageOf, type Usage } from "../processes/usage.ts";
import type { LoadGenerator } from "./load-generator.ts";
import { runLoadProcess } from "./load-process.ts";

/** The cost of a contender's requests. */
export interface Cost {
  contender: string;
  /** CPU seconds per 1,000 requests, by process. The warm-up counts both in time and in requests. */
  cpuPer1000: Record<string, number>;
}

export interface Measurement extends Cost {
  /** The varied parameters: connections, rate, streams, bodies. */
  load: string;
  round: number;
  /** The number of the sweep over all rounds, where contenders alternate. One sweep takes only seconds. */
  sweep?: number;
  result: Result;
  /** From the last answer until the ledger had confirmed everything, if that was awaited. */
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
  /** A running generator. Without one, a new one is started for this load. */
  generator?: LoadGenerator;
  /** Also waits for the work after the answers, and includes it in the cost. */
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

/** Formats a line of progress. */
export function progressLine({ contender, load, result }: Measurement): string {
  const { perSecond, failedInAll, latencyMs, codes } = result;
  const failures = failedInAll > 0 ? `, ${failedInAll} FAILED ${JSON.stringify(codes)}` : "";
  return `${contender}, ${load}: ${perSecond} /s, p50 ${latencyMs?.p50} ms, p99 ${latencyMs?.p99} ms${failures}`;
}
