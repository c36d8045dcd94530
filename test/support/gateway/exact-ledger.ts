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

/** Waits until nothing is reserved any more. @returns the log's rows, newest first */
export async function expectExactLedger(
  operator: Operator,
  { workspace }: Pick<Customer, "workspace">,
  { credit, generations, costNano }: Expected,
): Promise<LogRow[]> {
  let rows: LogRow[] = [];
  await until(async () => {
    rows = await operator.log(`workspace=${workspace}&limit=1000`);
    return rows.length >= generations && (await operator.show(workspace)).reserved_usd === formatUsd(0n);
  });
  expect(rows).toHaveLength(generations);
  const charged = rows.reduce((sum, { cost_usd }) => sum + parseUsd(cost_usd), 0n);
  if (costNano !== undefined) expect(charged).toBe(costNano);
  expect((await operator.show(workspace)).balance_usd).toBe(formatUsd(parseUsd(credit) - charged));
  expect(await operator.verify()).toMatchObject({ ok: true, broken: null });
  return rows;
}
