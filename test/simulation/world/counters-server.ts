/** The counters' store: the real embedded counters, called over the network. It can lose what a real store may lose. */
import {
  CountersUnavailableError,
  type AdmitBatch,
  type AdmitBatchReply,
  type AdmitReply,
  type Counters,
  type LendReply,
  type LendRequest,
  type ResolveBatch,
} from "../../../src/backing/counters.ts";
import { AdmissionLog, unknownWorkspace, type WorkspaceCounters } from "../../../src/backing/embedded/workspace-counters.ts";
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
  /** Workspaces whose part of the store does not answer. */
  readonly down = new Set<string>();
  #counters: EmbeddedCounters;
  /** Blocks that were ever lent. */
  readonly #lent = new Set<string>();
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
    const callFor = <Reply>(workspace: string, work: () => Promise<Reply>): Promise<Reply> =>
      this.server.call(host, () => (this.down.has(workspace) ? Promise.reject(partDown()) : work()));
    return {
      admitMany: (batch) => this.server.call(host, () => this.#admitMany(batch)),
      resolveMany: (batch) => this.server.call(host, () => this.#resolveMany(batch)),
      lend: (request) => callFor(request.workspace, () => this.#lend(request)),
      takeBack: (back) => callFor(back.workspace, () => local.takeBack(back)),
      beginLoad: (workspace) => callFor(workspace, () => local.beginLoad(workspace)),
      load: (load) => callFor(load.account.workspace, () => local.load(load)),
      forget: (workspace, ...rest) => callFor(workspace, () => local.forget(workspace, ...rest)),
      holds: (workspace) => callFor(workspace, () => local.holds(workspace)),
      overdue: (workspace, limit) => callFor(workspace, () => local.overdue(workspace, limit)),
      read: (workspace, key, blocks) => callFor(workspace, () => local.read(workspace, key, blocks)),
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

  /** @returns a function that restores the current data, as after a crash of the machine */
  remember(): () => void {
    const copies = [...this.#counters.workspaces].map(([name, space]) => [name, copyOf(space)] as const);
    return () => {
      this.wipe();
      for (const [name, copy] of copies) this.#counters.workspaces.set(name, copy);
      this.restart();
    };
  }

  /** @returns a function that restores the current data of a workspace, as when a replica takes over without the last writes */
  replicaOf(workspace: string): () => void {
    const space = this.#counters.workspaces.get(workspace);
    const copy = space === undefined ? unknownWorkspace() : copyOf(space);
    return () => {
      this.down.delete(workspace);
      if (this.#counters.workspaces.get(workspace)?.ready) this.#lost.add(workspace);
      this.#counters.workspaces.set(workspace, { ...copy, ready: false, loading: null });
    };
  }

  #markLost(): void {
    for (const [name, { ready, holds }] of this.#counters.workspaces) if (ready || holds.size > 0) this.#lost.add(name);
  }

  /** Decides the requests whose part is up, although others are down. */
  async #admitMany(batch: AdmitBatch): Promise<AdmitBatchReply> {
    const places = [...batch.requests.keys()].filter((place) => !this.down.has(batch.requests[place]?.workspace ?? ""));
    if (places.length === batch.requests.length) return this.#admitHere(batch);
    if (places.length === 0) throw partDown();
    const here = await this.#admitHere({ ...batch, requests: batch.requests.filter((_, place) => places.includes(place)) });
    const replies = batch.requests.map((): AdmitReply => ({ outcome: "unreachable" }));
    for (const [index, reply] of here.replies.entries()) replies[places[index] ?? 0] = reply;
    return { now: here.now, replies };
  }

  async #lend(request: LendRequest): Promise<LendReply> {
    const reply = await this.#counters.lend(request);
    const { block, workspace, key } = request;
    if (reply.outcome === "kept" || this.#lent.has(block)) return reply;
    this.#lent.add(block);
    const { amount, places, lifeMs } = reply;
    this.#parts.recorder.note({ kind: "lent", block, workspace, key, amount, places, lifeMs });
    return reply;
  }

  async #resolveMany({ resolve, accounts, keyMonths, budgets = [] }: ResolveBatch): Promise<bigint[]> {
    const isUp = ({ workspace }: { workspace: string }): boolean => !this.down.has(workspace);
    const some = { resolve: resolve.filter(isUp), accounts: accounts.filter(isUp), keyMonths: keyMonths.filter(isUp) };
    const freed = await this.#counters.resolveMany({ ...some, budgets: budgets.filter(isUp) });
    if ([...resolve, ...accounts, ...keyMonths, ...budgets].some((one) => !isUp(one))) throw partDown();
    return freed;
  }

  async #admitHere(batch: AdmitBatch): Promise<AdmitBatchReply> {
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

function partDown(): Error {
  return new CountersUnavailableError("a part of the simulated store did not answer");
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
    claims: structuredClone(space.claims),
    lending: copyOfLending(space.lending),
  };
}

function copyOfLending({ keys, ...lending }: WorkspaceCounters["lending"]): WorkspaceCounters["lending"] {
  const copies = [...keys].map(([key, { blocks, pausedUntil }]) => [key, { blocks: new Map(blocks), pausedUntil }] as const);
  return { ...lending, keys: new Map(copies) };
}

function copyOfLog(log: AdmissionLog): AdmissionLog {
  const copy = new AdmissionLog();
  copy.merge(log.times);
  return copy;
}
