/** The arguments of resolve.lua: releases and pushes. */
import { countableBalance } from "../credit-bound.ts";
import { previousMonth } from "../../kernel/clock.ts";
import { budgetKeptMs, rateWindowMs, tombstoneMs } from "../limits.ts";
import { baseName } from "./base-name.ts";
import { budgetField, headField, keyMonthField, monthField } from "./fields.ts";
import { packedArguments, type Packing } from "./packed-arguments.ts";
import { numberOf } from "./resolutions.ts";
import type { ResolvePart } from "./resolve-part.ts";

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
