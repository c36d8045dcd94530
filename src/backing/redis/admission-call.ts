/** The arguments of admit.lua: a batch of requests. */
import type { AdmitBatch, AdmitRequest, Budget } from "../counters.ts";
import { dayAfter, monthBounds, type Month } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { holdMs, rateWindowMs, tombstoneMs } from "../limits.ts";
import { baseName } from "./base-name.ts";
import { budgetField, headField, keyMonthField, lendingField, monthField, windowField } from "./fields.ts";
import { packedArguments, type Packing } from "./packed-arguments.ts";

/** A request with its place in the batch: a call has them by workspace. */
export type Placed = [place: number, request: AdmitRequest];

/** @param workspaces each with its requests; the replies are in this order */
export function admissionValues(
  { month, day = 0 }: Pick<AdmitBatch, "month" | "day">,
  workspaces: readonly (readonly [WorkspaceId, Placed[]])[],
  { run }: { run: number },
): (string | Buffer)[] {
  const { startMs, endMs } = monthBounds(month);
  const numbers = [workspaces.length, run, startMs, endMs, holdMs, rateWindowMs, tombstoneMs];
  const packing: Packing = { texts: [], numbers };
  for (const [workspace, placed] of workspaces) packRequests(packing, { workspace, month, day, placed });
  return packedArguments(packing);
}

export function placedByWorkspace(requests: readonly AdmitRequest[]): Map<WorkspaceId, Placed[]> {
  const byWorkspace = new Map<WorkspaceId, Placed[]>();
  for (const [place, request] of requests.entries()) {
    const placed = byWorkspace.get(request.workspace);
    if (placed) placed.push([place, request]);
    else byWorkspace.set(request.workspace, [[place, request]]);
  }
  return byWorkspace;
}

function packRequests(
  { texts, numbers }: Packing,
  { workspace, month, day, placed }: { workspace: WorkspaceId; month: Month; day: number; placed: Placed[] },
): void {
  const budgets = budgetsOf(placed);
  texts.push(baseName(workspace), headField, monthField(month), lendingField);
  for (const [, { generation }] of placed) texts.push(generation);
  const keys = new Map<KeyId, number>();
  for (const [, { key }] of placed) {
    if (keys.has(key)) continue;
    keys.set(key, keys.size);
    texts.push(windowField(key), keyMonthField({ key, month }));
  }
  numbers.push(budgets === null ? placed.length : -placed.length, keys.size);
  if (budgets !== null) packBudgets({ texts, numbers }, { budgets, month, day });
  for (const [, request] of placed) {
    texts.push(request.fingerprint);
    numbers.push(
      keys.get(request.key) ?? 0,
      request.requestsPerMinute,
      Number(request.amount),
      Number(request.keyLimit ?? Infinity),
      Number(request.workspaceLimit ?? Infinity),
      request.deadline ?? Infinity,
      request.modelRefusal === null ? 0 : 1,
    );
    if (budgets !== null) packLimits(numbers, { asked: request.budgets ?? [], budgets });
  }
}

/** All budgets of a workspace's requests by name, in the order of their fields; null: none has one. */
function budgetsOf(placed: Placed[]): Map<string, Budget> | null {
  let budgets: Map<string, Budget> | null = null;
  for (const [, request] of placed) {
    for (const budget of request.budgets ?? []) (budgets ??= new Map()).set(budget.name, budget);
  }
  return budgets;
}

function packBudgets(
  { texts, numbers }: Packing,
  { budgets, month, day }: { budgets: Map<string, Budget>; month: Month; day: number },
): void {
  const { startMs, endMs } = monthBounds(month);
  numbers.push(budgets.size);
  for (const { name, period } of budgets.values()) {
    texts.push(budgetField(name));
    if (period === "day") numbers.push(day, dayAfter(day));
    else numbers.push(startMs, endMs);
  }
}

function packLimits(numbers: number[], { asked, budgets }: { asked: readonly Budget[]; budgets: Map<string, Budget> }): void {
  const places = [...budgets.keys()];
  numbers.push(asked.length);
  for (const { name, limit } of asked) numbers.push(places.indexOf(name), Number(limit));
}
