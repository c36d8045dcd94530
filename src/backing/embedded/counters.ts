/**
 * Counters of one process, in Maps. They stay written by hand so that `npm start` needs no Redis: each method runs in one turn of the event
 * loop, so it is atomic, and test/contracts/counters.ts holds them to the replies of the Lua functions. They end with the process: every
 * workspace is loaded again after a start.
 */
import { monthBounds, monthOf, type Clock, previousMonth, type Month } from "../../kernel/clock.ts";
import { newInternalId, type GenerationId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { byCodeUnits } from "../../kernel/text.ts";
import {
  type AdmitBatch,
  type AdmitBatchReply,
  type CountedBalance,
  type Counters,
  type Hold,
  type LendReply,
  type LendRequest,
  type ResolveBatch,
  type TakeBack,
  type WorkspaceLoad,
  assertCountable,
  assertCurrent,
  type AccountPush,
  type KeyMonthPush,
  countableBalance,
} from "../counters.ts";
import { rateWindowMs } from "../limits.ts";
import { admit, forgetLent, lend, pause as pauseLending, takeBack } from "./admission.ts";
import { pushBudget, newestBudget, forgetBudgets } from "./budgets.ts";
import {
  Tombstones,
  removeHold,
  unknownWorkspace,
  type WorkspaceCounters,
  admissionLog,
  addHold,
  keyMonthTotals,
  claimHolder,
  giveClaim,
  forgetClaims,
  monthTotals,
  type MonthTotals,
} from "./workspace-counters.ts";

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

  async forget(workspace: WorkspaceId, sequence: bigint, admittedAt = -Infinity): Promise<boolean> {
    const known = this.#space(workspace);
    const { ready } = known;
    if (ready && known.sequence < sequence) return false;
    if (ready && known.loadedAt < admittedAt && admittedAt <= this.#clock.now()) return false;
    Object.assign(known, { ready: false, loading: null });
    return ready;
  }

  async holds(workspace: WorkspaceId): Promise<Hold[]> {
    return [...this.#space(workspace).holds.values()].toSorted((a, b) => byCodeUnits(a.generation, b.generation));
  }

  async overdue(workspace: WorkspaceId, limit: number): Promise<Hold[]> {
    const now = this.#clock.now();
    const passed = [...this.#space(workspace).holds.values()].filter(({ deadline }) => deadline <= now);
    return passed.toSorted((a, b) => a.deadline - b.deadline || byCodeUnits(a.generation, b.generation)).slice(0, limit);
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

  /** Drops old claims, and windows of unused keys, a minute late in case the clock is set back. */
  #tidyLogs(): void {
    if (this.#clock.monotonic() < this.#tidiedAt + rateWindowMs) return;
    this.#tidiedAt = this.#clock.monotonic();
    const idleSince = this.#clock.now() - 2 * rateWindowMs;
    for (const { logs, lending, claims } of this.workspaces.values()) {
      for (const [key, { newest }] of logs) if (newest < idleSince) logs.delete(key);
      forgetLent(lending, this.#clock.now());
      forgetClaims(claims, this.#clock.now());
    }
  }
}

/**
 * Makes a workspace ready: all but its windows is written again from the ledger's values and the given holds.
 * @returns the workspace that replaces `known`
 */
function load(
  known: WorkspaceCounters,
  { account, budgets = [], holds, windows, claims = [] }: WorkspaceLoad,
  { now, tombstones }: { now: number; tombstones: Tombstones },
): WorkspaceCounters {
  const { logs, lending, claims: held } = known;
  const space = { ...unknownWorkspace(), ready: true, loadedAt: now, logs, lending, claims: held, ...newestHead(known, account) };
  for (const { month, spent } of account.months) {
    const before = known.months.get(month);
    const newest = before && before.version > account.sequence ? before : { spent, version: account.sequence };
    space.months.set(month, { spent: newest.spent, version: newest.version, held: 0n });
  }
  for (const { name, ...total } of budgets) {
    space.budgets.set(name, newestBudget(known.budgets.get(name), { ...total, version: account.sequence }));
  }
  const { workspace } = account;
  const isResolved = (generation: GenerationId): boolean => tombstones.find({ workspace, generation }, now) !== null;
  for (const { generation, hasEnded } of claims) {
    if (hasEnded && !isResolved(generation)) tombstones.leave({ workspace, generation }, "settled", now);
  }
  for (const hold of holds) {
    if (!isResolved(hold.generation) && !space.holds.has(hold.generation)) addHold(space, hold);
  }
  for (const { key, times } of windows) {
    const inWindow = times.filter((time) => time > now - rateWindowMs).toSorted((a, b) => a - b);
    admissionLog(space, key).merge(inWindow);
  }
  for (const one of claims) {
    if (!space.holds.has(claimHolder(held, one.claim) ?? "")) giveClaim(held, one, now);
  }
  return space;
}

/** A push may have arrived after the loader read the ledger: of two values the one with the newer version stays. */
function newestHead(
  known: WorkspaceCounters,
  { balance, sequence }: AccountPush,
): Pick<WorkspaceCounters, "balance" | "sequence"> {
  return known.sequence > sequence ? { balance: known.balance, sequence: known.sequence } : { balance, sequence };
}

/** The ledger's absolute values, stored where they are newer than the known ones. */
function pushAccount(space: WorkspaceCounters, { balance, sequence, months }: AccountPush, now: number): void {
  if (sequence > space.sequence) {
    space.balance = countableBalance(balance);
    space.sequence = sequence;
  }
  let keepFrom: Month = "";
  for (const { month, spent } of months) {
    const totals = monthTotals(space.months, month);
    const oldest = previousMonth(month);
    const wasKnown = totals.spent !== null;
    pushSpent(totals, { spent, version: sequence, isOld: sequence < space.sequence });
    if (!wasKnown && totals.spent !== null && oldest > keepFrom) keepFrom = oldest;
  }
  if (keepFrom === "") return;
  forgetMonthsBefore(space, keepFrom);
  forgetBudgets(space.budgets, now);
}

function pushKeyMonth(space: WorkspaceCounters, { key, month, spent, version, sequence }: KeyMonthPush): void {
  pushSpent(keyMonthTotals(space, key, month), { spent, version, isOld: sequence < space.sequence });
}

/** A known total is fenced by its own version; an unknown one is not set by a push that is older than the balance. */
function pushSpent(totals: MonthTotals, { spent, version, isOld }: { spent: bigint; version: bigint; isOld: boolean }): void {
  if (version <= totals.version || (totals.spent === null && isOld)) return;
  totals.spent = spent;
  totals.version = version;
}

/** Months that ended long ago would otherwise stay for ever; a month with a hold stays until that is released. */
function forgetMonthsBefore(space: WorkspaceCounters, oldest: Month): void {
  for (const months of [space.months, ...space.keyMonths.values()]) {
    for (const [month, totals] of months) {
      if (month >= oldest) continue;
      totals.spent = null;
      totals.version = -1n;
      if (totals.held === 0n) months.delete(month);
    }
  }
}
