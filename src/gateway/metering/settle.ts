/**
 * Settles once: generations, ledger and month totals in one transaction, then a push of absolute values to the counters and the release of
 * holds. A repetition after a crash finds its charge and only pushes again. The push comes before the release, so a cost may briefly count
 * twice but is never missing. What was admitted with a block has no hold; its gateway makes the block smaller after that push. The effect
 * on the books is computed before any row is written (`bookingOf`): rows, one entry for each workspace, sums of months and budgets. It is
 * pure, so the simulation and the database book by the same code. A charge is the exact cost, rounded once, and at most the reservation and
 * the balance. The rest is the excess, which the service bears. A generation that is charged already changes nothing, but a true charge
 * replaces an end that was unknown or expired. Of generations with one idempotency key only the first that left something is charged: the
 * service bears the cost of another, which ran because the counters were lost or the first one's settlement came late.
 */
import type { AccountPush, BudgetPush, Counters, KeyMonthPush, Resolve } from "../../backing/counters.ts";
import { dayOf, monthBounds, monthOf, type Month } from "../../kernel/clock.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { type NanoUsd, nanoRoundedHalfUp } from "../../kernel/money.ts";
import type { BudgetSum, SpentClaim } from "../credit/store.ts";
import type { Claim } from "../field-parts.ts";
import type { Settlement } from "../journal/settlement.ts";
import { amountMax, parsePrices } from "../journal/spool-line.ts";
import { idempotencyMs } from "../limits.ts";
import { chargedCost } from "../models/price.ts";

/** The ledger of record. `store.ts` is its SQL; the simulation has its own. */
export interface SettlementStore {
  /** Books all charges that are not booked yet in one transaction, and returns the state after it. */
  settle(charges: Charge[]): Promise<Booked>;
}

export interface Booked {
  /** Generations that this call booked, with their charges. */
  fresh: Map<GenerationId, FreshCharge>;
  /** Generations of unknown workspaces, for which nothing was booked. */
  refused: Set<GenerationId>;
  /** Generations that were charged after their hold had been released, outside of every reservation. */
  late: Set<GenerationId>;
  /** The heads and totals of all named workspaces and keys, for the counters. */
  accounts: AccountPush[];
  keyMonths: KeyMonthPush[];
  /** The totals of budgets that the ledger keeps; absent: none. */
  budgets?: BudgetPush[];
}

export interface FreshCharge extends Pick<Charge, "cost" | "excess"> {
  /** The generation on which its idempotency key is spent, so that this one costs nothing. Absent: none. */
  repeats?: GenerationId;
}

export interface SettleParts {
  store: SettlementStore;
  counters: Counters;
}

/**
 * @param settlements at most one for each generation
 * @returns the charges, and which of them were booked
 * @throws when the ledger or the counters did not answer: repeat the call
 */
export async function settle(
  settlements: Settlement[],
  { store, counters }: SettleParts,
): Promise<{ charges: Charge[]; booked: Booked }> {
  const charges = settlements.map(chargeOf);
  const booked = await store.settle(charges);
  const resolve: Resolve[] = charges
    .filter(({ settlement }) => !booked.refused.has(settlement.generation) && settlement.block === undefined)
    .map((charge) => ({
      workspace: charge.settlement.workspace,
      generation: charge.settlement.generation,
      as: resolutionOf(charge),
    }));
  const { accounts, keyMonths, budgets = [] } = booked;
  await counters.resolveMany({ resolve, accounts, keyMonths, ...(budgets.length > 0 && { budgets }) });
  return { charges, booked };
}

/** A void generation gives up its claim at once: it left nothing, so the request may run again. */
function resolutionOf(charge: Charge): Resolve["as"] {
  const { claim, outcome } = charge.settlement;
  return claim && !hasLeft(charge) ? "void" : outcome;
}

/**
 * Whether a generation left something that a repeated request must not bring again: a cost, even with an own key, or an answer, even a part
 * of one. Where the price or the balance made that free, counted tokens show it; a failure that left nothing has none.
 */
export function hasLeft({ settlement, cost }: Pick<Charge, "settlement" | "cost">): boolean {
  const { outcome, status, code, ownKey, usage } = settlement;
  const isCounted = cost > 0n || BigInt(ownKey?.listCost ?? 0) > 0n || usage.promptTokens + usage.completionTokens > 0;
  return isCounted || (outcome === "settled" && status === 200 && code === null);
}

/** In the order of ids, in which rows are locked. A settled outcome replaces an unknown or expired one. */
export function oncePerGeneration(settlements: Settlement[]): Settlement[] {
  const chosen = new Map<GenerationId, Settlement>();
  for (const settlement of settlements) {
    const present = chosen.get(settlement.generation);
    if (!present || (present.outcome !== "settled" && settlement.outcome === "settled")) {
      chosen.set(settlement.generation, settlement);
    }
  }
  return [...chosen.values()].toSorted((a, b) => (a.generation < b.generation ? -1 : 1));
}

// The books

/** The end of a workspace's chain. */
export interface AccountHead extends Pick<AccountPush, "workspace" | "balance"> {
  sequence: bigint;
  /** The epoch of the workspace's ledger: with the sequence it is the version that counters compare. */
  epoch: bigint;
  /** Whether the ledger keeps totals of budgets for it. */
  hasBudgets: boolean;
}

/** The current books of the named workspaces and generations, read under the locks of the accounts. */
export interface Books {
  heads: AccountHead[];
  /** Outcomes of generations that are charged already. */
  outcomes: Map<GenerationId, Settlement["outcome"]>;
  /** The generations that left something, of the charges' claims. Absent: no charge has one. */
  claims?: readonly SpentClaim[];
}

/** A charge with its place in the books. */
export interface Row extends Charge {
  /** Charged after its hold had been released. */
  late: boolean;
  /** The sequence of its workspace's entry; null: its end is unknown or its provider bills it, and no entry counts it. */
  entry: bigint | null;
  /** null: it has none, or left nothing. */
  claim: Claim | null;
  /** The generation that its claim is spent on. Absent: none. */
  repeats?: GenerationId;
}

/** The entry of all charges of one workspace. */
export interface Entry {
  workspace: WorkspaceId;
  sequence: bigint;
  /** How many charges it sums, at least one. */
  charges: number;
  /** Zero or less. */
  amount: NanoUsd;
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

interface Booking {
  /** The rows to write, in the order of the charges. */
  rows: Row[];
  /** At most one for each workspace. */
  entries: Entry[];
  /** Generations of unknown workspaces. */
  refused: Set<GenerationId>;
  /** The heads after the entries. */
  heads: AccountHead[];
  /** The sums that the rows add, for all named months: zero if the charge existed already. */
  months: MonthSum[];
  keyMonths: KeyMonthSum[];
  /** The same by day, only for workspaces with budgets. */
  budgets: BudgetSum[];
}

/** @param charges at most one for each generation */
export function bookingOf(charges: Charge[], { heads: before, outcomes, claims = [] }: Books): Booking {
  const heads = new Map(before.map((head) => [head.workspace, { ...head }]));
  const entries = new Map<WorkspaceId, Entry>();
  const sums = new Sums();
  const spent = [...claims];
  const booking: Booking = {
    rows: [],
    entries: [],
    refused: new Set(),
    heads: [...heads.values()],
    months: [],
    keyMonths: [],
    budgets: [],
  };
  for (const charge of charges) {
    const { generation, workspace, outcome, ownKey } = charge.settlement;
    const head = heads.get(workspace);
    const present = outcomes.get(generation);
    const isFresh = present === undefined || (present !== "settled" && outcome === "settled");
    if (!head) booking.refused.add(generation);
    if (!head) continue;
    const repeats = isFresh ? repeatedBy(charge.settlement, spent) : undefined;
    const taken = isFresh && repeats === undefined ? limitedToBalance(charge, head) : uncharged(charge);
    if (isFresh) {
      const entry = outcome === "settled" && !ownKey ? entered(taken.cost, { head, entries }) : null;
      const claim = repeats === undefined ? spentBy(taken, spent) : null;
      booking.rows.push({ ...taken, late: present !== undefined, entry, claim, ...(repeats !== undefined && { repeats }) });
    }
    sums.add(taken, taken.cost);
    if (head.hasBudgets) sums.addToBudgets(taken, taken.cost);
  }
  const { months, keyMonths, budgets } = sums;
  const totals = { months: [...months.values()], keyMonths: [...keyMonths.values()], budgets: [...budgets.values()] };
  return { ...booking, entries: [...entries.values()], ...totals };
}

/** From a settlement to the amount that the ledger books: the true cost, rounded once, and at most the reservation. */
export interface Charge {
  settlement: Settlement;
  /** The true cost. */
  costPico: bigint;
  /** The charge: the true cost, or the reservation if that is less. */
  cost: NanoUsd;
  /** The part of the true cost above the charge, which the service bears. */
  excess: NanoUsd;
}

/** Applies the route's prices to its token counts. A generation without tokens costs nothing. */
export function chargeOf(settlement: Settlement): Charge {
  const costPico = chargedCost(parsePrices(settlement.prices), settlement.usage);
  const trueCost = minimum(nanoRoundedHalfUp(costPico), amountMax);
  const cost = minimum(trueCost, BigInt(settlement.reserved));
  return { settlement, costPico, cost, excess: trueCost - cost };
}

function minimum(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

class Sums {
  readonly months = new Map<string, MonthSum>();
  /** By key and month, like their rows. */
  readonly keyMonths = new Map<string, KeyMonthSum>();
  /** By key and day. */
  readonly budgets = new Map<string, BudgetSum>();

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

  /** A request counts for the day and the month of its admission. */
  addToBudgets({ settlement: { workspace, key, admittedAt } }: Charge, spent: NanoUsd): void {
    const day = dayOf(admittedAt);
    const sum = this.budgets.get(`${key} ${day}`);
    if (sum) sum.spent += spent;
    else this.budgets.set(`${key} ${day}`, { workspace, key, day, month: monthBounds(monthOf(admittedAt)).startMs, spent });
  }
}

/** Limits a charge to the balance, which may be less than the reservation after late charges, whose reservation had been released. */
function limitedToBalance(charge: Charge, { balance }: AccountHead): Charge {
  const cost = minimum(charge.cost, balance > 0n ? balance : 0n);
  return { ...charge, cost, excess: charge.excess + charge.cost - cost };
}

function uncharged(charge: Charge): Charge {
  return { ...charge, cost: 0n, excess: charge.excess + charge.cost };
}

/** The generation on which the claim was spent, less than a day before or after: a settlement may be late by any time. */
function repeatedBy({ claim, generation, admittedAt }: Settlement, spent: readonly SpentClaim[]): GenerationId | undefined {
  if (!claim) return undefined;
  const isMeant = (one: SpentClaim): boolean =>
    one.claim === claim.id && one.generation !== generation && Math.abs(one.admittedAt - admittedAt) < idempotencyMs;
  return spent.find(isMeant)?.generation;
}

/** Adds the claim of a generation that left something. @returns it; null: there is none */
function spentBy(charge: Charge, spent: SpentClaim[]): Claim | null {
  const { claim, generation, admittedAt } = charge.settlement;
  if (!claim || !hasLeft(charge)) return null;
  spent.push({ claim: claim.id, generation, body: claim.body, admittedAt });
  return claim;
}

/** Adds a charge to its workspace's entry, which the first one opens, and moves the head. @returns the entry's sequence */
function entered(cost: NanoUsd, { head, entries }: { head: AccountHead; entries: Map<WorkspaceId, Entry> }): bigint {
  let entry = entries.get(head.workspace);
  if (!entry) {
    head.sequence += 1n;
    entry = { workspace: head.workspace, sequence: head.sequence, charges: 0, amount: 0n, balanceAfter: head.balance };
    entries.set(head.workspace, entry);
  }
  head.balance -= cost;
  entry.charges++;
  entry.amount -= cost;
  entry.balanceAfter = head.balance;
  return entry.sequence;
}
