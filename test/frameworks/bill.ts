/**
 * Whether the log, the ledger and the balance of workspaces agree with what a provider billed: each of its answers is one row with the same
 * counts at the catalog's prices, and nothing else was charged. Of a stream that broke the provider says no count, so its row is an estimate.
 */
import { formatUsd, parseUsd } from "../../src/kernel/money.ts";
import type { LogRow, Operator } from "../support/operator.ts";
import { until } from "../support/until.ts";
import type { Bill } from "./coding-model.ts";

/** Of the stub's model, in nano-USD a token. */
const prices = { input: 1_000n, output: 2_000n };
const waitMs = 30_000;

/** @param credits by workspace what it was given, in USD @returns what does not agree; null: all does */
export async function disagreement(
  operator: Operator,
  credits: Readonly<Record<string, string>>,
  bills: readonly Bill[],
): Promise<string | null> {
  const workspaces = Object.keys(credits);
  let rows: LogRow[] = [];
  try {
    await until(async () => {
      rows = (await Promise.all(workspaces.map((workspace) => operator.log(`workspace=${workspace}&limit=1000`)))).flat();
      const shown = await Promise.all(workspaces.map((workspace) => operator.show(workspace)));
      return rows.length >= bills.length && shown.every(({ reserved_usd }) => reserved_usd === formatUsd(0n));
    }, waitMs);
  } catch {
    return `the provider billed ${bills.length} answers, the log has ${rows.length} rows, or credit is still reserved`;
  }
  const { ok, broken } = await operator.verify();
  if (!ok) return `ledger verify: ${JSON.stringify(broken)}`;
  return differentRows(rows, bills) ?? (await differentBalance(operator, credits, rows));
}

function differentRows(rows: readonly LogRow[], bills: readonly Bill[]): string | null {
  const isWhole = ({ code }: LogRow) => code === null;
  const logged = rows.filter(isWhole).map((row) => `${row.prompt_tokens}+${row.completion_tokens} for ${row.cost_usd}`);
  const billed = bills.filter(({ broke }) => !broke).map((bill) => `${bill.input}+${bill.output} for ${formatUsd(costOf(bill))}`);
  const onlyLogged = logged.filter((one) => !billed.includes(one));
  const onlyBilled = billed.filter((one) => !logged.includes(one));
  if (onlyLogged.length + onlyBilled.length > 0 || logged.length !== billed.length) {
    return `only in the log: ${onlyLogged.join(", ") || "nothing"}; only billed: ${onlyBilled.join(", ") || "nothing"}`;
  }
  const broken = rows.filter((row) => !isWhole(row));
  const broke = bills.filter((bill) => bill.broke).length;
  if (broken.length !== broke) return `${broke} streams broke, and ${broken.length} rows say so: ${JSON.stringify(broken)}`;
  const exact = broken.find((row) => !row.usage_estimated || row.code !== "upstream_error");
  return exact === undefined ? null : `a broken stream is in the log as ${JSON.stringify(exact)}`;
}

async function differentBalance(
  operator: Operator,
  credits: Readonly<Record<string, string>>,
  rows: readonly LogRow[],
): Promise<string | null> {
  const charged = rows.reduce((sum, { cost_usd }) => sum + parseUsd(cost_usd), 0n);
  let left = 0n;
  for (const [workspace, credit] of Object.entries(credits)) {
    left += parseUsd(credit) - parseUsd((await operator.show(workspace)).balance_usd);
  }
  return left === charged ? null : `the log has charges of ${formatUsd(charged)}, the balances ${formatUsd(left)}`;
}

function costOf({ input, output }: Bill): bigint {
  return BigInt(input) * prices.input + BigInt(output) * prices.output;
}
