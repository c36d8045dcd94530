/**
 * Counters of one process, in Maps. They stay written by hand so that `npm start` needs no Redis: each method runs in one turn of
 * the event loop, hence atomically, and test/contracts/counters.ts holds them to the replies of the Lua functions.
 */
import type {
  AdmitBatch,
  AdmitBatchReply,
  CountedBalance,
  Counters,
  Hold,
  LendReply,
  LendRequest,
  ResolveBatch,
  TakeBack,
  WorkspaceLoad,
} from "../counters.ts";
import { assertCountable } from "../credit-bound.ts";
import { assertCurrent } from "../stale-load.ts";
import { monthBounds, monthOf, type Clock } from "../../kernel/clock.ts";
import { newInternalId, type GenerationId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { rateWindowMs } from "../limits.ts";
import { admit } from "./counters/admit.ts";
import { forgetLent, lend, pause as pauseLending, takeBack } from "./counters/blocks.ts";
import { pushBudget } from "./counters/budgets.ts";
import { load } from "./counters/load.ts";
import { pushAccount, pushKeyMonth } from "./counters/push.ts";
import { Tombstones } from "./counters/tombstones.ts";
import { removeHold, unknownWorkspace, type WorkspaceCounters } from "./counters/workspace-counters.ts";

/** They end with the process: every workspace is loaded again after a start. */
export class EmbeddedCounters implements Counters {
  readonly workspaces = new Map<WorkspaceId, WorkspaceCounters>();
  readonly #tombstones = new Tombstones();
  readonly #clock: Clock;
  #tidiedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#tidiedAt = clock.monotonic();
  }

  async admitMany({ month, day = 0, requests }: AdmitBatch): Promise<AdmitBatchReply> {
    this.#tidyLogs();
    const now = this.#now();
    const moment = { now, month, day, ...monthBounds(month), tombstones: this.#tombstones };
    return { now, replies: requests.map((request) => admit(this.#space(request.workspace), request, moment)) };
  }

  async resolveMany({ resolve, accounts, keyMonths, budgets = [] }: ResolveBatch): Promise<NanoUsd[]> {
    const now = this.#now();
    const freed = resolve.map((one) => {
      this.#tombstones.leave(one, one.as, now);
      return removeHold(this.#space(one.workspace), one.generation);
    });
    for (const push of accounts) pushAccount(this.#space(push.workspace), push, now);
    for (const push of keyMonths) pushKeyMonth(this.#space(push.workspace), push);
    for (const push of budgets) pushBudget(this.#space(push.workspace), push, now);
    return freed;
  }

  async lend(request: LendRequest): Promise<LendReply> {
    this.#tidyLogs();
    const { month } = request;
    const moment = { now: this.#now(), month, day: 0, ...monthBounds(month), tombstones: this.#tombstones };
    return lend(this.#space(request.workspace), request, moment);
  }

  async takeBack({ workspace, returns, pause }: TakeBack): Promise<void> {
    const now = this.#now();
    const space = this.#space(workspace);
    for (const one of returns) {
      if (takeBack(space, one, now)) this.#tombstones.leave({ workspace, generation: one.block }, "void", now);
    }
    if (pause) pauseLending(space.lending, pause.key, now);
  }

  async beginLoad(workspace: WorkspaceId): Promise<string | null> {
    const space = this.#space(workspace);
    return space.ready ? null : (space.loading ??= newInternalId(this.#clock.now()));
  }

  async load(input: WorkspaceLoad): Promise<void> {
    assertCountable(input.account);
    const now = this.#now();
    const { workspace } = input.account;
    const known = this.#space(workspace);
    if (known.ready) return;
    assertCurrent(input, known.loading);
    this.workspaces.set(workspace, load(known, input, { now, tombstones: this.#tombstones }));
  }

  async forget(workspace: WorkspaceId, sequence: bigint): Promise<boolean> {
    const known = this.#space(workspace);
    const { ready } = known;
    if (ready && known.sequence < sequence) return false;
    Object.assign(known, { ready: false, loading: null });
    return ready;
  }

  async holds(workspace: WorkspaceId): Promise<Hold[]> {
    return [...this.#space(workspace).holds.values()].toSorted((a, b) => compare(a.generation, b.generation));
  }

  async overdue(workspace: WorkspaceId, limit: number): Promise<Hold[]> {
    const now = this.#clock.now();
    const passed = [...this.#space(workspace).holds.values()].filter(({ deadline }) => deadline <= now);
    return passed.toSorted((a, b) => a.deadline - b.deadline || compare(a.generation, b.generation)).slice(0, limit);
  }

  async read(
    workspace: WorkspaceId,
    key: KeyId | null,
    blocks: readonly GenerationId[] = [],
  ): Promise<CountedBalance & { now: number }> {
    const now = this.#clock.now();
    const { ready, balance, reserved, lent, sequence, keyMonths, holds } = this.#space(workspace);
    if (!ready) return { now, account: null, keySpent: null, lent: 0n, blocks: new Map() };
    const keySpent = key === null ? null : (keyMonths.get(key)?.get(monthOf(now))?.spent ?? null);
    const ofBlocks = new Map(blocks.map((block) => [block, holds.get(block)?.amount ?? 0n]));
    return { now, account: { balance, reserved, available: balance - reserved, sequence }, keySpent, lent, blocks: ofBlocks };
  }

  now(): Promise<number> {
    return Promise.resolve(this.#clock.now());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.workspaces.clear();
  }

  /** The time of a decision; tombstones that have expired by then are dropped. */
  #now(): number {
    const now = this.#clock.now();
    this.#tombstones.dropExpired(now);
    return now;
  }

  #space(workspace: WorkspaceId): WorkspaceCounters {
    const known = this.workspaces.get(workspace);
    if (known) return known;
    const unknown = unknownWorkspace();
    this.workspaces.set(workspace, unknown);
    return unknown;
  }

  /** Drops windows of unused keys, a minute late in case the clock is set back. */
  #tidyLogs(): void {
    if (this.#clock.monotonic() < this.#tidiedAt + rateWindowMs) return;
    this.#tidiedAt = this.#clock.monotonic();
    const idleSince = this.#clock.now() - 2 * rateWindowMs;
    for (const { logs, lending } of this.workspaces.values()) {
      for (const [key, { newest }] of logs) if (newest < idleSince) logs.delete(key);
      forgetLent(lending, this.#clock.now());
    }
  }
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
