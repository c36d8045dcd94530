/** Reads holds from a function's reply, as open-holds.lua appends them. */
import type { BudgetHold, Hold } from "../counters.ts";
import { budgetOf } from "./fields.ts";
import { ReplyReader, type ReplyElement } from "./reply-reader.ts";

const keyMonth = /^k:(.*):(\d{4}-\d\d)$/;

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
