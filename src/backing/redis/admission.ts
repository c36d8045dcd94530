/**
 * The arguments and replies of admit.lua, lend.lua and take-back.lua: a batch of requests packed by workspace, and the port's replies read
 * from numbers and texts in order. A reply that cannot be read is our fault, and throws.
 */
import { dayAfter, monthBounds, type Month } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import type { AdmitBatch, AdmitRequest, Budget, AdmitReply, RateWindow, LendReply, LendRequest, TakeBack } from "../counters.ts";
import {
  holdMs,
  rateWindowMs,
  tombstoneMs,
  blockPauseMs,
  blockPlacesMin,
  blockRateMin,
  blockReturnMsMax,
  blockShare,
} from "../limits.ts";
import {
  baseName,
  budgetField,
  headField,
  keyMonthField,
  lendingField,
  monthField,
  windowField,
  packedArguments,
  type Packing,
  ReplyReader,
  type ReplyElement,
} from "./encoding.ts";
import { distances } from "./load.ts";
import { resolutionOf } from "./resolve.ts";

/** A request with its place in the batch: a call has them by workspace. */
type Placed = [place: number, request: AdmitRequest];

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

// Replies

/** The request that the next elements reply to, and the month and clock of its batch. */
interface DecidedRequest {
  request: AdmitRequest;
  month: Month;
  now: number;
}

/** By the number that admit.lua gives an outcome. */
const outcomes: ((reply: ReplyReader, decided: DecidedRequest) => AdmitReply)[] = [
  (reply, { request, month }) => {
    const [at, available] = [reply.number(), reply.nano()];
    return { outcome: "admitted", at, month, amount: request.amount, available, window: windowIn(reply), replay: false };
  },
  (reply) => {
    const [at, month, amount, available] = [reply.number(), monthIn(reply), reply.nano(), reply.nano()];
    return { outcome: "admitted", at, month, amount, available, window: windowIn(reply), replay: true };
  },
  (reply) => ({ outcome: "rate_limited", retryAfterMs: reply.number(), ...lentIn(reply), window: windowIn(reply) }),
  (reply, { request }) => ({ outcome: "model_refused", reason: request.modelRefusal ?? "", window: windowIn(reply) }),
  (reply) => {
    const [available, balance] = [reply.nano(), reply.nano()];
    return { outcome: "insufficient_credit", available, balance, ...lentIn(reply), window: windowIn(reply) };
  },
  (reply) => ({ outcome: "key_spend_limit_exceeded", headroom: reply.nano(), ...lentIn(reply), window: windowIn(reply) }),
  (reply) => ({ outcome: "account_spend_limit_exceeded", headroom: reply.nano(), ...lentIn(reply), window: windowIn(reply) }),
  (reply) => ({ outcome: "already_resolved", as: resolutionOf(reply.number()) }),
  () => ({ outcome: "conflict" }),
  () => ({ outcome: "late" }),
  (_, { now }) => ({ outcome: "wrong_month", now }),
  () => ({ outcome: "not_ready", what: "workspace" }),
  () => ({ outcome: "not_ready", what: "month" }),
  () => ({ outcome: "not_ready", what: "key" }),
  () => ({ outcome: "not_ready", what: "budget" }),
  (reply, { request }) => {
    const budget = request.budgets?.[reply.number()];
    if (budget === undefined) throw new Error("Cannot read a function's reply: it names a budget that its request does not have");
    return { outcome: budget.refusal, headroom: reply.nano(), budget: budget.name, window: windowIn(reply) };
  },
  () => ({ outcome: "unreachable" }),
];

export function readAdmission(reply: ReplyReader, decided: DecidedRequest): AdmitReply {
  const number = reply.number();
  const read = outcomes[number];
  if (read === undefined) throw new Error(`Cannot read the outcome ${number} in a function's reply`);
  return read(reply, decided);
}

function windowIn(reply: ReplyReader): RateWindow {
  return { remaining: reply.number(), resetMs: reply.number() };
}

/** Year and month. */
function monthIn(reply: ReplyReader): Month {
  return `${reply.number()}-${String(reply.number()).padStart(2, "0")}`;
}

/** Whether blocks may have what is missing. */
function lentIn(reply: ReplyReader): { isLent?: true } {
  return reply.number() === 1 ? { isLent: true } : {};
}

// Blocks: lend.lua and take-back.lua

export function lendValues(request: LendRequest, run: number): (string | Buffer)[] {
  const { key, month, block, requestsPerMinute, least, amount, places, keyLimit, workspaceLimit, deadline, lifeMs } = request;
  const { startMs, endMs } = monthBounds(month);
  const numbers = new Float64Array([
    run,
    startMs,
    endMs,
    holdMs,
    rateWindowMs,
    tombstoneMs,
    blockShare,
    blockRateMin,
    blockPlacesMin,
    blockReturnMsMax,
    requestsPerMinute,
    Number(least),
    Number(amount),
    places,
    Number(keyLimit ?? Infinity),
    Number(workspaceLimit ?? Infinity),
    deadline ?? Infinity,
    lifeMs,
  ]);
  return [monthField(month), windowField(key), keyMonthField({ key, month }), block, Buffer.from(numbers.buffer)];
}

export function readLent(reply: readonly ReplyElement[]): LendReply {
  const reader = new ReplyReader(reply);
  reader.number();
  if (reader.atEnd) return { outcome: "kept" };
  const [at, amount, places, lifeMs] = [reader.number(), reader.nano(), reader.number(), reader.number()];
  return { outcome: "lent", at, amount, places, lifeMs, window: { remaining: reader.number(), resetMs: reader.number() } };
}

export function takeBackValues({ returns, pause }: TakeBack): string[] {
  const paused = pause === undefined ? "" : (pause.key ?? "*");
  const blocks = returns.flatMap(({ key, block, keep, times }) => [key, block, keep.toString(), distances(times)]);
  return [String(rateWindowMs), String(tombstoneMs), String(blockPauseMs), paused, ...blocks];
}
