/**
 * The worker that runs launch checks: a model is callable once a test call of its route has succeeded. Each check that is missing
 * or asked for again runs at start and when checks, the catalog or the provider keys changed; one prober at a time, by an
 * advisory lock.
 */
import type { Database } from "../src/backing/backing.ts";
import type { Bus } from "../src/backing/bus.ts";
import { probeTicket } from "../src/gateway/credit/reservation.ts";
import { sleep, type Clock } from "../src/kernel/clock.ts";
import { newGenerationId, newRequestId } from "../src/kernel/ids.ts";
import type { Logger } from "../src/kernel/log.ts";
import { launchChecksAtOnce, proberPauseMs } from "../src/limits/constants.ts";
import type { Model, Route } from "../src/gateway/models/model.ts";
import type { Models } from "../src/gateway/models/models.ts";
import { recordLaunchCheck } from "../src/gateway/models/store.ts";
import type { CallProvider } from "../src/gateway/providers/http.ts";
import { launchCheck } from "../src/gateway/providers/launch-check.ts";

export interface ProberParts {
  sql: Database;
  bus: Pick<Bus, "broadcast" | "listen">;
  models: Pick<Models, "list" | "toCheck" | "refreshChecks">;
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

/** Looks when it is told of a change, and regularly, for what is told may be lost. */
async function probeForEver(parts: ProberParts, signal: AbortSignal): Promise<void> {
  let pause = new AbortController();
  const wake = (): void => pause.abort();
  using _listening = parts.bus.listen("checks-changed", wake);
  signal.addEventListener("abort", wake);
  while (!signal.aborted) {
    pause = new AbortController();
    await probeAll(parts).catch((error: unknown) => parts.log.warn({ event: "probe.failed", reason: String(error) }));
    if (!signal.aborted) await sleep(parts.clock, proberPauseMs, pause.signal);
  }
}

interface Probe {
  model: Model;
  route: Route;
}

/** Runs the checks that are missing or asked for again, a few at a time. @returns how many ran */
export async function probeAll(parts: ProberParts): Promise<number> {
  await parts.models.refreshChecks();
  if (probesOf(parts).length === 0) return 0;
  await using alone = await parts.lock();
  if (alone === null) return 0;
  // Whoever held the lock before may have run them.
  await parts.models.refreshChecks();
  const probes = probesOf(parts);
  const queue = probes.values();
  const lanes = Array.from({ length: launchChecksAtOnce }, async () => {
    for (const { model, route } of queue) await probe(model, route, parts);
  });
  // The lock is held until the last of them has ended, whatever became of the others.
  const failed = (await Promise.allSettled(lanes)).find((lane) => lane.status === "rejected");
  if (failed) throw failed.reason;
  if (probes.length > 0) parts.bus.broadcast("checks-changed");
  return probes.length;
}

function probesOf({ models }: ProberParts): Probe[] {
  return models.list().flatMap((model) => models.toCheck(model).map((route) => ({ model, route })));
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
