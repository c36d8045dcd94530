/**
 * The counters of one workspace as Maps: spent and held by month and key, holds, rate windows, blocks lent to gateways, tombstones. Redis
 * keeps the same in the layout of ../redis/functions.ts. A window is an exact log of the last minute, and never goes back in time: a clock
 * that was set back frees no place. A tombstone says for a minute how a generation was resolved, so that an admission that arrives late is
 * refused; only the first resolution releases the hold.
 */
import type { Month } from "../../kernel/clock.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { HeldClaim, Hold, RateWindow, Resolution } from "../counters.ts";
import { claimMs, rateWindowMs, tombstoneMs } from "../limits.ts";
import { changeHeldInBudgets, type BudgetCounters } from "./budgets.ts";

/** A month of a workspace or of a key. */
export interface MonthTotals {
  /** Sum of charges; null: not known. */
  spent: NanoUsd | null;
  /** The version of `spent`; -1: not known. */
  version: bigint;
  /** Sum of open holds. */
  held: NanoUsd;
}

export interface WorkspaceCounters {
  ready: boolean;
  /** The name under which a running load began. */
  loading: string | null;
  /** When it became ready, by the store's clock. */
  loadedAt: number;
  balance: NanoUsd;
  /** The version of `balance`; -1: not known. */
  sequence: bigint;
  reserved: NanoUsd;
  /** The part of `reserved` that blocks hold. */
  lent: NanoUsd;
  months: Map<Month, MonthTotals>;
  keyMonths: Map<KeyId, Map<Month, MonthTotals>>;
  budgets: BudgetCounters;
  logs: Map<KeyId, AdmissionLog>;
  holds: Map<GenerationId, Hold>;
  claims: Claims;
  lending: Lending;
}

export function unknownWorkspace(): WorkspaceCounters {
  return {
    ready: false,
    loading: null,
    loadedAt: Infinity,
    balance: 0n,
    sequence: -1n,
    reserved: 0n,
    lent: 0n,
    months: new Map(),
    keyMonths: new Map(),
    budgets: new Map(),
    logs: new Map(),
    holds: new Map(),
    claims: { newer: new Map(), older: new Map(), since: 0 },
    lending: nothingLent(),
  };
}

export function monthTotals(months: Map<Month, MonthTotals>, month: Month): MonthTotals {
  return found(months, month, () => ({ spent: null, version: -1n, held: 0n }));
}

export function keyMonthTotals(space: WorkspaceCounters, key: KeyId, month: Month): MonthTotals {
  return monthTotals(
    found(space.keyMonths, key, () => new Map()),
    month,
  );
}

export function admissionLog(space: WorkspaceCounters, key: KeyId): AdmissionLog {
  return found(space.logs, key, () => new AdmissionLog());
}

/** Adds a hold to all totals that it counts against. */
export function addHold(space: WorkspaceCounters, hold: Hold): void {
  space.holds.set(hold.generation, hold);
  changeHeld(space, hold, hold.amount);
}

/** @returns the amount that was freed */
export function removeHold(space: WorkspaceCounters, generation: GenerationId): NanoUsd {
  const hold = space.holds.get(generation);
  if (!hold) return 0n;
  space.holds.delete(generation);
  changeHeld(space, hold, -hold.amount);
  return hold.amount;
}

/** Makes a hold smaller; at zero it is removed. */
export function changeHold(space: WorkspaceCounters, hold: Hold, amount: NanoUsd): void {
  changeHeld(space, hold, amount - hold.amount);
  if (amount === 0n) space.holds.delete(hold.generation);
  else space.holds.set(hold.generation, { ...hold, amount });
}

/** Places of a window that are lent to gateways, and when the first of them leave it. */
export interface LentPlaces {
  places: number;
  leaveAt: number;
}

const noneLent: LentPlaces = { places: 0, leaveAt: Infinity };

/** The times at which a key's requests of the last minute were admitted: an exact log, ascending, in milliseconds. */
export class AdmissionLog {
  #times: number[] = [];
  /** Earlier times have left the window and wait to be removed. */
  #first = 0;

  get count(): number {
    return this.#times.length - this.#first;
  }

  get times(): readonly number[] {
    return this.#times.slice(this.#first);
  }

  /** 0 when there is none. */
  get newest(): number {
    return this.#times.at(-1) ?? 0;
  }

  /**
   * Drops times that have left the window. Returns the time under which an admission would be logged now: never before the newest
   * one, so that a clock that was set back frees no place.
   */
  advance(clockMs: number): number {
    const nowMs = Math.max(clockMs, this.newest);
    while (this.count > 0 && this.#oldest() <= nowMs - rateWindowMs) this.#first++;
    if (this.#first > this.#times.length / 2) {
      this.#times = this.#times.slice(this.#first);
      this.#first = 0;
    }
    return nowMs;
  }

  /** @param atMs the result of `advance` */
  add(atMs: number): void {
    this.#times.push(atMs);
  }

  /** Adds times that are not known yet. A time in both lists is the same request, as often as it is in both. */
  merge(reported: readonly number[]): void {
    const known = this.times;
    const merged: number[] = [];
    let a = 0;
    let b = 0;
    for (;;) {
      const time = Math.min(known[a] ?? Infinity, reported[b] ?? Infinity);
      if (time === Infinity) break;
      if (known[a] === time) a++;
      if (reported[b] === time) b++;
      merged.push(time);
    }
    this.#times = merged;
    this.#first = 0;
  }

  /** Adds the times of further requests, ascending. */
  insert(times: readonly number[]): void {
    const [first] = times;
    if (first === undefined) return;
    const later = this.#times.length - this.#times.findLastIndex((time) => time <= first) - 1;
    const tail = later === 0 ? times : [...this.#times.splice(-later), ...times].toSorted((a, b) => a - b);
    for (const time of tail) this.#times.push(time);
  }

  untilOldestLeaves(clockMs: number, { leaveAt }: LentPlaces = noneLent): number {
    const leavesAt = Math.min(leaveAt, this.count === 0 ? Infinity : this.#oldest() + rateWindowMs);
    return leavesAt === Infinity ? 0 : leavesAt - clockMs;
  }

  shown(requestsPerMinute: number, clockMs: number, lent: LentPlaces = noneLent): RateWindow {
    const remaining = Math.max(0, requestsPerMinute - this.count - lent.places);
    return { remaining, resetMs: this.untilOldestLeaves(clockMs, lent) };
  }

  #oldest(): number {
    return this.#times[this.#first] ?? 0;
  }
}

function found<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const present = map.get(key);
  if (present !== undefined) return present;
  const made = make();
  map.set(key, made);
  return made;
}

function changeHeld(space: WorkspaceCounters, hold: Hold, change: NanoUsd): void {
  space.reserved += change;
  if (hold.fingerprint === "") space.lent += change;
  monthTotals(space.months, hold.month).held += change;
  keyMonthTotals(space, hold.key, hold.month).held += change;
  if (hold.budgets) changeHeldInBudgets(space.budgets, hold.budgets, change);
}

// What a workspace has lent to gateways

/** The blocks of a key. */
export interface LentToKey {
  blocks: Map<string, { places: number; amount: NanoUsd; countsUntil: number }>;
  pausedUntil: number;
}

/** The blocks of a workspace. */
export interface Lending {
  /** No block counts in a window after this. */
  countsUntil: number;
  /** No block keeps credit that it does not need after this. */
  holdsUntil: number;
  /** The sum lent since blocks last held nothing: at least what they hold. */
  amount: NanoUsd;
  pausedUntil: number;
  keys: Map<KeyId, LentToKey>;
}

/** Places of a key's window that are lent. */
export function lentPlaces({ countsUntil, keys }: Lending, key: KeyId, now: number): LentPlaces {
  if (countsUntil <= now) return noneLent;
  const found = { ...noneLent };
  for (const block of keys.get(key)?.blocks.values() ?? []) {
    if (block.countsUntil <= now) continue;
    found.places += block.places;
    found.leaveAt = Math.min(found.leaveAt, block.countsUntil);
  }
  return found;
}

/** The unused part that blocks may hold, for a key or the workspace. Nothing after a recall, which has asked them. */
export function lentAmount({ holdsUntil, amount, pausedUntil, keys }: Lending, key: KeyId | null, now: number): NanoUsd {
  if (pausedUntil > now || holdsUntil <= now) return 0n;
  if (key === null) return amount;
  const ofKey = keys.get(key);
  if (!ofKey || ofKey.pausedUntil > now) return 0n;
  let sum = 0n;
  for (const block of ofKey.blocks.values()) if (block.countsUntil > now) sum += block.amount;
  return sum;
}

export function isRecallable({ pausedUntil, keys }: Lending, key: KeyId, now: number): boolean {
  return pausedUntil <= now && (keys.get(key)?.pausedUntil ?? 0) <= now;
}

/** Which generation has a claim. That counts only while it is open or has a tombstone, so what is older is dropped without a search. */
export interface Claims {
  newer: Map<string, GenerationId>;
  older: Map<string, GenerationId>;
  /** Since when `newer` takes them. */
  since: number;
}

export function claimHolder({ newer, older }: Claims, claim: string): GenerationId | undefined {
  return newer.get(claim) ?? older.get(claim);
}

export function giveClaim(claims: Claims, { claim, generation }: HeldClaim, clockMs: number): void {
  if (clockMs < claims.since || claims.since + claimMs < clockMs) {
    if (claims.since < clockMs) Object.assign(claims, { older: claims.newer, newer: new Map() });
    claims.since = clockMs;
  }
  claims.newer.set(claim, generation);
}

/** Drops those that no longer count, where no later one does. */
export function forgetClaims(claims: Claims, clockMs: number): void {
  if (claims.since + claimMs < clockMs) claims.older = new Map();
  if (claims.since + 2 * claimMs < clockMs) claims.newer = new Map();
}

interface TombstoneOf {
  workspace: WorkspaceId;
  generation: GenerationId;
}

interface Tombstone {
  as: Resolution;
  untilMs: number;
}

/** How generations were resolved in the last minute, so that an admission that arrives late is refused. */
export class Tombstones {
  /** In the order in which they expire, since all have the same lifetime. */
  readonly #tombstones = new Map<string, Tombstone>();

  find(of: TombstoneOf, clockMs: number): Resolution | null {
    const found = this.#tombstones.get(nameOf(of));
    return found && found.untilMs >= clockMs ? found.as : null;
  }

  /** Only the first resolution releases the hold; a later one just renews the lifetime of the tombstone. */
  leave(of: TombstoneOf, as: Resolution, clockMs: number): void {
    const name = nameOf(of);
    const first = this.find(of, clockMs) ?? as;
    this.#tombstones.delete(name);
    this.#tombstones.set(name, { as: first, untilMs: clockMs + tombstoneMs });
  }

  /** Costs nothing if none has expired. */
  dropExpired(clockMs: number): void {
    for (const [name, { untilMs }] of this.#tombstones) {
      if (untilMs >= clockMs) return;
      this.#tombstones.delete(name);
    }
  }
}

/** The common data of all decisions of a batch. */
export interface Moment {
  now: number;
  /** The batch's month and its bounds in milliseconds. */
  month: Month;
  startMs: number;
  endMs: number;
  /** First millisecond of the batch's day. */
  day: number;
  tombstones: Tombstones;
}

function nameOf({ workspace, generation }: TombstoneOf): string {
  return `${workspace} ${generation}`;
}

function nothingLent(): Lending {
  return { countsUntil: 0, holdsUntil: 0, amount: 0n, pausedUntil: 0, keys: new Map() };
}
