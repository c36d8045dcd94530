/**
 * One decision of the embedded counters: replay, model, window, money, budgets, in that order. Every check precedes the first counting
 * write: a refusal drops expired times and changes nothing else. Blocks are lent and taken back by the same numbers: their credit is a
 * hold, their places count in the window until the times of their requests are known. redis/scripts/admit.lua and blocks.lua are the same
 * in Lua; test/contracts/counters.ts holds both to the same replies. Change both together.
 */
import type { KeyId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { AdmitReply, AdmitRequest, Hold, BlockReturn, LendReply, LendRequest } from "../counters.ts";
import { holdMs, blockPauseMs, blockPlacesMin, blockRateMin, blockReturnMsMax, blockShare, rateWindowMs } from "../limits.ts";
import { holdsOf, isOutsideBudgets, openBudgets, passedBudget, type BudgetCounter } from "./budgets.ts";
import {
  type AdmissionLog,
  type LentPlaces,
  isRecallable,
  lentAmount,
  lentPlaces,
  type Moment,
  addHold,
  admissionLog,
  keyMonthTotals,
  monthTotals,
  type MonthTotals,
  type WorkspaceCounters,
  type Lending,
  type LentToKey,
  changeHold,
  claimHolder,
  giveClaim,
} from "./workspace-counters.ts";

const noBudgets: BudgetCounter[] = [];

export function admit(space: WorkspaceCounters, request: AdmitRequest, moment: Moment): AdmitReply {
  if (!space.ready) return { outcome: "not_ready", what: "workspace" };
  const hold = space.holds.get(request.generation);
  if (hold) return replay(space, hold, request, moment);
  const { now, month } = moment;
  const resolved = moment.tombstones.find(request, now);
  if (resolved !== null) return { outcome: "already_resolved", as: resolved };
  if (request.deadline !== null && now > request.deadline) return { outcome: "late" };
  const isInMonth = now >= moment.startMs && now < moment.endMs;
  if (!isInMonth || (request.budgets && isOutsideBudgets(request.budgets, moment))) return { outcome: "wrong_month", now };
  if (request.claim && isClaimed(space, request, moment)) return { outcome: "claimed" };

  const log = admissionLog(space, request.key);
  const at = log.advance(now);
  const lent = lentPlaces(space.lending, request.key, now);
  const window = log.shown(request.requestsPerMinute, now, lent);
  if (log.count + lent.places >= request.requestsPerMinute) {
    const isLent = lent.places > 0 && isRecallable(space.lending, request.key, now);
    return { outcome: "rate_limited", retryAfterMs: log.untilOldestLeaves(now, lent), window, ...(isLent && { isLent }) };
  }
  if (request.modelRefusal !== null) return { outcome: "model_refused", reason: request.modelRefusal, window };
  const spaceMonth = monthTotals(space.months, month);
  if (spaceMonth.spent === null) return { outcome: "not_ready", what: "month" };
  const keyMonth = keyMonthTotals(space, request.key, month);
  if (keyMonth.spent === null) return { outcome: "not_ready", what: "key" };
  const opened = request.budgets
    ? openBudgets(space.budgets, request.budgets, { at, periods: moment })
    : { counters: noBudgets, at };
  if (opened === "outside") return { outcome: "wrong_month", now };
  if (opened === "unknown") return { outcome: "not_ready", what: "budget" };
  const refusal = refuseMoney(space, request, { keyMonth, spaceMonth, now }) ?? refuseBudget(request, opened.counters);
  if (refusal) return { ...refusal, window };
  return reserve(space, request, { log, lent, ...opened, moment });
}

/** Whether another generation has the claim: it is open, or it ended lately and was not void. */
function isClaimed(
  { claims, holds }: WorkspaceCounters,
  { claim, workspace, generation }: AdmitRequest,
  { tombstones, now }: Moment,
): boolean {
  const holder = claim && claimHolder(claims, claim);
  if (!holder || holder === generation) return false;
  if (holds.has(holder)) return true;
  const resolved = tombstones.find({ workspace, generation: holder }, now);
  return resolved !== null && resolved !== "void";
}

function replay(space: WorkspaceCounters, hold: Hold, request: AdmitRequest, { now }: Moment): AdmitReply {
  if (hold.fingerprint !== request.fingerprint) return { outcome: "conflict" };
  const log = admissionLog(space, request.key);
  log.advance(now);
  const window = log.shown(request.requestsPerMinute, now, lentPlaces(space.lending, request.key, now));
  return admitted(space, hold, { window, replay: true });
}

function admitted(
  space: WorkspaceCounters,
  { admittedAt, month, amount }: Hold,
  rest: Pick<AdmitReply & { outcome: "admitted" }, "window" | "replay">,
): AdmitReply {
  return { outcome: "admitted", at: admittedAt, month, amount, available: space.balance - space.reserved, ...rest };
}

/** Not a reply yet: it lacks the rate window. */
type MoneyRefusal = { isLent?: true } & (
  | { outcome: "insufficient_credit"; available: bigint; balance: bigint }
  | { outcome: "key_spend_limit_exceeded" | "account_spend_limit_exceeded"; headroom: bigint; budget?: string }
);

/** Credit, then the key's month, then the workspace's; open holds count against all three. */
function refuseMoney(
  space: WorkspaceCounters,
  { amount, key, keyLimit, workspaceLimit }: AdmitRequest,
  { keyMonth, spaceMonth, now }: { keyMonth: MonthTotals; spaceMonth: MonthTotals; now: number },
): MoneyRefusal | null {
  const { lending, balance } = space;
  const available = balance - space.reserved;
  const withLent = (left: bigint, of: KeyId | null) => left + lentAmount(lending, of, now) >= amount && { isLent: true as const };
  if (balance <= 0n) return { outcome: "insufficient_credit", available, balance };
  if (available < amount) return { outcome: "insufficient_credit", available, balance, ...withLent(available, null) };
  const ofKey = headroom(keyLimit, keyMonth);
  if (ofKey !== null && amount > ofKey)
    return { outcome: "key_spend_limit_exceeded", headroom: positive(ofKey), ...withLent(ofKey, key) };
  const ofSpace = headroom(workspaceLimit, spaceMonth);
  if (ofSpace !== null && amount > ofSpace)
    return { outcome: "account_spend_limit_exceeded", headroom: positive(ofSpace), ...withLent(ofSpace, null) };
  return null;
}

function headroom(limit: bigint | null, { spent, held }: MonthTotals): bigint | null {
  return limit === null ? null : limit - (spent ?? 0n) - held;
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function refuseBudget(request: AdmitRequest, counters: readonly BudgetCounter[]): MoneyRefusal | null {
  const passed = passedBudget(request, counters);
  return passed && { outcome: passed.budget.refusal, headroom: passed.headroom, budget: passed.budget.name };
}

interface Reserving {
  log: AdmissionLog;
  lent: LentPlaces;
  at: number;
  counters: BudgetCounter[];
  moment: Moment;
}

function reserve(
  space: WorkspaceCounters,
  request: AdmitRequest,
  { log, lent, at, counters, moment: { month, now } }: Reserving,
): AdmitReply {
  const { generation, fingerprint, amount, key, requestsPerMinute } = request;
  const hold: Hold = { generation, fingerprint, amount, key, month, admittedAt: at, deadline: at + holdMs };
  if (counters.length > 0) hold.budgets = holdsOf(request, counters);
  log.add(at);
  addHold(space, hold);
  if (request.claim) giveClaim(space.claims, { claim: request.claim, generation }, now);
  return admitted(space, hold, { window: log.shown(requestsPerMinute, now, lent), replay: false });
}

// Blocks

export function lend(space: WorkspaceCounters, request: LendRequest, moment: Moment): LendReply {
  const kept: LendReply = { outcome: "kept" };
  const { lending } = space;
  const { key, block, requestsPerMinute, deadline } = request;
  const { now, month, endMs, tombstones } = moment;
  if (!space.ready || tombstones.find({ workspace: request.workspace, generation: block }, now) !== null) return kept;
  if ((deadline !== null && now > deadline) || now < moment.startMs || now >= endMs) return kept;
  const log = admissionLog(space, key);
  log.advance(now);
  const known = lending.keys.get(key)?.blocks.get(block);
  const hold = space.holds.get(block);
  if (known && hold?.month === month) return lent({ ...known, at: hold.admittedAt }, { space, request, log, now });
  if (hold || lending.pausedUntil > now || !isRecallable(lending, key, now)) return kept;
  // The clock was set back: requests of a block would count at times that the window has already passed.
  if (log.newest > now) return kept;
  const { places: lentAlready } = lentPlaces(lending, key, now);
  const places = freePlaces(requestsPerMinute, { used: log.count + lentAlready, wanted: request.places });
  const room = roomOf(space, request, month);
  if (places < blockPlacesMin || room === null) return kept;
  const share = room / BigInt(blockShare);
  const amount = request.amount < share ? request.amount : share;
  if (amount < request.least) return kept;
  // It ends with the month.
  const countsUntil = now + Math.min(request.lifeMs, endMs - now) + rateWindowMs;
  addHold(space, holdOf({ ...request, amount, month, now }));
  ofKey(lending, key).blocks.set(block, { places, amount, countsUntil });
  note(lending, { now, amount, countsUntil });
  return lent({ places, amount, countsUntil, at: now }, { space, request, log, now });
}

/** @returns whether nothing of it is left to be released */
export function takeBack(space: WorkspaceCounters, { key, block, keep, times }: BlockReturn, now: number): boolean {
  const known = space.lending.keys.get(key)?.blocks;
  if (known?.delete(block)) {
    const log = admissionLog(space, key);
    // A time ahead of the clock was read from another clock, and is before now. If the clock was set back, now is the newest time.
    const latest = log.advance(now);
    log.insert(times.map((time) => Math.min(time, latest)));
  }
  const hold = space.holds.get(block);
  if (!hold) return keep === 0n;
  if (keep < hold.amount || keep === 0n) changeHold(space, hold, keep);
  return keep === 0n;
}

export function pause(lending: Lending, key: KeyId | null, now: number): void {
  if (key === null) lending.pausedUntil = now + blockPauseMs;
  else ofKey(lending, key).pausedUntil = now + blockPauseMs;
}

/** Drops keys whose blocks no longer count. */
export function forgetLent({ keys }: Lending, now: number): void {
  for (const [key, { blocks, pausedUntil }] of keys) {
    for (const [block, { countsUntil }] of blocks) if (countsUntil <= now) blocks.delete(block);
    if (blocks.size === 0 && pausedUntil <= now) keys.delete(key);
  }
}

/** A worker that asks again may know a newer record than the first one did. The block ends when the first one said. */
function lent(
  { places, amount, countsUntil, at }: { places: number; amount: NanoUsd; countsUntil: number; at: number },
  { space, request, log, now }: { space: WorkspaceCounters; request: LendRequest; log: AdmissionLog; now: number },
): LendReply {
  const window = log.shown(request.requestsPerMinute, now, lentPlaces(space.lending, request.key, now));
  return { outcome: "lent", at, amount, places, lifeMs: Math.max(0, countsUntil - rateWindowMs - at), window };
}

/** Half of the window stays for requests that workers decide. */
function freePlaces(limit: number, { used, wanted }: { used: number; wanted: number }): number {
  if (limit < blockRateMin) return 0;
  return Math.min(wanted, Math.floor(limit / 2) - used, Math.floor((limit - used) / blockShare));
}

/** The least that credit, the key's month and the workspace's month have left; null: unknown, or nothing. */
function roomOf(space: WorkspaceCounters, { key, keyLimit, workspaceLimit }: LendRequest, month: string): NanoUsd | null {
  const ofSpace = monthTotals(space.months, month);
  const ofMonth = keyMonthTotals(space, key, month);
  if (ofSpace.spent === null || ofMonth.spent === null || space.balance <= 0n) return null;
  let room = space.balance - space.reserved;
  if (keyLimit !== null) room = least(room, keyLimit - ofMonth.spent - ofMonth.held);
  if (workspaceLimit !== null) room = least(room, workspaceLimit - ofSpace.spent - ofSpace.held);
  return room < 0n ? null : room;
}

function least(one: NanoUsd, other: NanoUsd): NanoUsd {
  return one < other ? one : other;
}

function holdOf({ block, key, amount, month, now }: LendRequest & { now: number }): Hold {
  return { generation: block, fingerprint: "", amount, key, month, admittedAt: now, deadline: now + holdMs };
}

function ofKey(lending: Lending, key: KeyId): LentToKey {
  const known = lending.keys.get(key) ?? { blocks: new Map(), pausedUntil: 0 };
  lending.keys.set(key, known);
  return known;
}

function note(lending: Lending, { now, amount, countsUntil }: { now: number; amount: NanoUsd; countsUntil: number }): void {
  const before = lending.holdsUntil > now ? lending.amount : 0n;
  lending.amount = before + amount;
  lending.countsUntil = Math.max(lending.countsUntil, countsUntil);
  lending.holdsUntil = Math.max(lending.holdsUntil, countsUntil - rateWindowMs + blockReturnMsMax);
}
