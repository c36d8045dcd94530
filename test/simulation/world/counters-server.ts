/** The counters' store: the real embedded counters, called over the network. It can lose what a real store may lose. */
import { CountersUnavailableError, type AdmitBatch, type AdmitBatchReply, type Counters } from "../../../src/backing/counters.ts";
import { AdmissionLog } from "../../../src/backing/embedded/counters/admission-log.ts";
import type { WorkspaceCounters } from "../../../src/backing/embedded/counters/workspace-counters.ts";
import { EmbeddedCounters } from "../../../src/backing/embedded/counters.ts";
import type { Clock } from "../../../src/kernel/clock.ts";
import { countersDeadlineMs } from "../../../src/backing/limits.ts";
import { dumpEmbedded } from "../../support/counters/embedded.ts";
import type { Dump } from "../../support/counters/harness.ts";
import { forwardTo } from "../../support/gateway/admission-worker.ts";
import type { Host } from "./host.ts";
import type { Recorder } from "../recorder.ts";
import type { Scheduler } from "../scheduler.ts";
import { Server } from "./server.ts";
import type { NetworkConditions } from "./network-conditions.ts";

interface CountersServerParts {
  scheduler: Scheduler;
  conditions: NetworkConditions;
  recorder: Recorder;
  startMs: number;
}

export class CountersServer {
  readonly server: Server;
  /** The sum of all changes of its clock, in milliseconds. */
  steppedMs = 0;
  #counters: EmbeddedCounters;
  /** Workspaces whose counters were lost and are not loaded again yet. */
  #lost = new Set<string>();
  readonly #parts: CountersServerParts;

  constructor(parts: CountersServerParts) {
    this.#parts = parts;
    this.#counters = new EmbeddedCounters(this.#clock());
    const unavailable = () => new CountersUnavailableError("the simulated store did not answer");
    this.server = new Server({ ...parts, deadlineMs: countersDeadlineMs, unavailable });
  }

  now(): number {
    return Math.floor(this.#parts.startMs + this.#parts.scheduler.now + this.steppedMs);
  }

  /** The counters as one process calls them. */
  clientOf(host: Host): Counters {
    const local = forwardTo(() => this.#counters);
    return {
      admitMany: (batch) => this.server.call(host, () => this.#admitMany(batch)),
      resolveMany: (batch) => this.server.call(host, () => local.resolveMany(batch)),
      beginLoad: (workspace) => this.server.call(host, () => local.beginLoad(workspace)),
      load: (load) => this.server.call(host, () => local.load(load)),
      forget: (workspace, sequence) => this.server.call(host, () => local.forget(workspace, sequence)),
      holds: (workspace) => this.server.call(host, () => local.holds(workspace)),
      overdue: (workspace, limit) => this.server.call(host, () => local.overdue(workspace, limit)),
      read: (workspace, key) => this.server.call(host, () => local.read(workspace, key)),
      now: () => this.server.call(host, () => local.now()),
      [Symbol.asyncDispose]: async () => {},
    };
  }

  dump(workspace: string): Dump {
    return dumpEmbedded(this.#counters, { workspace, clockMs: this.now() });
  }

  /** The number of holds in all workspaces. */
  get holds(): number {
    return [...this.#counters.workspaces.values()].reduce((count, { holds }) => count + holds.size, 0);
  }

  /** Whether all lost workspaces are loaded again. */
  get isWhole(): boolean {
    for (const name of this.#lost) if (this.#counters.workspaces.get(name)?.ready) this.#lost.delete(name);
    return this.#lost.size === 0;
  }

  /** Loses all data. */
  wipe(): void {
    this.#markLost();
    this.#counters = new EmbeddedCounters(this.#clock());
  }

  /** Restarts with its data, which has to be loaded again. */
  restart(): void {
    this.#markLost();
    for (const space of this.#counters.workspaces.values()) Object.assign(space, { ready: false, loading: null });
  }

  /** @returns a function that restores the present data, as after a crash of the machine */
  remember(): () => void {
    const copies = [...this.#counters.workspaces].map(([name, space]) => [name, copyOf(space)] as const);
    return () => {
      this.wipe();
      for (const [name, copy] of copies) this.#counters.workspaces.set(name, copy);
      this.restart();
    };
  }

  #markLost(): void {
    for (const [name, { ready }] of this.#counters.workspaces) if (ready) this.#lost.add(name);
  }

  async #admitMany(batch: AdmitBatch): Promise<AdmitBatchReply> {
    const { recorder } = this.#parts;
    const workspaces = [...new Set(batch.requests.map(({ workspace }) => workspace))];
    const before = recorder.isInspected() ? workspaces.map((workspace) => this.dump(workspace)) : null;
    const reply = await this.#counters.admitMany(batch);
    for (const [index, one] of reply.replies.entries()) {
      const request = batch.requests[index];
      if (!request || one.outcome !== "admitted" || one.replay) continue;
      recorder.note({ kind: "reserved", generation: request.generation, workspace: request.workspace, available: one.available });
    }
    const areRefused = reply.replies.every((one) => one.outcome !== "admitted" || one.replay);
    if (before && areRefused) {
      const why = reply.replies.map(({ outcome }) => outcome).join();
      recorder.note({ kind: "inspected", why, before, after: workspaces.map((workspace) => this.dump(workspace)) });
    }
    return reply;
  }

  #clock(): Clock {
    const { scheduler } = this.#parts;
    const never = () => () => {};
    return { now: () => this.now(), monotonic: () => scheduler.now, after: never, endOfTurn: never };
  }
}

function copyOf(space: WorkspaceCounters): WorkspaceCounters {
  const months = (all: WorkspaceCounters["months"]) => new Map([...all].map(([month, totals]) => [month, { ...totals }]));
  return {
    ...space,
    months: months(space.months),
    keyMonths: new Map([...space.keyMonths].map(([key, all]) => [key, months(all)])),
    budgets: new Map([...space.budgets].map(([name, counter]) => [name, { ...counter }])),
    logs: new Map([...space.logs].map(([key, log]) => [key, copyOfLog(log)])),
    holds: new Map(space.holds),
  };
}

function copyOfLog(log: AdmissionLog): AdmissionLog {
  const copy = new AdmissionLog();
  copy.merge(log.times);
  return copy;
}
