/** The ledger in memory: the contract of `metering/store.ts` and `credit/load.ts` without a database. */
import { isInPeriod } from "../../../src/gateway/credit/budgets.ts";
import { type EntryKind, ledgerVersion, type EpochStart, type SpentClaim } from "../../../src/gateway/credit/store.ts";
import type { LoadedAccount, CountedPosition, LedgerPosition } from "../../../src/gateway/credit/load.ts";
import type { LoadStore } from "../../../src/gateway/admission/worker/loads.ts";
import type { AccountPush, BudgetHold, BudgetPush, KeyMonthPush } from "../../../src/backing/counters.ts";
import { idempotencyMs } from "../../../src/gateway/limits.ts";
import {
  hasLeft,
  type Charge,
  type Booked,
  type FreshCharge,
  type SettlementStore,
} from "../../../src/gateway/metering/settle.ts";
import type { ReplayDue } from "../../../src/gateway/metering/maintenance-store.ts";
import { MemoryEpochs } from "../ledger/memory-epochs.ts";

export interface MemoryAccount {
  balance: bigint;
  sequence: bigint;
  /** Its chain, from the first entry. */
  entries: MemoryEntry[];
}

interface MemoryEntry {
  kind: EntryKind | "charge";
  amount: bigint;
  balanceAfter: bigint;
  /** null: it sums charges. */
  reference: string | null;
  /** How many charges it sums; null: none. */
  charges: number | null;
}

interface MemoryCharge extends Charge {
  late: boolean;
  /** The sequence of its entry; null: its end is unknown, or its provider bills it. */
  entry: bigint | null;
  repeats?: string;
}

interface Total {
  spent: bigint;
  version: bigint;
}

export class MemoryLedger implements LoadStore, SettlementStore {
  readonly accounts = new Map<string, MemoryAccount>();
  readonly charges = new Map<string, MemoryCharge>();
  readonly workspaceMonths = new Map<string, bigint>();
  readonly keyMonths = new Map<string, Total>();
  /** By workspace, name and beginning of the period, with spaces between. */
  readonly budgetTotals = new Map<string, bigint>();
  /** The caller ids of the members who own keys, by key. */
  readonly owners = new Map<string, string>();
  readonly epochs = new MemoryEpochs();

  open(workspace: string, credit: bigint): this {
    this.accounts.set(workspace, { balance: 0n, sequence: 0n, entries: [] });
    this.append(workspace, credit);
    return this;
  }

  /** Adds credit, or books a movement of a payment. */
  append(workspace: string, amount: bigint, movement?: { kind: EntryKind; reference: string }): void {
    const account = this.#account(workspace);
    account.balance += amount;
    account.sequence++;
    const { kind, reference } = movement ?? { kind: "credit", reference: `credit ${account.sequence}` };
    account.entries.push({ kind, amount, balanceAfter: account.balance, reference, charges: null });
  }

  async settle(charges: Charge[]): Promise<Booked> {
    const isHomeless = ({ settlement }: Charge) => !this.accounts.has(settlement.workspace);
    const refused = charges.filter(isHomeless);
    const bookable = charges.filter((charge) => !isHomeless(charge));
    for (const { settlement } of bookable) this.#spend(settlement, 0n);
    const opened = new Map<string, MemoryEntry>();
    const fresh = bookable.flatMap((charge) => this.#insert(charge, opened) ?? []);
    const paid = fresh.filter(({ cost }) => cost > 0n);
    for (const name of new Set(paid.map(({ settlement: { key, month } }) => `${key} ${month}`))) {
      const total = this.keyMonths.get(name);
      if (total) total.version++;
    }
    return {
      fresh: new Map(
        fresh.map(({ settlement, cost, excess, repeats }) => [
          settlement.generation,
          { cost, excess, ...(repeats && { repeats }) },
        ]),
      ),
      refused: generationsOf(refused),
      late: generationsOf(fresh.filter(({ settlement }) => this.charges.get(settlement.generation)?.late)),
      accounts: [...new Set(bookable.map(({ settlement }) => settlement.workspace))].map((workspace) =>
        this.#push(
          workspace,
          bookable.filter(({ settlement }) => settlement.workspace === workspace).map(({ settlement }) => settlement.month),
        ),
      ),
      keyMonths: bookable.map(({ settlement }) => this.#keyMonth(settlement)),
      ...this.#budgetPushes(bookable),
    };
  }

  async claims(claims: readonly string[], since: number): Promise<SpentClaim[]> {
    return claims.flatMap((claim) => this.#spent(claim).filter(({ admittedAt }) => admittedAt > since));
  }

  async account(workspace: string, generations: string[]): Promise<LoadedAccount | null> {
    if (!this.accounts.has(workspace)) return null;
    const months = [...this.workspaceMonths.keys()].filter((name) => name.startsWith(`${workspace} `));
    const account = this.#push(
      workspace,
      months.map((name) => name.slice(workspace.length + 1)),
    );
    const budgets = this.#latestBudgets(workspace).map((total) => ({ ...total, callers: this.#callersOf(total.name) }));
    return {
      account,
      isReady: this.epochs.isReady(workspace),
      ...(budgets.length > 0 && { budgets }),
      ended: new Set(generations.filter((generation) => this.charges.has(generation))),
    };
  }

  /** With the total of one month. */
  head(workspace: string, month: string): AccountPush {
    return this.#push(workspace, [month]);
  }

  async positions(counted: readonly CountedPosition[]): Promise<ReadonlyMap<string, LedgerPosition>> {
    const known = counted.flatMap((one) => {
      const account = this.accounts.get(one.workspace);
      return account ? [[one.workspace, this.epochs.position(one, account)] as const] : [];
    });
    return new Map(known);
  }

  async beginEpochs(starts: readonly EpochStart[]): Promise<ReadonlySet<string>> {
    return this.epochs.begin(starts.filter(({ workspace }) => this.accounts.has(workspace)));
  }

  async server(): Promise<bigint> {
    return this.epochs.server;
  }

  async replayDue(): Promise<ReplayDue | null> {
    const due = this.epochs.replayDue();
    if (due === null) return null;
    const newest = this.charges.get([...this.charges.keys()].toSorted().at(-1) ?? "");
    return { ...due, newestMs: newest?.settlement.admittedAt ?? null };
  }

  async finishReplay(due: Pick<ReplayDue, "server" | "rebuilding">): Promise<void> {
    this.epochs.finishReplay(due);
  }

  async budgets(workspace: string, totals: BudgetHold[]): Promise<BudgetPush[]> {
    for (const total of totals) {
      const name = `${workspace} ${total.name} ${total.since}`;
      if (this.budgetTotals.has(name)) continue;
      const counted = [...this.charges.values()].filter(({ settlement }) => this.#isCounted(settlement, workspace, total));
      this.budgetTotals.set(
        name,
        counted.reduce((sum, { cost }) => sum + cost, 0n),
      );
    }
    return totals.map((total) => this.#budgetPush(workspace, total));
  }

  async keyMonth(workspace: string, key: string, month: string): Promise<KeyMonthPush> {
    return this.#keyMonth({ workspace, key, month });
  }

  /**
   * The charge as booked, limited to the balance. A generation is booked once, and once more after an unknown end; null: it was booked
   * before.
   * @param opened the entries of this transaction, by workspace
   */
  #insert(charge: Charge, opened: Map<string, MemoryEntry>): (Charge & FreshCharge) | null {
    const { generation, outcome, workspace } = charge.settlement;
    const present = this.charges.get(generation);
    if (present && (present.settlement.outcome === "settled" || outcome !== "settled")) return null;
    const { balance } = this.#account(workspace);
    const repeats = this.#repeatedBy(charge.settlement);
    const there = balance > 0n && repeats === undefined ? balance : 0n;
    const cost = charge.cost < there ? charge.cost : there;
    const booked = { ...charge, cost, excess: charge.excess + charge.cost - cost, ...(repeats && { repeats }) };
    const entry = outcome === "settled" && !booked.settlement.ownKey ? this.#enter(workspace, cost, opened) : null;
    this.charges.set(generation, { ...booked, late: present !== undefined, entry });
    this.#spend(charge.settlement, cost);
    this.#addToBudgets(charge.settlement, cost);
    return booked;
  }

  /** The generations that left something for this claim, the oldest first. */
  #spent(claim: string): SpentClaim[] {
    const left = [...this.charges.values()].filter(
      (charge) => charge.settlement.claim?.id === claim && charge.repeats === undefined && hasLeft(charge),
    );
    return left
      .map(({ settlement: { generation, admittedAt, claim: of } }) => ({ claim, generation, body: of?.body ?? "", admittedAt }))
      .toSorted((a, b) => a.admittedAt - b.admittedAt);
  }

  #repeatedBy({ claim, generation, admittedAt }: Charge["settlement"]): string | undefined {
    const others = claim ? this.#spent(claim.id).filter((one) => one.generation !== generation) : [];
    return others.find((one) => Math.abs(one.admittedAt - admittedAt) < idempotencyMs)?.generation;
  }

  /** All charges of a workspace in one transaction share an entry. @returns its sequence */
  #enter(workspace: string, cost: bigint, opened: Map<string, MemoryEntry>): bigint {
    const account = this.#account(workspace);
    account.balance -= cost;
    let entry = opened.get(workspace);
    if (!entry) {
      account.sequence++;
      entry = { kind: "charge", amount: 0n, balanceAfter: 0n, reference: null, charges: 0 };
      account.entries.push(entry);
      opened.set(workspace, entry);
    }
    entry.amount -= cost;
    entry.balanceAfter = account.balance;
    entry.charges = (entry.charges ?? 0) + 1;
    return account.sequence;
  }

  /** A named month has its totals, even if they are zero. */
  #spend({ workspace, key, month }: Charge["settlement"], cost: bigint): void {
    const name = `${workspace} ${month}`;
    this.workspaceMonths.set(name, (this.workspaceMonths.get(name) ?? 0n) + cost);
    const total = this.keyMonths.get(`${key} ${month}`) ?? { spent: 0n, version: 0n };
    this.keyMonths.set(`${key} ${month}`, { spent: total.spent + cost, version: total.version });
  }

  #addToBudgets(settlement: Charge["settlement"], cost: bigint): void {
    for (const { key: name, spent } of this.#budgetsOf(settlement)) this.budgetTotals.set(name, spent + cost);
  }

  /** The kept totals that a charge counts in. */
  #budgetsOf(settlement: Charge["settlement"]): { key: string; total: BudgetHold; spent: bigint }[] {
    return [...this.budgetTotals].flatMap(([key, spent]) => {
      const [workspace = "", name = "", since] = key.split(" ");
      const total = { name, since: Number(since) };
      return this.#isCounted(settlement, workspace, total) ? [{ key, total, spent }] : [];
    });
  }

  #isCounted({ workspace, key, admittedAt }: Charge["settlement"], of: string, total: BudgetHold): boolean {
    const callers = this.#callersOf(total.name);
    return workspace === of && (callers === null || callers.includes(key)) && isInPeriod(total, admittedAt);
  }

  #callersOf(name: string): string[] | null {
    if (name === "day:") return null;
    const [kind, caller = ""] = name.split(":");
    if (kind === "day") return [caller];
    return [caller, ...[...this.owners].flatMap(([key, owner]) => (owner === caller ? [key] : []))];
  }

  #budgetPush(workspace: string, { name, since }: BudgetHold): BudgetPush {
    const spent = this.budgetTotals.get(`${workspace} ${name} ${since}`) ?? 0n;
    return { workspace, name, since, spent, sequence: this.#version(workspace) };
  }

  /** Absent where none is kept, as in SQL. */
  #budgetPushes(charges: Charge[]): Pick<Booked, "budgets"> {
    const pushes = new Map<string, BudgetPush>();
    for (const { settlement } of charges) {
      for (const { key, total } of this.#budgetsOf(settlement)) pushes.set(key, this.#budgetPush(settlement.workspace, total));
    }
    return pushes.size === 0 ? {} : { budgets: [...pushes.values()] };
  }

  #latestBudgets(of: string): { name: string; since: number; spent: bigint }[] {
    const latest = new Map<string, { name: string; since: number; spent: bigint }>();
    for (const [key, spent] of this.budgetTotals) {
      const [workspace = "", name = "", since] = key.split(" ");
      const known = latest.get(name);
      if (workspace === of && (!known || known.since < Number(since))) latest.set(name, { name, since: Number(since), spent });
    }
    return [...latest.values()];
  }

  #push(workspace: string, months: string[]): AccountPush {
    const { balance } = this.#account(workspace);
    const totals = [...new Set(months)].map((month) => ({
      month,
      spent: this.workspaceMonths.get(`${workspace} ${month}`) ?? 0n,
    }));
    return { workspace, balance, sequence: this.#version(workspace), months: totals };
  }

  #keyMonth({ workspace, key, month }: { workspace: string; key: string; month: string }): KeyMonthPush {
    const { spent, version } = this.keyMonths.get(`${key} ${month}`) ?? { spent: 0n, version: 0n };
    const epoch = this.epochs.of(workspace);
    return {
      workspace,
      key,
      month,
      spent,
      version: ledgerVersion({ epoch, number: version }),
      sequence: this.#version(workspace),
    };
  }

  #version(workspace: string): bigint {
    return ledgerVersion({ epoch: this.epochs.of(workspace), number: this.accounts.get(workspace)?.sequence ?? 0n });
  }

  #account(workspace: string): MemoryAccount {
    const account = this.accounts.get(workspace);
    if (!account) throw new Error(`The test has no workspace "${workspace}"`);
    return account;
  }
}

function generationsOf(charges: Charge[]): Set<string> {
  return new Set(charges.map(({ settlement }) => settlement.generation));
}
