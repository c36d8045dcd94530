/** Booking of the version before `generations`. The effect of a set of charges on the books, computed before any row is written. */
import type { AccountPush } from "../../../../src/backing/counters.ts";
import type { Month } from "../../../../src/kernel/clock.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../../../src/kernel/ids.ts";
import type { NanoUsd } from "../../../../src/kernel/money.ts";
import type { Settlement } from "../../../../src/gateway/journal/settlement.ts";
import { minimum, type Charge } from "../../../../src/gateway/metering/booking.ts";

/** The end of a workspace's chain. */
export type AccountHead = Omit<AccountPush, "months">;

/** The present books of the named workspaces and generations, read under the locks of the accounts. */
export interface Books {
  heads: AccountHead[];
  /** Outcomes of generations that are charged already. */
  outcomes: Map<GenerationId, Settlement["outcome"]>;
}

/** A charge with its place in the chain. */
export interface Row extends Charge {
  /** Charged after its hold had been released. */
  late: boolean;
  /** null: it costs nothing and has no entry. */
  sequence: bigint | null;
  balanceAfter: NanoUsd;
}

export interface MonthSum {
  workspace: WorkspaceId;
  month: Month;
  spent: NanoUsd;
}

export interface KeyMonthSum extends MonthSum {
  key: KeyId;
  /** Milliseconds; the last admission. */
  usedAt: number;
}

export interface Booking {
  /** The rows to write, in the order of the charges. */
  rows: Row[];
  /** Generations of unknown workspaces. */
  refused: Set<GenerationId>;
  /** The heads after the rows. */
  heads: AccountHead[];
  /** The sums that the rows add, for all named months: zero if the charge existed already. */
  months: MonthSum[];
  keyMonths: KeyMonthSum[];
}

/** @param charges at most one for each generation */
export function bookingOf(charges: Charge[], { heads: before, outcomes }: Books): Booking {
  const heads = new Map(before.map((head) => [head.workspace, { ...head }]));
  const sums = new Sums();
  const booking: Booking = { rows: [], refused: new Set(), heads: [...heads.values()], months: [], keyMonths: [] };
  for (const charge of charges) {
    const { generation, workspace, outcome } = charge.settlement;
    const head = heads.get(workspace);
    const present = outcomes.get(generation);
    const isFresh = present === undefined || (present !== "settled" && outcome === "settled");
    if (!head) booking.refused.add(generation);
    if (!head) continue;
    const taken = isFresh ? limitedToBalance(charge, head) : { ...charge, cost: 0n };
    if (isFresh) booking.rows.push({ ...taken, late: present !== undefined, ...appended(head, taken.cost) });
    sums.add(taken, taken.cost);
  }
  return { ...booking, months: [...sums.months.values()], keyMonths: [...sums.keyMonths.values()] };
}

/** Limits a charge to the balance, which may be less than the reservation after late charges, whose reservation had been released. */
function limitedToBalance(charge: Charge, { balance }: AccountHead): Charge {
  const cost = minimum(charge.cost, balance > 0n ? balance : 0n);
  return { ...charge, cost, excess: charge.excess + charge.cost - cost };
}

/** Moves the head. */
function appended(head: AccountHead, cost: NanoUsd): Pick<Row, "sequence" | "balanceAfter"> {
  if (cost === 0n) return { sequence: null, balanceAfter: head.balance };
  head.sequence += 1n;
  head.balance -= cost;
  return { sequence: head.sequence, balanceAfter: head.balance };
}

class Sums {
  readonly months = new Map<string, MonthSum>();
  /** By key and month, like their rows. */
  readonly keyMonths = new Map<string, KeyMonthSum>();

  add({ settlement: { workspace, key, month, admittedAt } }: Charge, spent: NanoUsd): void {
    const ofMonth = this.months.get(`${workspace} ${month}`);
    if (ofMonth) ofMonth.spent += spent;
    else this.months.set(`${workspace} ${month}`, { workspace, month, spent });
    const ofKey = this.keyMonths.get(`${key} ${month}`);
    if (!ofKey) this.keyMonths.set(`${key} ${month}`, { workspace, key, month, spent, usedAt: admittedAt });
    else {
      ofKey.spent += spent;
      ofKey.usedAt = Math.max(ofKey.usedAt, admittedAt);
    }
  }
}
