/**
 * The arguments of load and merge-windows, and holds as account.lua appends them to a reply. Times travel as distances, which
 * take a tenth of the bytes, and in calls of a bounded size, since Redis runs nothing else meanwhile.
 */
import type { WorkspaceLoad, BudgetHold, Hold } from "../counters.ts";
import { claimMs, rateWindowMs, tombstoneMs } from "../limits.ts";
import {
  budgetField,
  keyMonthField,
  monthField,
  packedArguments,
  type Packing,
  budgetOf,
  ReplyReader,
  type ReplyElement,
} from "./functions.ts";

/** One call of merge-windows with this many takes some 20 ms, in which Redis runs nothing else. */
const timesPerCallMax = 20_000;

/** The values of load. A generation that is listed twice is one hold. */
export function loadValues(
  { begun, account, budgets = [], holds, claims = [] }: WorkspaceLoad,
  run: number,
): (string | Buffer)[] {
  const { balance, sequence, months } = account;
  const numbers = [run, tombstoneMs, Number(balance), Number(sequence), months.length, budgets.length];
  const packing: Packing = { texts: [], numbers };
  for (const { month, spent } of months) {
    packing.texts.push(monthField(month));
    packing.numbers.push(Number(spent));
  }
  for (const { name, since, spent } of budgets) {
    packing.texts.push(budgetField(name));
    packing.numbers.push(Number(spent), since);
  }
  const open = new Map(holds.toReversed().map((hold) => [hold.generation, hold]));
  for (const hold of open.values()) {
    const counted = hold.budgets ?? [];
    packing.texts.push(hold.generation, keyMonthField(hold), hold.fingerprint, ...counted.map(({ name }) => budgetField(name)));
    packing.numbers.push(
      Number(hold.amount),
      hold.admittedAt,
      hold.deadline,
      counted.length,
      ...counted.map(({ since }) => since),
    );
  }
  const held = claims.flatMap(({ claim, generation, hasEnded }) => [claim, generation, hasEnded ? "ended" : ""]);
  return [begun ?? "", ...packedArguments(packing), ...(held.length > 0 ? [String(claimMs), ...held] : [])];
}

/** The values of merge-windows after the run, for as many calls as the times need. */
export function windowCalls(windows: WorkspaceLoad["windows"]): string[][] {
  const calls: string[][] = [];
  let room = 0;
  for (const { key, times } of windows) {
    if (times.length === 0) continue;
    if (times.length > room) {
      calls.push([String(rateWindowMs)]);
      room = timesPerCallMax;
    }
    calls.at(-1)?.push(key, distances(times));
    room -= times.length;
  }
  return calls;
}

/** Ascending times, each as its distance to the one before: a tenth of the bytes. */
export function distances(times: readonly number[]): string {
  let before = 0;
  return times
    .toSorted((a, b) => a - b)
    .map((time) => {
      const distance = time - before;
      before = time;
      return distance;
    })
    .join(",");
}

const keyMonth = /^k:(.*):(\d{4}-\d\d)$/;

/** Reads holds from a function's reply, as account.lua appends them. */
export function readHolds(reply: readonly ReplyElement[]): Hold[] {
  const reader = new ReplyReader(reply);
  const holds: Hold[] = [];
  while (!reader.atEnd) holds.push(readHold(reader));
  return holds;
}

function readHold(reader: ReplyReader): Hold {
  const generation = reader.text();
  const [, key = "", month = ""] = keyMonth.exec(reader.text()) ?? [];
  const fingerprint = reader.text();
  const [amount, admittedAt, deadline] = [reader.nano(), reader.number(), reader.number()];
  const budgets = readBudgets(reader);
  const hold = { generation, key, month, fingerprint, amount, admittedAt, deadline };
  return budgets.length === 0 ? hold : { ...hold, budgets };
}

function readBudgets(reader: ReplyReader): BudgetHold[] {
  return Array.from({ length: reader.number() }, () => ({ name: budgetOf(reader.text()), since: reader.number() }));
}
