/** Generations that this process admitted and the ledger has not confirmed, and the last minute's admissions: what a rebuild asks for. */
import type { Hold } from "../../backing/counters.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { holdMs, rateWindowMs } from "../../backing/limits.ts";
import type { OpenReport } from "./open-report.ts";
import type { GenerationIntent } from "./spool-line.ts";

interface OpenWorkspace {
  holds: Map<GenerationId, Hold>;
  admissions: Map<KeyId, Admissions>;
}

interface Admissions {
  /** Milliseconds of the counters' clock. */
  times: number[];
  /** Of our monotonic clock: what the counters show meanwhile is not known here. */
  addedAt: number;
}

/** Admissions of a key: what is old is in no processor's cache, and is not looked at each time. */
const forgetEvery = 128;

export class OpenGenerations {
  readonly #workspaces = new Map<WorkspaceId, OpenWorkspace>();
  readonly #workspaceOf = new Map<GenerationId, WorkspaceId>();

  /** Admitted, and not in the ledger yet. */
  get size(): number {
    return this.#workspaceOf.size;
  }

  /** @param monotonicMs when */
  add(intent: GenerationIntent, monotonicMs: number): void {
    const { generation, workspace, key, month, fingerprint, admittedAt } = intent;
    const open = this.#open(workspace);
    const known = open.admissions.get(key);
    const admissions = known ?? { times: [], addedAt: 0 };
    if (!known) open.admissions.set(key, admissions);
    admissions.times.push(admittedAt);
    admissions.addedAt = monotonicMs;
    forgetBefore(admissions.times, admittedAt - rateWindowMs);
    open.holds.set(generation, {
      generation,
      fingerprint,
      amount: BigInt(intent.amount),
      key,
      month,
      admittedAt,
      deadline: admittedAt + holdMs,
    });
    this.#workspaceOf.set(generation, workspace);
  }

  /** The ledger has it. */
  remove(generation: GenerationId): void {
    const workspace = this.#workspaceOf.get(generation);
    if (workspace === undefined) return;
    this.#workspaceOf.delete(generation);
    this.#workspaces.get(workspace)?.holds.delete(generation);
  }

  report(workspace: WorkspaceId): OpenReport {
    const open = this.#workspaces.get(workspace);
    if (!open) return { holds: [], windows: [] };
    return {
      holds: [...open.holds.values()],
      windows: [...open.admissions].map(([key, { times }]) => ({ key, times: [...times] })),
    };
  }

  /** Drops workspaces that have nothing open and no admission that was added after `before` (monotonic ms). */
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

/** Seldom, and cuts in halves at most, so that adding stays cheap for a key with ten thousand admissions a minute. */
function forgetBefore(times: number[], before: number): void {
  if (times.length % forgetEvery !== 0) return;
  const middle = times[times.length >> 1];
  if (middle !== undefined && middle < before) times.splice(0, times.length >> 1);
}
