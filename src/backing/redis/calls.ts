/**
 * The arguments and replies of the functions that requests need: admit, lend and take-back, and resolve, which ends their holds. The port's
 * batches become texts and numbers, and the numbers of a reply become the port's replies. A reply that cannot be read is our fault, and
 * throws. Loads are in load.ts. Admissions are packed by workspace. Releases and pushes are split into rounds that delay no admission for
 * long; admissions run between the rounds.
 */
import { dayAfter, monthBounds, type Month, previousMonth } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import {
  type AdmitBatch,
  type AdmitRequest,
  type Budget,
  type AdmitReply,
  type RateWindow,
  type LendReply,
  type LendRequest,
  type TakeBack,
  countableBalance,
  type AccountPush,
  type BudgetPush,
  type KeyMonthPush,
  type Resolve,
  type ResolveBatch,
  type Resolution,
} from "../counters.ts";
import {
  claimMs,
  holdMs,
  rateWindowMs,
  tombstoneMs,
  blockPauseMs,
  blockPlacesMin,
  blockRateMin,
  blockReturnMsMax,
  blockShare,
  budgetKeptMs,
  resolveBatchMax,
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
} from "./functions.ts";
import { distances } from "./load.ts";

/** A request with its place in the batch, since calls group requests by workspace. */
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
  const hasClaims = placed.some(([, { claim }]) => claim !== undefined);
  numbers.push(budgets === null ? placed.length : -placed.length, hasClaims ? -keys.size : keys.size);
  if (hasClaims) numbers.push(claimMs);
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
  if (hasClaims) for (const [, { claim }] of placed) texts.push(claim ?? "");
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
  () => ({ outcome: "claimed" }),
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

/** Whether blocks may hold what is missing. */
function lentIn(reply: ReplyReader): { isLent?: true } {
  return reply.number() === 1 ? { isLent: true } : {};
}

// Blocks: lend and take-back

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

// Releases and pushes: resolve

export function resolveValues(parts: readonly ResolvePart[]): (string | Buffer)[] {
  const packing: Packing = { texts: [], numbers: [parts.length, tombstoneMs, rateWindowMs, budgetKeptMs] };
  for (const part of parts) packPart(packing, part);
  return packedArguments(packing);
}

function packPart({ texts, numbers }: Packing, { workspace, resolve, accounts, keyMonths, budgets }: ResolvePart): void {
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

/** Pushes come first, so a cost may count twice until its hold is released but is never missing. */
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

const resolutionNumbers: Readonly<Record<Resolution, number>> = { settled: 1, void: 2, expired: 3, unknown: 4 };
const resolutions: readonly Resolution[] = ["settled", "void", "expired", "unknown"];

/** @throws Error when no resolution has this number */
function resolutionOf(number: number): Resolution {
  const resolution = resolutions.find((one) => resolutionNumbers[one] === number);
  if (resolution === undefined) throw new Error(`Cannot read ${number} in a function's reply: it is not a resolution`);
  return resolution;
}

function numberOf(resolution: Resolution): number {
  return resolutionNumbers[resolution];
}
