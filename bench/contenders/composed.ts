/** A gateway with some of Weir's features (see bench/features), and the parts of a fleet that they need. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { keysFile } from "../data/prepare.ts";
import type { ComposedStep } from "../features/steps.ts";
import { dataFolder } from "../paths.ts";
import { Child } from "../processes/child.ts";
import { usageOf } from "../processes/usage.ts";
import type { Contender, Running } from "./contender.ts";
import { instantModel, warmUpSeconds } from "./provider.ts";
import { environmentOf, modelId, type FleetPlan } from "./weir.ts";

export function composed(step: ComposedStep, plan: FleetPlan): Contender {
  return { name: step, warmUpSeconds, model: modelId, start: () => startComposed(step, plan) };
}

async function startComposed(step: ComposedStep, plan: FleetPlan): Promise<Running> {
  const folder = join(dataFolder, "run");
  rmSync(folder, { recursive: true, force: true });
  const environment = await environmentOf(plan, folder);
  await using stack = new AsyncDisposableStack();
  const start = (name: string, ...words: string[]): Child => stack.use(new Child({ name, arguments: words, environment }));
  const usesWorker = step === "fleet" || step === "events";
  const others = [start("prober", "workers/main.ts", "prober")];
  if (usesWorker) others.push(start("admission", "workers/main.ts", "admission"));
  const keys = keysFile("hot");
  const gateway = start("gateway", "bench/features/serve.ts", step, keys, modelId(instantModel));
  const port = await gateway.port();
  const { nats, redis, postgres } = plan.services;
  const kept = stack.move();
  return {
    target: ["--url", `http://127.0.0.1:${port}`, "--keys", keys],
    usage: () => Object.fromEntries([gateway, ...others, nats, redis, postgres].map(({ name, pid }) => [name, usageOf(pid)])),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
