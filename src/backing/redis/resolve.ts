/**
 * The arguments of resolve.lua: releases and pushes, split by workspace into rounds that delay no admission for long; admissions run
 * between the rounds. Pushes come first: until its hold is released a cost counts twice, and it is never left out.
 */
import { previousMonth } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import {
  countableBalance,
  type AccountPush,
  type BudgetPush,
  type KeyMonthPush,
  type Resolve,
  type ResolveBatch,
  type Resolution,
} from "../counters.ts";
import { budgetKeptMs, rateWindowMs, tombstoneMs, resolveBatchMax } from "../limits.ts";
import { baseName, budgetField, headField, keyMonthField, monthField, packedArguments, type Packing } from "./encoding.ts";

export function resolveValues(parts: readonly ResolvePart[]): (string | Buffer)[] {
  const packing: Packing = { texts: [], numbers: [parts.length, tombstoneMs, rateWindowMs, budgetKeptMs] };
  for (const part of parts) pack(packing, part);
  return packedArguments(packing);
}

function pack({ texts, numbers }: Packing, { workspace, resolve, accounts, keyMonths, budgets }: ResolvePart): void {
  const months = accounts.flatMap((account) => account.months.map(({ month }) => month));
  texts.push(baseName(workspace), headField);
  const hasBudgets = budgets.length > 0;
  numbers.push(hasBudgets ? -1 - resolve.length : resolve.length, accounts.length, months.length, keyMonths.length);
  if (hasBudgets) numbers.push(budgets.length);
  for (const [, { generation, as }] of resolve) {
    texts.push(generation);
    numbers.push(numberOf(as));
  }
  for (const month of months) texts.push(monthField(month));
  for (const { balance, sequence, months: totals } of accounts) {
    numbers.push(Number(countableBalance(balance)), Number(sequence), totals.length);
    for (const { spent } of totals) numbers.push(Number(spent));
  }
  for (const push of keyMonths) {
    texts.push(keyMonthField(push));
    numbers.push(Number(push.spent), Number(push.version), Number(push.sequence));
  }
  for (const { name, spent, since, sequence } of budgets) {
    texts.push(budgetField(name));
    numbers.push(Number(spent), since, Number(sequence));
  }
  for (const month of months) texts.push(previousMonth(month));
}

// Rounds

/** The releases and pushes of one workspace. */
interface ResolvePart {
  workspace: WorkspaceId;
  /** Each with its place in the batch. */
  resolve: [place: number, resolve: Resolve][];
  accounts: AccountPush[];
  keyMonths: KeyMonthPush[];
  budgets: BudgetPush[];
}

/** Admissions run between the rounds. One round holds all of a workspace unless that is too much for a round. */
export function resolveRounds(batch: ResolveBatch): Map<WorkspaceId, ResolvePart>[] {
  const rounds: Map<WorkspaceId, ResolvePart>[] = [];
  let room = 0;
  for (const whole of partsByWorkspace(batch)) {
    for (const part of pieces(whole)) {
      if (sizeOf(part) > room) {
        rounds.push(new Map());
        room = resolveBatchMax;
      }
      rounds.at(-1)?.set(part.workspace, part);
      room -= sizeOf(part);
    }
  }
  return rounds;
}

function partsByWorkspace({ resolve, accounts, keyMonths, budgets = [] }: ResolveBatch): Iterable<ResolvePart> {
  const parts = new Map<WorkspaceId, ResolvePart>();
  const partOf = ({ workspace }: { workspace: WorkspaceId }): ResolvePart => {
    const known = parts.get(workspace);
    if (known) return known;
    const part: ResolvePart = { workspace, resolve: [], accounts: [], keyMonths: [], budgets: [] };
    parts.set(workspace, part);
    return part;
  };
  for (const [place, one] of resolve.entries()) partOf(one).resolve.push([place, one]);
  for (const push of accounts) partOf(push).accounts.push(push);
  for (const push of keyMonths) partOf(push).keyMonths.push(push);
  for (const push of budgets) partOf(push).budgets.push(push);
  return parts.values();
}

/** Pushes come first: until its hold is released a cost counts twice; it is never left out. */
function* pieces(whole: ResolvePart): Generator<ResolvePart> {
  const { workspace, resolve, accounts, keyMonths, budgets } = whole;
  if (sizeOf(whole) <= resolveBatchMax) return yield whole;
  for (let from = 0; from < sizeOf(whole); from += resolveBatchMax) {
    const some = <T>(list: T[], startsAt: number): T[] =>
      list.slice(Math.max(0, from - startsAt), Math.max(0, from + resolveBatchMax - startsAt));
    yield {
      workspace,
      accounts: some(accounts, 0),
      keyMonths: some(keyMonths, accounts.length),
      budgets: some(budgets, accounts.length + keyMonths.length),
      resolve: some(resolve, accounts.length + keyMonths.length + budgets.length),
    };
  }
}

function sizeOf({ resolve, accounts, keyMonths, budgets }: ResolvePart): number {
  return resolve.length + accounts.length + keyMonths.length + budgets.length;
}

// Resolutions, by the numbers that the functions store

const numbers: Readonly<Record<Resolution, number>> = { settled: 1, void: 2, expired: 3, unknown: 4 };
const resolutions: readonly Resolution[] = ["settled", "void", "expired", "unknown"];

/** @throws Error when no resolution has this number */
export function resolutionOf(number: number): Resolution {
  const resolution = resolutions.find((one) => numbers[one] === number);
  if (resolution === undefined) throw new Error(`Cannot read ${number} in a function's reply: it is not a resolution`);
  return resolution;
}

function numberOf(resolution: Resolution): number {
  return numbers[resolution];
}
