/** The effects of requests on a workspace must equal its log, with no request in flight. */
import { expect } from "bun:test";
import { formatUsd, parseUsd } from "../../../src/kernel/money.ts";
import type { Customer, LogRow, Operator } from "../operator.ts";
import { until } from "../until.ts";

export interface Expected {
  /** Given to the workspace, in USD. */
  credit: string;
  /** Accepted requests. */
  generations: number;
  /** Total charge in nano-USD; absent: the log's sum. */
  costNano?: bigint;
}

/** Like `expectExactBalance`, and the whole ledger is proved. */
export async function expectExactLedger(
  operator: Operator,
  customer: Pick<Customer, "workspace">,
  expected: Expected,
): Promise<LogRow[]> {
  const rows = await expectExactBalance(operator, customer, expected);
  await expectSoundLedger(operator);
  return rows;
}

/** The ledger of all workspaces is proved, which takes longer the more it contains. */
export async function expectSoundLedger(operator: Operator): Promise<void> {
  expect(await operator.verify()).toMatchObject({ ok: true, broken: null });
}

/** Waits until nothing is reserved. @returns the log's rows, newest first */
export async function expectExactBalance(
  operator: Operator,
  { workspace }: Pick<Customer, "workspace">,
  { credit, generations, costNano }: Expected,
): Promise<LogRow[]> {
  let rows: LogRow[] = [];
  let balance = "";
  await until(async () => {
    rows = await operator.log(`workspace=${workspace}&limit=1000`);
    if (rows.length < generations) return false;
    const shown = await operator.show(workspace);
    balance = shown.balance_usd;
    return shown.reserved_usd === formatUsd(0n);
  });
  expect(rows).toHaveLength(generations);
  const charged = rows.reduce((sum, { cost_usd }) => sum + parseUsd(cost_usd), 0n);
  if (costNano !== undefined) expect(charged).toBe(costNano);
  expect(balance).toBe(formatUsd(parseUsd(credit) - charged));
  return rows;
}
