/** Runs commands on counters and on the naive ones, and checks every reply and every state against the invariants. */
import { expect } from "bun:test";
import type { AdmitReply, AdmitRequest, BudgetTotal, Hold, WorkspaceLoad } from "../../../src/backing/counters.ts";
import { dayOf, monthBounds, monthOf, previousMonth } from "../../../src/kernel/clock.ts";
import { countersConserve } from "../../invariants/checks/counters-conserve.ts";
import { budgetNames, type Command } from "./commands.ts";
import { countedWorkspaces, countersStartMs, type CountersHarness, type Dump } from "./harness.ts";
import { NaiveCounters } from "./naive.ts";

type Admit = Command & { kind: "admit" };

export class History {
  readonly #stores: CountersHarness[];
  readonly #naive = new NaiveCounters();
  /** When requests of a key were admitted, in true time: the clock's, but unaffected by setting it back. */
  readonly #admitted = new Map<string, number[]>();
  #trueTime = 0;
  #wasSetBack = false;

  /** @param stores any number of implementations, which must all reply the same */
  constructor(stores: CountersHarness[]) {
    this.#stores = stores;
  }

  async begin(): Promise<void> {
    for (const store of this.#stores) {
      await store.advance(countersStartMs - store.now());
      await store.wipe();
    }
  }

  async play(command: Command): Promise<void> {
    switch (command.kind) {
      case "admit":
        return this.#admit(command);
      case "resolve":
        return this.#resolve(command);
      case "load":
        return this.#load(command);
      case "prepare":
        return this.#prepare(command.balance);
      case "advance":
        return this.#advance(command.ms);
      case "set back":
        return this.#setBack(command.ms);
      case "to month edge":
        return this.#advance(Math.max(0, monthBounds(monthOf(this.#now)).endMs + command.ms - this.#now));
      case "wipe":
        this.#admitted.clear();
        this.#naive.wipe();
        return this.#all((store) => store.wipe());
      case "restart":
        this.#naive.restart();
        return this.#all((store) => store.restart());
      case "look":
        return this.#look(command);
    }
  }

  /** All stores have the same state, and their precomputed sums equal the sums of their parts. */
  async end(): Promise<void> {
    for (const workspace of countedWorkspaces) {
      const [first, ...others] = await Promise.all(this.#stores.map((store) => store.dump(workspace)));
      if (!first) return;
      for (const other of others) expect(other).toEqual(first);
      expect(countersConserve(workspace, first).broken).toEqual([]);
      expect(first.account.reserved).toBe(String(this.#naive.space(workspace).held()));
    }
  }

  get #now(): number {
    return this.#stores[0]?.now() ?? 0;
  }

  #observe(): number {
    this.#naive.endTombstones(this.#now);
    return this.#now;
  }

  async #all(act: (store: CountersHarness) => Promise<void>): Promise<void> {
    await Promise.all(this.#stores.map(act));
  }

  #advance(ms: number): Promise<void> {
    this.#trueTime += Math.max(0, ms);
    return this.#all((store) => store.advance(ms));
  }

  /** Not back to a time before the end of a tombstone that a store may have forgotten since. */
  async #setBack(ms: number): Promise<void> {
    if (this.#wasSetBack || this.#naive.endedLast >= this.#now - ms) return;
    this.#wasSetBack = true;
    await this.#advance(-ms);
  }

  async #admit({ requests, inMonth }: Admit): Promise<void> {
    const now = this.#observe();
    const month = inMonth ? monthOf(now) : "2026-09";
    const day = inMonth ? dayOf(now) : 0;
    const batch = requests.map(({ deadlineIn, budgets, ...request }) => ({
      ...request,
      ...(budgets.length > 0 && { budgets }),
      deadline: deadlineIn === null ? null : now + deadlineIn,
    }));
    const expected = batch.map((request) => this.#naive.admit(request, { now, month, day }));
    const isRefused = expected.every((reply) => reply.outcome !== "admitted" || reply.replay);
    for (const store of this.#stores) {
      const before = isRefused ? await dumpAll(store) : null;
      expect(await store.counters.admitMany({ month, day, requests: batch })).toEqual({ now, replies: expected });
      if (before) expect(await dumpAll(store)).toEqual(before);
    }
    for (const [index, reply] of expected.entries()) this.#checkReply(batch[index], reply);
  }

  /** Credit is never below zero after an admission, and no minute has more admissions than its limit. */
  #checkReply(request: AdmitRequest | undefined, reply: AdmitReply): void {
    if (!request || reply.outcome !== "admitted" || reply.replay) return;
    expect(reply.available).toBeGreaterThanOrEqual(0n);
    const name = `${request.workspace} ${request.key}`;
    const times = [...(this.#admitted.get(name) ?? []), this.#trueTime];
    this.#admitted.set(name, times);
    expect(times.filter((time) => this.#trueTime < time + 60_000).length).toBeLessThanOrEqual(request.requestsPerMinute);
  }

  async #resolve({ resolve, accounts, keyMonths, budgets: told }: Command & { kind: "resolve" }): Promise<void> {
    const now = this.#observe();
    const freed = resolve.map((one) => this.#naive.resolve(one, now));
    for (const push of accounts) this.#naive.pushAccount(push, now);
    for (const push of keyMonths) this.#naive.pushKeyMonth(push);
    const budgets = told.map(({ workspace, sequence, ...total }) => ({ workspace, sequence, ...totalAt(total, now) }));
    for (const push of budgets) this.#naive.pushBudget(push, now);
    const batch = { resolve, accounts, keyMonths, ...(budgets.length > 0 && { budgets }) };
    await this.#all(async ({ counters }) => expect(await counters.resolveMany(batch)).toEqual(freed));
  }

  /** A hold counts against the budgets of the load that it was admitted under, as a worker finds out. */
  async #load({ account, budgets: told, keepsHolds, reported, windows }: Command & { kind: "load" }): Promise<void> {
    const now = this.#observe();
    const month = monthOf(now);
    const known = keepsHolds ? this.#naive.space(account.workspace).holds : [];
    const budgets = told.map((total) => totalAt(total, now));
    const found = reported.map((one): Hold => ({
      ...one,
      fingerprint: "f00d",
      month,
      admittedAt: now,
      deadline: now + 1_200_000,
    }));
    const load: WorkspaceLoad = {
      account,
      ...(budgets.length > 0 && { budgets }),
      holds: [...known, ...found].map((hold) => countedIn(hold, budgets)),
      windows: windows.map(({ key, agesMs }) => ({ key, times: agesMs.map((age) => now - age) })),
    };
    this.#naive.load(load, now);
    await this.#all(({ counters }) => counters.load(load));
  }

  async #prepare(balance: bigint): Promise<void> {
    const month = monthOf(this.#now);
    for (const workspace of countedWorkspaces) {
      const account = { workspace, balance, sequence: 5n, months: [{ month, spent: 0n }] };
      await this.play({ kind: "load", account, budgets: [], keepsHolds: true, reported: [], windows: [] });
      const keyMonths = ["k1", "k2"].map((key) => ({ workspace, key, month, spent: 0n, version: 0n, sequence: 5n }));
      const budgets = budgetNames.map((name) => ({ workspace, name, periodIn: 0 as const, spent: 0n, sequence: 5n }));
      await this.play({ kind: "resolve", resolve: [], accounts: [account], keyMonths, budgets });
    }
  }

  async #look({ workspace, key }: Command & { kind: "look" }): Promise<void> {
    const space = this.#naive.space(workspace);
    const now = this.#now;
    const { value: balance, version: sequence } = space.balance;
    const account = space.ready ? { balance, reserved: space.held(), available: space.available, sequence } : null;
    const keySpent = space.ready ? (space.keyMonths.get(`${key}:${monthOf(now)}`)?.value ?? null) : null;
    const holds = space.holds.toSorted((a, b) => (a.generation < b.generation ? -1 : 1));
    const overdue = holds.filter(({ deadline }) => deadline <= now).toSorted((a, b) => a.deadline - b.deadline);
    await this.#all(async ({ counters }) => {
      expect(await counters.read(workspace, key)).toEqual({ now, account, keySpent, lent: 0n, blocks: new Map() });
      expect(await counters.holds(workspace)).toEqual(holds);
      expect(await counters.overdue(workspace, 3)).toEqual(overdue.slice(0, 3));
    });
  }
}

interface RandomTotal {
  name: string;
  /** How many periods after the current one. */
  periodIn: number;
  spent: bigint;
}

function totalAt({ name, periodIn, spent }: RandomTotal, now: number): BudgetTotal {
  if (name.startsWith("day:")) return { name, since: dayOf(now) + periodIn * 86_400_000, spent };
  const { startMs, endMs } = monthBounds(monthOf(now));
  const since = periodIn > 0 ? endMs : periodIn < 0 ? monthBounds(previousMonth(monthOf(now))).startMs : startMs;
  return { name, since, spent };
}

/** Counts a hold against those of the totals whose period it was admitted in. */
function countedIn({ budgets: _, ...hold }: Hold, totals: readonly BudgetTotal[]): Hold {
  const counting = totals.filter(({ name, since }) => {
    const at = { name, periodIn: 0, spent: 0n };
    return totalAt(at, hold.admittedAt).since === since && (name !== "day:k1" || hold.key === "k1");
  });
  return counting.length === 0 ? hold : { ...hold, budgets: counting.map(({ name, since }) => ({ name, since })) };
}

function dumpAll(store: CountersHarness): Promise<Dump[]> {
  return Promise.all(countedWorkspaces.map((workspace) => store.dump(workspace)));
}
