import { tryAdvisoryLock } from "../../src/backing/advisory-lock.ts";
import { embeddingCalls } from "../../src/gateway/providers/embed.ts";
import { providerCalls } from "../../src/gateway/providers/http.ts";
import { launchCheckClocks } from "../../src/gateway/providers/launch-check.ts";
import { startProber } from "../prober.ts";
import type { KindParts } from "./kind.ts";
import { modelsOf } from "./models.ts";

export async function start(parts: KindParts): Promise<AsyncDisposable> {
  const { config, backing, clock, log } = parts;
  await using stack = new AsyncDisposableStack();
  const models = stack.use(await modelsOf(parts));
  const settled = { clock, clocks: launchCheckClocks(config.clocks), providerKey: config.providerKey };
  const calls = { call: providerCalls(settled), embed: embeddingCalls(settled) };
  const lock = () => tryAdvisoryLock("weir prober", { ...backing, clock });
  stack.use(startProber({ ...backing, models, ...calls, clock, log, lock }));
  return stack.move();
}
