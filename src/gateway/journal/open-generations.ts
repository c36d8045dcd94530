/** Generations that this process admitted and the ledger has not confirmed, and the last minute's admissions. Counters are rebuilt from them. */
import type { Hold } from "../../backing/counters.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { holdMs, rateWindowMs } from "../../backing/limits.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { OpenReport } from "./open-report.ts";
import type { GenerationIntent } from "./spool-line.ts";

/** What a generation reserves: by a hold of its own, or a part of a block's. */
interface OpenHold extends Hold {
  block?: GenerationId;
}

interface OpenWorkspace {
  holds: Map<GenerationId, OpenHold>;
  admissions: Map<KeyId, Admissions>;
}

interface Admissions {
  /** Milliseconds of the counters' clock. */
  times: number[];
  /** By this process's monotonic clock, since it has no current reading of the counters' clock. */
  addedAt: number;
}

/** Old admissions of a key are dropped once in so many additions: they are not in the processor's cache. */
const forgetEvery = 128;

export class OpenGenerations {
  readonly #workspaces = new Map<WorkspaceId, OpenWorkspace>();
  readonly #workspaceOf = new Map<GenerationId, WorkspaceId>();
  #reserved: NanoUsd = 0n;

  /** Count of generations that are admitted and not in the ledger yet. */
  get size(): number {
    return this.#workspaceOf.size;
  }

  /** The sum of their holds. */
  get reserved(): NanoUsd {
    return this.#reserved;
  }

  /** The time of an admission. @param monotonicMs time of the addition */
  addTime({ workspace, key, admittedAt }: Pick<GenerationIntent, "workspace" | "key" | "admittedAt">, monotonicMs: number): void {
    const open = this.#open(workspace);
    const known = open.admissions.get(key);
    const admissions = known ?? { times: [], addedAt: 0 };
    if (!known) open.admissions.set(key, admissions);
    admissions.times.push(admittedAt);
    admissions.addedAt = monotonicMs;
    forgetBefore(admissions.times, admittedAt - rateWindowMs);
  }

  add(intent: GenerationIntent): void {
    const { generation, workspace, key, month, fingerprint, admittedAt, block } = intent;
    const open = this.#open(workspace);
    const amount = BigInt(intent.amount);
    const hold = { generation, fingerprint, amount, key, month, admittedAt, deadline: admittedAt + holdMs };
    open.holds.set(generation, block === undefined ? hold : { ...hold, block });
    if (!this.#workspaceOf.has(generation)) this.#reserved += amount;
    this.#workspaceOf.set(generation, workspace);
  }

  /** Call it when the ledger has the generation. @returns what it reserved; undefined: it was not open */
  remove(generation: GenerationId): OpenHold | undefined {
    const workspace = this.#workspaceOf.get(generation);
    if (workspace === undefined) return undefined;
    this.#workspaceOf.delete(generation);
    const holds = this.#workspaces.get(workspace)?.holds;
    const hold = holds?.get(generation);
    this.#reserved -= hold?.amount ?? 0n;
    holds?.delete(generation);
    return hold;
  }

  /** Without what blocks hold. */
  report(workspace: WorkspaceId): Omit<OpenReport, "blocks"> {
    const open = this.#workspaces.get(workspace);
    if (!open) return { holds: [], windows: [] };
    return {
      holds: [...open.holds.values()].filter(({ block }) => block === undefined),
      windows: [...open.admissions].map(([key, { times }]) => ({ key, times: [...times] })),
    };
  }

  /** Drops workspaces without open generations and without admissions added after `before` (monotonic ms). */
  prune(before: number): void {
    for (const [workspace, open] of this.#workspaces) {
      for (const [key, { addedAt }] of open.admissions) if (addedAt < before) open.admissions.delete(key);
      if (open.holds.size === 0 && open.admissions.size === 0) this.#workspaces.delete(workspace);
    }
  }

  #open(workspace: WorkspaceId): OpenWorkspace {
    const known = this.#workspaces.get(workspace);
    const open = known ?? { holds: new Map(), admissions: new Map() };
    if (!known) this.#workspaces.set(workspace, open);
    return open;
  }
}

/** Runs seldom and drops at most half of the list, so that adding stays cheap for a key with ten thousand admissions a minute. */
function forgetBefore(times: number[], before: number): void {
  if (times.length % forgetEvery !== 0) return;
  const middle = times[times.length >> 1];
  if (middle !== undefined && middle < before) times.splice(0, times.length >> 1);
}
