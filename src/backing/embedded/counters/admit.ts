/** One decision. Every check precedes the first counting write: a refusal drops expired times and changes nothing else. */
import type { AdmitReply, AdmitRequest, Hold } from "../../counters.ts";
import { holdMs } from "../../limits.ts";
import type { KeyId } from "../../../kernel/ids.ts";
import type { AdmissionLog, LentPlaces } from "./admission-log.ts";
import { isRecallable, lentAmount, lentPlaces } from "./lending.ts";
import type { Moment } from "./moment.ts";
import { holdsOf, isOutsideBudgets, openBudgets, passedBudget, type BudgetCounter } from "./budgets.ts";
import {
  addHold,
  admissionLog,
  keyMonthTotals,
  monthTotals,
  type MonthTotals,
  type WorkspaceCounters,
} from "./workspace-counters.ts";

/** Not a reply yet: it lacks the rate window. */
type MoneyRefusal = { isLent?: true } & (
  | { outcome: "insufficient_credit"; available: bigint; balance: bigint }
  | { outcome: "key_spend_limit_exceeded" | "account_spend_limit_exceeded"; headroom: bigint; budget?: string }
);

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

function replay(space: WorkspaceCounters, hold: Hold, request: AdmitRequest, { now }: Moment): AdmitReply {
  if (hold.fingerprint !== request.fingerprint) return { outcome: "conflict" };
  const log = admissionLog(space, request.key);
  log.advance(now);
  const window = log.shown(request.requestsPerMinute, now, lentPlaces(space.lending, request.key, now));
  return admitted(space, hold, { window, replay: true });
}

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

function refuseBudget(request: AdmitRequest, counters: readonly BudgetCounter[]): MoneyRefusal | null {
  const passed = passedBudget(request, counters);
  return passed && { outcome: passed.budget.refusal, headroom: passed.headroom, budget: passed.budget.name };
}

function headroom(limit: bigint | null, { spent, held }: MonthTotals): bigint | null {
  return limit === null ? null : limit - (spent ?? 0n) - held;
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
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
  return admitted(space, hold, { window: log.shown(requestsPerMinute, now, lent), replay: false });
}

function admitted(
  space: WorkspaceCounters,
  { admittedAt, month, amount }: Hold,
  rest: Pick<AdmitReply & { outcome: "admitted" }, "window" | "replay">,
): AdmitReply {
  return { outcome: "admitted", at: admittedAt, month, amount, available: space.balance - space.reserved, ...rest };
}
