/**
 * The worker that runs launch checks: a model is callable once a test call of its route has succeeded. Each missing check runs
 * at start and when the catalog or the provider keys changed; one prober at a time, by an advisory lock.
 */
import type { Database } from "../src/backing/backing.ts";
import type { Bus } from "../src/backing/bus.ts";
import { probeTicket } from "../src/credit/reservation.ts";
import { sleep, type Clock } from "../src/kernel/clock.ts";
import { newGenerationId, newRequestId } from "../src/kernel/ids.ts";
import type { Logger } from "../src/kernel/log.ts";
import { proberPauseMs } from "../src/limits/constants.ts";
import type { Model, Route } from "../src/models/model.ts";
import type { Models } from "../src/models/models.ts";
import { recordLaunchCheck } from "../src/models/store.ts";
import type { CallProvider } from "../src/providers/http.ts";
import { launchCheck } from "../src/providers/launch-check.ts";

export interface ProberParts {
  sql: Database;
  bus: Bus;
  models: Models;
  call: CallProvider;
  /** The right to probe: one prober of a fleet has it at a time. */
  lock: () => Promise<AsyncDisposable | null>;
  clock: Clock;
  log: Logger;
}

export function startProber(parts: ProberParts): AsyncDisposable {
  const stop = new AbortController();
  const running = probeForEver(parts, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

async function probeForEver(parts: ProberParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await probeMissing(parts).catch((error: unknown) => parts.log.warn({ event: "probe.failed", reason: String(error) }));
    await sleep(parts.clock, proberPauseMs, signal);
  }
}

/** Runs the checks that are missing. @returns how many ran */
export async function probeMissing(parts: ProberParts): Promise<number> {
  const missing = parts.models.list().flatMap((model) => parts.models.unchecked(model).map((route) => ({ model, route })));
  if (missing.length === 0) return 0;
  await using alone = await parts.lock();
  if (alone === null) return 0;
  for (const { model, route } of missing) await probe(model, route, parts);
  parts.bus.broadcast("checks-changed");
  return missing.length;
}

async function probe(model: Model, route: Route, parts: ProberParts): Promise<void> {
  const now = parts.clock.now();
  const ticket = probeTicket({ generation: newGenerationId(now), request: newRequestId(now), nowMs: now });
  const code = await launchCheck({ ticket, model: model.id, route }, parts.call);
  parts.log.info({ event: "launch_check", model: model.id, provider: route.provider.id, passed: code === null, code });
  await recordLaunchCheck(parts.sql, {
    model: model.id,
    provider: route.provider.id,
    entry: route.entry,
    passed: code === null,
    code,
  });
}
