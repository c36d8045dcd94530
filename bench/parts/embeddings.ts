/** Measures embeddings of 16 texts of 1 KiB: requests a second, and the latency added to the provider's, beside the bare proxy. */
import type { Contender, Running } from "../contenders/contender.ts";
import { bareProxy, direct, embedModel, embeddingsPath, embeddingsUrl, type Provider } from "../contenders/provider.ts";
import { runLoadProcess } from "../measure/load-process.ts";
import { measure, progressLine, type Measurement } from "../measure/measure.ts";
import { openTestbed, type TestbedPlan } from "./testbed.ts";

export interface EmbeddingsPlan extends TestbedPlan {
  rounds: number;
  seconds: number;
}

export interface Embeddings {
  /** Of each contender, round and number of connections. */
  measurements: Measurement[];
}

/** One connection shows the added latency, several the requests a second. */
export const embeddingConnections = { latency: 1, ceiling: 32 };

const texts = 16;
const textBytes = 1_024;

export async function runEmbeddings(plan: EmbeddingsPlan): Promise<Embeddings> {
  await using testbed = await openTestbed(plan);
  const { provider } = testbed;
  const contenders = [
    { contender: direct(provider), path: embeddingsPath },
    { contender: bareProxy(provider, embeddingsUrl(provider)), path: embeddingsPath },
    { contender: testbed.weir("hot", { embeddings: true }), path: "/gpt/v1/embeddings" },
  ];
  const found: Embeddings = { measurements: [] };
  for (let round = 1; round <= plan.rounds; round++) {
    for (const one of contenders) {
      await using running = await one.contender.start();
      await takeRound({ ...one, running, provider, round, plan, found });
      await running.settled?.();
      if (round === plan.rounds) await running.verify?.(plan.say);
      await testbed.quiet();
    }
  }
  return found;
}

interface Round {
  contender: Contender;
  path: string;
  running: Running;
  provider: Provider;
  round: number;
  plan: EmbeddingsPlan;
  found: Embeddings;
}

async function takeRound({ contender, path, running, provider, round, plan, found }: Round): Promise<void> {
  const request = ["--path", path, "--model", contender.model(embedModel), "--texts", String(texts)];
  const body = ["--body", String(texts * textBytes)];
  const loadOf = (connections: number, warmUp: number, seconds: number): string[] => {
    const time = ["--warm-up", String(warmUp), "--seconds", String(seconds)];
    return [...request, ...body, ...time, "--connections", String(connections)];
  };
  const { name, warmUpSeconds } = contender;
  await runLoadProcess([...running.target, ...loadOf(embeddingConnections.ceiling, 0, warmUpSeconds)]);
  for (const connections of Object.values(embeddingConnections)) {
    const words = loadOf(connections, 1, plan.seconds);
    const load = `${connections} connections`;
    const measurement = await measure({ contender: name, running, provider, load, words, round });
    found.measurements.push(measurement);
    plan.say(`round ${round}/${plan.rounds} ${progressLine(measurement)}`);
  }
}
