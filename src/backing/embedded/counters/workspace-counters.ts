/** The counters of one workspace: the layout of ../../counters.ts as Maps. */
import type { Hold } from "../../counters.ts";
import type { Month } from "../../../kernel/clock.ts";
import type { GenerationId, KeyId } from "../../../kernel/ids.ts";
import type { NanoUsd } from "../../../kernel/money.ts";
import { AdmissionLog } from "./admission-log.ts";
import { nothingLent, type Lending } from "./lending.ts";
import { changeHeldInBudgets, type BudgetCounters } from "./budgets.ts";

/** A month of a workspace or of a key. */
export interface MonthTotals {
  /** Sum of charges; null: not known. */
  spent: NanoUsd | null;
  /** Of `spent`; -1: not known. */
  version: bigint;
  /** Sum of open holds. */
  held: NanoUsd;
}

export interface WorkspaceCounters {
  ready: boolean;
  /** The name under which a running load began. */
  loading: string | null;
  balance: NanoUsd;
  /** Of `balance`; -1: not known. */
  sequence: bigint;
  reserved: NanoUsd;
  /** The part of `reserved` that blocks hold. */
  lent: NanoUsd;
  months: Map<Month, MonthTotals>;
  keyMonths: Map<KeyId, Map<Month, MonthTotals>>;
  budgets: BudgetCounters;
  logs: Map<KeyId, AdmissionLog>;
  holds: Map<GenerationId, Hold>;
  lending: Lending;
}

export function unknownWorkspace(): WorkspaceCounters {
  return {
    ready: false,
    loading: null,
    balance: 0n,
    sequence: -1n,
    reserved: 0n,
    lent: 0n,
    months: new Map(),
    keyMonths: new Map(),
    budgets: new Map(),
    logs: new Map(),
    holds: new Map(),
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

function changeHeld(space: WorkspaceCounters, hold: Hold, change: NanoUsd): void {
  space.reserved += change;
  if (hold.fingerprint === "") space.lent += change;
  monthTotals(space.months, hold.month).held += change;
  keyMonthTotals(space, hold.key, hold.month).held += change;
  if (hold.budgets) changeHeldInBudgets(space.budgets, hold.budgets, change);
}

function found<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const present = map.get(key);
  if (present !== undefined) return present;
  const made = make();
  map.set(key, made);
  return made;
}
