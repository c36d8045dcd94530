/**
 * Counters exactly as the specification describes them, without precomputed sums: lists of holds and times, searched and added
 * up for every decision. Slow and simple on purpose; the two real implementations must agree with it.
 */
import type {
  AccountPush,
  AdmitReply,
  AdmitRequest,
  Budget,
  BudgetHold,
  BudgetPush,
  Hold,
  KeyMonthPush,
  RateWindow,
  Resolution,
  Resolve,
  WorkspaceLoad,
} from "../../../src/backing/counters.ts";
import { dayOf, monthBounds, monthOf } from "../../../src/kernel/clock.ts";

interface Versioned {
  value: bigint;
  version: bigint;
}

class NaiveWorkspace {
  ready = false;
  balance: Versioned = { value: 0n, version: -1n };
  months = new Map<string, Versioned>();
  keyMonths = new Map<string, Versioned>();
  budgets = new Map<string, Versioned & { since: number }>();
  holds: Hold[] = [];
  times = new Map<string, number[]>();
  tombstones: { generation: string; as: Resolution; until: number }[] = [];

  held(of: Partial<Pick<Hold, "key" | "month">> = {}): bigint {
    const counted = this.holds.filter((hold) => (of.key ?? hold.key) === hold.key && (of.month ?? hold.month) === hold.month);
    return counted.reduce((sum, { amount }) => sum + amount, 0n);
  }

  heldIn({ name, since }: BudgetHold): bigint {
    const counted = this.holds.filter(({ budgets = [] }) => budgets.some((one) => one.name === name && one.since === since));
    return counted.reduce((sum, { amount }) => sum + amount, 0n);
  }

  get available(): bigint {
    return this.balance.value - this.held();
  }

  /** The times that count at `now`; the others are removed. */
  counted(key: string, now: number): { times: number[]; at: number } {
    const all = this.times.get(key) ?? [];
    const at = Math.max(now, ...all);
    const times = all.filter((time) => at < time + 60_000);
    this.times.set(key, times);
    return { times, at };
  }
}

export class NaiveCounters {
  #spaces = new Map<string, NaiveWorkspace>();
  /** When the last removed tombstone had ended. */
  endedLast = -Infinity;

  space(workspace: string): NaiveWorkspace {
    const space = this.#spaces.get(workspace) ?? new NaiveWorkspace();
    this.#spaces.set(workspace, space);
    return space;
  }

  wipe(): void {
    this.#spaces.clear();
  }

  restart(): void {
    for (const space of this.#spaces.values()) space.ready = false;
  }

  /** Every operation first removes the tombstones that have ended. */
  endTombstones(now: number): void {
    for (const space of this.#spaces.values()) {
      for (const { until } of space.tombstones) if (until < now) this.endedLast = Math.max(this.endedLast, until);
      space.tombstones = space.tombstones.filter(({ until }) => until >= now);
    }
  }

  admit(request: AdmitRequest, { now, month, day }: { now: number; month: string; day: number }): AdmitReply {
    const space = this.space(request.workspace);
    if (!space.ready) return { outcome: "not_ready", what: "workspace" };
    const hold = space.holds.find(({ generation }) => generation === request.generation);
    if (hold) return this.#replay(space, hold, { request, now });
    const resolved = space.tombstones.find(({ generation }) => generation === request.generation);
    if (resolved) return { outcome: "already_resolved", as: resolved.as };
    if (request.deadline !== null && now > request.deadline) return { outcome: "late" };
    const { budgets = [] } = request;
    const isOtherDay = budgets.some(({ period }) => period === "day") && dayOf(now) !== day;
    if (monthOf(now) !== month || isOtherDay) return { outcome: "wrong_month", now };
    const { times, at: latest } = space.counted(request.key, now);
    const window = windowOf(times, { request, now });
    if (times.length >= request.requestsPerMinute) return { outcome: "rate_limited", retryAfterMs: window.resetMs, window };
    if (request.modelRefusal !== null) return { outcome: "model_refused", reason: request.modelRefusal, window };
    const unknown = unknownTotal(space, request, month);
    if (unknown) return unknown;
    const known = budgets.map((budget) => ({ budget, total: space.budgets.get(budget.name), since: startOf(budget, now) }));
    if (known.some(({ total, since }) => !total || total.since < since)) return { outcome: "not_ready", what: "budget" };
    const at = Math.max(latest, ...known.map(({ total }) => total?.since ?? 0));
    if (known.some(({ budget, total, since }) => total?.since === since && startOf(budget, at) > since)) {
      return { outcome: "wrong_month", now };
    }
    const refusal = refuseMoney(space, request, month);
    if (refusal) return { ...refusal, window };
    const { generation, fingerprint, amount, key } = request;
    const counting = known.map(({ budget: { name }, total }) => ({ name, since: total?.since ?? 0 }));
    const made: Hold = { generation, fingerprint, amount, key, month, admittedAt: at, deadline: at + 1_200_000 };
    space.holds.push(counting.length === 0 ? made : { ...made, budgets: counting });
    space.times.set(key, [...times, at]);
    const told = { outcome: "admitted", at, month, amount, available: space.available, replay: false } as const;
    return { ...told, window: windowOf([...times, at], { request, now }) };
  }

  resolve({ workspace, generation, as }: Resolve, now: number): bigint {
    const space = this.space(workspace);
    const freed = space.holds.filter((hold) => hold.generation === generation);
    space.holds = space.holds.filter((hold) => hold.generation !== generation);
    const earlier = space.tombstones.find((tombstone) => tombstone.generation === generation);
    space.tombstones = space.tombstones.filter((tombstone) => tombstone !== earlier);
    space.tombstones.push({ generation, as: earlier?.as ?? as, until: now + 60_000 });
    return freed[0]?.amount ?? 0n;
  }

  pushAccount({ workspace, balance, sequence, months }: AccountPush, now: number): void {
    const space = this.space(workspace);
    space.balance = newest(space.balance, { value: balance, version: sequence });
    const isOld = sequence < space.balance.version;
    const told = months.filter(({ month }) => space.months.has(month) || !isOld);
    const begun = told.map(({ month }) => month).filter((month) => !space.months.has(month));
    for (const { month, spent } of told) {
      space.months.set(month, newest(space.months.get(month), { value: spent, version: sequence }));
    }
    for (const month of begun) forgetBefore(space, { month, now });
  }

  pushKeyMonth({ workspace, key, month, spent, version, sequence }: KeyMonthPush): void {
    const { keyMonths, balance } = this.space(workspace);
    if (!keyMonths.has(`${key}:${month}`) && sequence < balance.version) return;
    keyMonths.set(`${key}:${month}`, newest(keyMonths.get(`${key}:${month}`), { value: spent, version }));
  }

  pushBudget({ workspace, name, since, spent, sequence }: BudgetPush, now: number): void {
    const { budgets, balance } = this.space(workspace);
    const known = budgets.get(name);
    const told = { value: spent, version: sequence };
    if (known?.since === since) budgets.set(name, { since, ...newest(known, told) });
    else if ((!known || known.since < since) && isRecent(since, now) && sequence >= balance.version) {
      budgets.set(name, { since, ...told });
    }
  }

  load({ account, budgets = [], holds, windows }: WorkspaceLoad, now: number): void {
    const space = this.space(account.workspace);
    if (space.ready) return;
    space.ready = true;
    space.balance = newest({ value: account.balance, version: account.sequence }, space.balance);
    const months = account.months.map(({ month, spent }) => {
      const told = { value: spent, version: account.sequence };
      return [month, newest(told, space.months.get(month))] as const;
    });
    space.months = new Map(months);
    space.keyMonths.clear();
    const before = space.budgets;
    space.budgets = new Map();
    for (const { name, since, spent } of budgets) {
      const known = before.get(name);
      const told = { value: spent, version: account.sequence };
      const isLater = known !== undefined && known.since > since;
      space.budgets.set(name, isLater ? known : { since, ...newest(told, known?.since === since ? known : undefined) });
    }
    const open = holds.filter(({ generation }) => !space.tombstones.some((tombstone) => tombstone.generation === generation));
    space.holds = open.filter((hold, index) => open.findIndex(({ generation }) => generation === hold.generation) === index);
    for (const { key, times } of windows) {
      const missing = times.filter((time) => time > now - 60_000);
      const known = space.times.get(key) ?? [];
      for (const time of known) if (missing.includes(time)) missing.splice(missing.indexOf(time), 1);
      space.times.set(
        key,
        [...known, ...missing].toSorted((a, b) => a - b),
      );
    }
  }

  #replay(space: NaiveWorkspace, hold: Hold, { request, now }: { request: AdmitRequest; now: number }): AdmitReply {
    if (hold.fingerprint !== request.fingerprint) return { outcome: "conflict" };
    const window = windowOf(space.counted(request.key, now).times, { request, now });
    const { admittedAt: at, month, amount } = hold;
    return { outcome: "admitted", at, month, amount, available: space.available, window, replay: true };
  }
}

type MoneyRefusal =
  | { outcome: "insufficient_credit"; available: bigint; balance: bigint }
  | { outcome: "key_spend_limit_exceeded" | "account_spend_limit_exceeded"; headroom: bigint; budget?: string };

function unknownTotal(space: NaiveWorkspace, { key }: AdmitRequest, month: string): AdmitReply | null {
  if (!space.months.has(month)) return { outcome: "not_ready", what: "month" };
  return space.keyMonths.has(`${key}:${month}`) ? null : { outcome: "not_ready", what: "key" };
}

function startOf({ period }: Budget, ms: number): number {
  return period === "day" ? dayOf(ms) : monthBounds(monthOf(ms)).startMs;
}

function refuseMoney(space: NaiveWorkspace, request: AdmitRequest, month: string): MoneyRefusal | null {
  const { key, amount, keyLimit, workspaceLimit, budgets = [] } = request;
  const spent = space.months.get(month);
  const keySpent = space.keyMonths.get(`${key}:${month}`);
  if (!spent || !keySpent) throw new Error("The totals are known here");
  const { available } = space;
  if (available < amount || space.balance.value <= 0n) {
    return { outcome: "insufficient_credit", available, balance: space.balance.value };
  }
  const keyUsed = keySpent.value + space.held({ key, month });
  if (keyLimit !== null && keyUsed + amount > keyLimit) {
    return { outcome: "key_spend_limit_exceeded", headroom: keyLimit > keyUsed ? keyLimit - keyUsed : 0n };
  }
  const used = spent.value + space.held({ month });
  if (workspaceLimit !== null && used + amount > workspaceLimit) {
    return { outcome: "account_spend_limit_exceeded", headroom: workspaceLimit > used ? workspaceLimit - used : 0n };
  }
  for (const { name, limit, refusal } of budgets) {
    const total = space.budgets.get(name);
    if (!total) throw new Error("The totals are known here");
    const left = limit - total.value - space.heldIn({ name, since: total.since });
    if (amount > left) return { outcome: refusal, headroom: left > 0n ? left : 0n, budget: name };
  }
  return null;
}

function windowOf(times: number[], { request, now }: { request: AdmitRequest; now: number }): RateWindow {
  const oldest = Math.min(...times);
  return {
    remaining: Math.max(0, request.requestsPerMinute - times.length),
    resetMs: times.length === 0 ? 0 : oldest + 60_000 - now,
  };
}

/** If the versions are equal, the existing one stays. */
function newest(known: Versioned | undefined, told: Versioned | undefined): Versioned {
  if (!known) return told ?? { value: 0n, version: -1n };
  return told && told.version > known.version ? told : known;
}

function isRecent(since: number, now: number): boolean {
  return now - since < 62 * 86_400_000;
}

function forgetBefore(space: NaiveWorkspace, { month, now }: { month: string; now: number }): void {
  const oldest = monthOf(Date.parse(`${month}-01T00:00:00Z`) - 1);
  for (const [name, { since }] of space.budgets) {
    if (!isRecent(since, now) && space.heldIn({ name, since }) === 0n) space.budgets.delete(name);
  }
  for (const name of space.months.keys()) if (name < oldest) space.months.delete(name);
  for (const name of space.keyMonths.keys()) if (name.slice(-7) < oldest) space.keyMonths.delete(name);
}
