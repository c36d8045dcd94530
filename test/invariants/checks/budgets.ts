import { reconcileMs } from "../../../src/gateway/limits.ts";
import { dayOf, monthOf } from "../../../src/kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../../src/kernel/ids.ts";
import { Notes, type Finding } from "../evidence.ts";
import type { Admitted, Charged, EventOf, History } from "../history.ts";
import { settingOf, type SettingHistory } from "../setting-history.ts";

/**
 * I-20: no admission under a budget could make its day or month pass the budget, as it was at some moment of the last half minute: what
 * is charged in the period, with late charges left out, and the reservations that were made under the budget stay within it. A charge of
 * what was not reserved under it counts within a minute, when the counters are compared with the ledger.
 */
export function budgetsHold(history: History, delayMsMax: number): Finding {
  const notes = new Notes();
  const budgets = new Budgets();
  for (const event of history) {
    if (event.kind === "budget") budgets.set(event);
    if (event.kind === "released") budgets.release(event.generation);
    if (event.kind === "charged") budgets.charge(event);
    if (event.kind === "restored") for (const lost of event.lost) if (lost.kind === "charged") budgets.lose(lost);
    if (event.kind !== "admitted") continue;
    for (const { name, period, limits } of budgets.admit(event, delayMsMax)) {
      notes.check(
        limits.some((limit) => period.spent - unseenAt(period, event.at) + period.held <= limit),
        () =>
          `${event.generation}: admitted at ${event.at}, ${name} spent ${period.spent} and holds ${period.held}, with a budget of ${limits.join(" or ")}`,
      );
    }
  }
  return notes;
}

interface Period {
  /** The sum of charges that are not late. */
  spent: bigint;
  /** The sum of reservations that were made under the budget. */
  held: bigint;
  /** The charges of others, which the counters may not know yet. */
  others: { at: number; generation: string; cost: bigint }[];
}

function unseenAt({ others }: Period, at: number): bigint {
  return others.filter((one) => one.at + reconcileMs > at).reduce((sum, { cost }) => sum + cost, 0n);
}

interface Counted {
  name: string;
  period: Period;
  limits: bigint[];
}

interface Spender {
  workspace: WorkspaceId;
  key: KeyId;
}

class Budgets {
  readonly #keys = new Map<string, { workspace: WorkspaceId; keys: readonly KeyId[] | null }>();
  readonly #limits = new Map<string, SettingHistory<bigint | null>>();
  readonly #periods = new Map<string, Period>();
  readonly #open = new Map<string, { amount: bigint; periods: Period[] }>();
  readonly #closed = new Set<string>();

  set({ at, workspace, name, keys, limit }: EventOf<"budget">): void {
    this.#keys.set(`${workspace} ${name}`, { workspace, keys });
    settingOf(this.#limits, `${workspace} ${name}`).set(at, limit);
  }

  release(generation: string): void {
    this.#closed.add(generation);
    const hold = this.#open.get(generation);
    this.#open.delete(generation);
    for (const period of hold?.periods ?? []) period.held -= hold?.amount ?? 0n;
  }

  charge(event: EventOf<"charged">): void {
    const { at, generation, cost, admittedAt } = event;
    const reserved = this.#open.get(generation)?.periods ?? [];
    this.release(generation);
    if (event.late || admittedAt === undefined) return;
    for (const name of this.#namesOf(event)) {
      const period = this.#periodAt(name, admittedAt);
      period.spent += cost;
      if (!reserved.includes(period)) period.others.push({ at, generation, cost });
    }
  }

  /** The database no longer has it, and may get it again. */
  lose(lost: Charged): void {
    if (lost.late || lost.admittedAt === undefined) return;
    for (const name of this.#namesOf(lost)) {
      const period = this.#periodAt(name, lost.admittedAt);
      period.spent -= lost.cost;
      period.others = period.others.filter(({ generation }) => generation !== lost.generation);
    }
  }

  /** The budgets that bound the request, which its reservation now counts in. */
  admit(event: Admitted & { at: number }, delayMsMax: number): Counted[] {
    if (this.#closed.has(event.generation)) return [];
    const counted = this.#namesOf(event).flatMap((name): Counted[] => {
      const limits = this.#limits.get(name)?.at(event.at, delayMsMax) ?? [];
      const set = limits.filter((limit) => limit !== null);
      // Whoever admitted it may not have known the budget.
      if (set.length === 0 || set.length < limits.length) return [];
      return [{ name, period: this.#periodAt(name, event.admittedAt), limits: set }];
    });
    for (const { period } of counted) period.held += event.amount;
    this.#open.set(event.generation, { amount: event.amount, periods: counted.map(({ period }) => period) });
    return counted;
  }

  #namesOf({ workspace, key }: Spender): string[] {
    return [...this.#keys].flatMap(([name, of]) =>
      of.workspace === workspace && (of.keys === null || of.keys.includes(key)) ? [name] : [],
    );
  }

  #periodAt(name: string, ms: number): Period {
    const of = `${name} ${name.includes(" day:") ? dayOf(ms) : monthOf(ms)}`;
    const period = this.#periods.get(of) ?? { spent: 0n, held: 0n, others: [] };
    this.#periods.set(of, period);
    return period;
  }
}
