/**
 * The worker that runs launch checks: a model is callable once a test call of its route has succeeded. Missing and requested checks run at
 * startup, and when checks, the catalog or the provider keys change. An advisory lock lets one prober of a fleet run them; it is held until
 * the last probe ends.
 */
import { Keyring } from "../src/accounts/secrets/keyring.ts";
import { tryAdvisoryLock } from "../src/backing/advisory-lock.ts";
import type { Database } from "../src/backing/backing.ts";
import type { Bus } from "../src/backing/bus.ts";
import { probeTicket } from "../src/gateway/credit/reservation.ts";
import { launchChecksAtOnce, proberPauseMs } from "../src/gateway/limits.ts";
import type { Model, Route } from "../src/gateway/models/model.ts";
import type { Models } from "../src/gateway/models/models.ts";
import { recordLaunchCheck } from "../src/gateway/models/store.ts";
import { type CallEmbeddings, embeddingCalls } from "../src/gateway/providers/embed.ts";
import { type CallProvider, providerCalls } from "../src/gateway/providers/http.ts";
import { embeddingsLaunchCheck, launchCheck, launchCheckClocks } from "../src/gateway/providers/launch-check.ts";
import type { Clock } from "../src/kernel/clock.ts";
import { newGenerationId, newRequestId } from "../src/kernel/ids.ts";
import type { Logger } from "../src/kernel/log.ts";
import { repeatUntilStopped } from "../src/kernel/repeat.ts";
import { type KindParts, modelsOf } from "./kind.ts";

export interface ProberParts {
  sql: Database;
  bus: Pick<Bus, "broadcast" | "listen">;
  models: Pick<Models, "list" | "pendingChecks" | "refreshChecks">;
  call: CallProvider;
  embed: CallEmbeddings;
  /** Takes the lock for probing, which one prober of a fleet holds at a time; null: another holds it. */
  lock: () => Promise<AsyncDisposable | null>;
  clock: Clock;
  log: Logger;
}

/** Probes when notified of a change, and at regular intervals, since a notification may be lost. */
export function startProber(parts: ProberParts): AsyncDisposable {
  const { bus, clock, log } = parts;
  return repeatUntilStopped({
    clock,
    round: () => probeAll(parts),
    everyMs: proberPauseMs,
    wakeOn: (wake) => bus.listen("checks-changed", wake),
    onError: (error) => log.warn({ event: "probe.failed", reason: String(error) }),
  });
}

/** Runs the missing and requested checks, a few at a time. @returns how many ran */
export async function probeAll(parts: ProberParts): Promise<number> {
  await parts.models.refreshChecks();
  if (probesOf(parts).length === 0) return 0;
  await using held = await parts.lock();
  if (held === null) return 0;
  // The lock's previous holder may have run them.
  await parts.models.refreshChecks();
  const probes = probesOf(parts);
  const queue = probes.values();
  const lanes = Array.from({ length: launchChecksAtOnce }, async () => {
    for (const { model, route } of queue) await probe(model, route, parts);
  });
  // Holds the lock until the last probe ends, even if another one failed.
  const failed = (await Promise.allSettled(lanes)).find((lane) => lane.status === "rejected");
  if (failed) throw failed.reason;
  if (probes.length > 0) parts.bus.broadcast("checks-changed");
  return probes.length;
}

export async function start(parts: KindParts): Promise<AsyncDisposable> {
  const { config, backing, clock, log } = parts;
  await using stack = new AsyncDisposableStack();
  const keyring = config.secretsKeys && new Keyring(config.secretsKeys);
  const models = stack.use(await modelsOf(parts, { keyring }));
  const settled = { clock, clocks: launchCheckClocks(config.clocks), providerKey: models.serviceKey };
  const calls = { call: providerCalls(settled), embed: embeddingCalls(settled) };
  const lock = () => tryAdvisoryLock("weir prober", { ...backing, clock });
  stack.use(startProber({ ...backing, models, ...calls, clock, log, lock }));
  return stack.move();
}

interface Probe {
  model: Model;
  route: Route;
}

function probesOf({ models }: ProberParts): Probe[] {
  return models.list().flatMap((model) => models.pendingChecks(model).map((route) => ({ model, route })));
}

async function probe(model: Model, route: Route, parts: ProberParts): Promise<void> {
  const now = parts.clock.now();
  const ticket = probeTicket({ generation: newGenerationId(now), request: newRequestId(now), nowMs: now });
  const { id, embeddings: facts } = model;
  const code = facts
    ? await embeddingsLaunchCheck({ ticket, facts, route }, parts.embed)
    : await launchCheck({ ticket, model: id, route }, parts.call);
  parts.log.info({ event: "launch_check", model: model.id, provider: route.provider.id, passed: code === null, code });
  await recordLaunchCheck(parts.sql, {
    model: model.id,
    provider: route.provider.id,
    entry: route.entry,
    passed: code === null,
    code,
  });
}
