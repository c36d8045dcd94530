/**
 * Port 2 of 2: the hot counters that decide admission. `embedded/counters.ts` keeps them in Maps, `redis/counters.ts` in Redis through Lua
 * functions; test/contracts/counters.ts demands the same replies of both. Counters are a copy: PostgreSQL is the truth. A workspace whose
 * counters are missing, or older than a restart of the store, is "not ready" until `load` has written it again; until then its requests get
 * no decision. Values of the ledger carry versions, so an older one never overwrites a newer one. A load that began before the store was
 * emptied or restarted is refused, since its data may lack requests that were admitted since. Each decision is atomic, and a call that
 * failed may have been carried out: every method can be repeated. All times are those of the store's own clock. A balance counts up to
 * 9,000,000 USD, which Lua's numbers hold to the nano-USD.
 */
import type { Month } from "../kernel/clock.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../kernel/ids.ts";
import { type NanoUsd, formatUsd } from "../kernel/money.ts";

/**
 * A cap on the spend in a UTC day or month, in addition to the limits of the month. Workspaces without budgets have no values for them in
 * the store, and no arguments in their calls.
 */
export interface Budget {
  /** The name of the total that it bounds, unique in its workspace. */
  name: string;
  period: "day" | "month";
  limit: NanoUsd;
  /** The outcome of a request that would exceed it. */
  refusal: "key_spend_limit_exceeded" | "account_spend_limit_exceeded";
}

/** A budget's total that a hold counts against. */
export interface BudgetHold {
  name: string;
  /** First millisecond of its period. */
  since: number;
}

export interface AdmitRequest {
  generation: GenerationId;
  workspace: WorkspaceId;
  key: KeyId;
  /** The same id with another fingerprint is a conflict. Hexadecimal. */
  fingerprint: string;
  requestsPerMinute: number;
  /** Maximum cost, rounded up. */
  amount: NanoUsd;
  /** null: no limit. */
  keyLimit: NanoUsd | null;
  workspaceLimit: NanoUsd | null;
  /** Checked in this order, after the limits of the month. Absent: none. */
  budgets?: readonly Budget[];
  /**
   * Recognises a repeated request; unique in its workspace. It is admitted only if no other generation has the claim: that has it until a
   * minute after it was resolved, or until it is void. Absent: none.
   */
  claim?: string;
  /** Why the model cannot be called, checked after the rate window and before the money; null: it can. */
  modelRefusal: string | null;
  /** The request is refused when the store's clock is past this; null: no deadline. Milliseconds. */
  deadline: number | null;
}

/** The rate window of the key after this decision. */
export interface RateWindow {
  remaining: number;
  /** Until the oldest counted request leaves the window; 0 when none is counted. */
  resetMs: number;
}

interface MayBeLent {
  /** Blocks may hold what is missing: recall them and decide again. Absent: they do not. */
  isLent?: true;
}

export type AdmitReply =
  /** Reserved. `replay`: this generation was admitted before and still is. `month`: its costs are booked to this month. */
  | {
      outcome: "admitted";
      at: number;
      month: Month;
      amount: NanoUsd;
      available: NanoUsd;
      window: RateWindow;
      replay: boolean;
    }
  /** `retryAfterMs`: exact wait until the oldest counted request leaves the window, at least 1. */
  | ({ outcome: "rate_limited"; retryAfterMs: number; window: RateWindow } & MayBeLent)
  | { outcome: "model_refused"; reason: string; window: RateWindow }
  /** `available`: balance minus holds; `balance` shows whether waiting for holds could help. */
  | ({ outcome: "insufficient_credit"; available: NanoUsd; balance: NanoUsd; window: RateWindow } & MayBeLent)
  /** `headroom`: what the limit would still allow. `budget`: the name of the budget that refuses; absent: the limit of the month. */
  | ({ outcome: "key_spend_limit_exceeded"; headroom: NanoUsd; budget?: string; window: RateWindow } & MayBeLent)
  | ({ outcome: "account_spend_limit_exceeded"; headroom: NanoUsd; budget?: string; window: RateWindow } & MayBeLent)
  /** Resolved within the last minute; `as`: how, the first time. */
  | { outcome: "already_resolved"; as: Resolution }
  | { outcome: "conflict" }
  /** Another generation has the claim. */
  | { outcome: "claimed" }
  /** The deadline has passed. */
  | { outcome: "late" }
  /** The store's clock is outside the month of the batch, or outside its day where the request has a budget: compute them again. */
  | { outcome: "wrong_month"; now: number }
  /**
   * Data of the ledger is missing. `workspace`: all of it, `load` it. `month`, `key`: what a ready workspace or the key spent in
   * the batch's month is not known yet; push it with `resolveMany`, where no rows mean 0. `budget`: the same of the request's budgets.
   */
  | { outcome: "not_ready"; what: "workspace" | "month" | "key" | "budget" }
  /** The part of the store that has this workspace did not answer, but others did. As with CountersUnavailableError, it may have decided. */
  | { outcome: "unreachable" };

export interface AdmitBatch {
  /** The UTC month that the sender assumes; the store checks it by its own clock. */
  month: Month;
  /** The first millisecond of the UTC day that the sender assumes, which budgets by day need. */
  day?: number;
  requests: AdmitRequest[];
}

export interface AdmitBatchReply {
  /** The store's clock in milliseconds. */
  now: number;
  replies: AdmitReply[];
}

/** A gateway asks for a block: credit and places in a key's window, with which it decides this key's requests by itself. */
export interface LendRequest extends Pick<
  AdmitRequest,
  "workspace" | "key" | "requestsPerMinute" | "keyLimit" | "workspaceLimit" | "deadline"
> {
  /** A block is a hold with an id like a generation's. */
  block: GenerationId;
  /** The month that the sender assumes. */
  month: Month;
  /** A smaller block is of no use. */
  least: NanoUsd;
  /** The most credit and places to lend. */
  amount: NanoUsd;
  places: number;
  /** How long requests may be decided with it, unless the month ends first. */
  lifeMs: number;
}

export type LendReply =
  /** `at`: by the store's clock. `window`: excludes all lent places. */
  | { outcome: "lent"; at: number; amount: NanoUsd; places: number; lifeMs: number; window: RateWindow }
  /** Too near a limit, recently recalled, late, or unknown: a worker must decide each request. */
  | { outcome: "kept" };

/** The rest that a gateway returns of a block that it no longer uses. A repetition changes nothing. */
export interface BlockReturn {
  key: KeyId;
  block: GenerationId;
  /** What the generations that were admitted with it reserve and the ledger does not have. Never more than before. */
  keep: NanoUsd;
  /** Their admission times, ascending, in ms of the store's clock. Only the first return counts them. */
  times: readonly number[];
}

export interface TakeBack {
  workspace: WorkspaceId;
  returns: readonly BlockReturn[];
  /** Lending pauses: for this key or, if null, for the whole workspace. Absent: lending continues. */
  pause?: { key: KeyId | null };
}

export type Resolution = "settled" | "void" | "expired" | "unknown";

export interface Resolve {
  workspace: WorkspaceId;
  generation: GenerationId;
  as: Resolution;
}

/**
 * Absolute values of the ledger, fenced: an older version never overwrites a newer one, and an unknown total is not set by a push
 * that is older than the balance, since later pushes may have gone to a store that was emptied meanwhile.
 */
export interface AccountPush {
  workspace: WorkspaceId;
  /** A larger one counts as 9,000,000 USD. */
  balance: NanoUsd;
  /** The ledger sequence of `balance`; also the version of `months`. */
  sequence: bigint;
  months: { month: Month; spent: NanoUsd }[];
}

export interface KeyMonthPush {
  workspace: WorkspaceId;
  key: KeyId;
  month: Month;
  spent: NanoUsd;
  version: bigint;
  /** The ledger's sequence when this was read: an unknown total is not set by a push that is older than the balance. */
  sequence: bigint;
}

/** What was spent in a budget's period. A push of an earlier period than the known one changes nothing. */
export interface BudgetTotal extends BudgetHold {
  spent: NanoUsd;
}

export interface BudgetPush extends BudgetTotal {
  workspace: WorkspaceId;
  /** The ledger sequence of `spent`, and its version: an unknown total is not set by a push that is older than the balance. */
  sequence: bigint;
}

export interface ResolveBatch {
  resolve: Resolve[];
  accounts: AccountPush[];
  keyMonths: KeyMonthPush[];
  /** Absent: none. */
  budgets?: BudgetPush[];
}

export interface Hold {
  generation: GenerationId;
  /** Empty for a block. */
  fingerprint: string;
  amount: NanoUsd;
  key: KeyId;
  month: Month;
  admittedAt: number;
  deadline: number;
  /** Absent: none. */
  budgets?: readonly BudgetHold[];
}

export interface WorkspaceLoad {
  /** The result of `beginLoad` before the rest was gathered; absent: the rest was gathered at once, with no other loader. */
  begun?: string;
  account: AccountPush;
  /** As of the ledger sequence of `account`. Absent: none. */
  budgets?: BudgetTotal[];
  holds: Hold[];
  /** Admission times of the last minute, to be merged with those of the store: for each time the larger count stays. */
  windows: { key: KeyId; times: number[] }[];
  /** The claims of generations that were reported as open. A claim stays with another one whose hold is loaded. Absent: none. */
  claims?: readonly LoadedClaim[];
}

export interface HeldClaim {
  claim: string;
  generation: GenerationId;
}

export interface LoadedClaim extends HeldClaim {
  /** The ledger has its end: it has the claim for a minute more, as if it was resolved now. Absent: it may be open. */
  hasEnded?: true;
}

export interface CountedBalance {
  /** Balance, holds and available credit; null when the workspace is not ready. */
  account: { balance: NanoUsd; reserved: NanoUsd; available: NanoUsd; sequence: bigint } | null;
  /** The sum of the key's charges of the month; null when not loaded. */
  keySpent: NanoUsd | null;
  /** The reserved part that blocks hold, used or not. */
  lent: NanoUsd;
  blocks: ReadonlyMap<GenerationId, NanoUsd>;
}

/** The store could not be reached in time. The call may have been carried out. */
export class CountersUnavailableError extends Error {
  override name = "CountersUnavailableError";
}

export interface Counters extends AsyncDisposable {
  /** Decides each request in order, each atomically. A refusal changes nothing. Throws CountersUnavailableError: all outcomes unknown. */
  admitMany(batch: AdmitBatch): Promise<AdmitBatchReply>;
  /**
   * The only method that releases holds: settle, void, expire, unknown; and the fenced push. Idempotent. Returns the amount that
   * each resolve freed. Throws CountersUnavailableError when a part of the store did not answer, after the other parts are done. Works on a workspace that is not ready, too: it leaves tombstones, and newer values survive a later `load`.
   * The first push of a month to a workspace drops the totals of months before the previous one, and budgets without holds.
   */
  resolveMany(batch: ResolveBatch): Promise<NanoUsd[]>;
  /**
   * Lends a block, which is held and counted like requests until it is returned. It is small compared with the free credit, so it causes
   * refusals only near a limit, after a recall. The same block is lent once. Throws CountersUnavailableError: it may be lent.
   */
  lend(request: LendRequest): Promise<LendReply>;
  /** Releases what blocks do not keep, and counts their requests in the windows. Works even on a workspace that is not ready. */
  takeBack(back: TakeBack): Promise<void>;
  /**
   * Names the state in which a workspace is not ready. A loader calls this before it gathers data: if another loader is faster, requests
   * are admitted, and the store is emptied or restarted after that, the gathered data lacks those requests. Null: it is ready.
   */
  beginLoad(workspace: WorkspaceId): Promise<string | null>;
  /**
   * Makes a workspace ready. Does nothing when it already is (two loaders race: the first wins). Holds with a tombstone are left
   * out; of balance and months the newer version stays; all other data except the windows is dropped.
   * @throws RangeError when the balance is above 9,000,000 USD; Error when the store was emptied or restarted since it began
   */
  load(load: WorkspaceLoad): Promise<void>;
  /**
   * Makes a ready workspace not ready when its balance has this sequence or a later one, and refuses loads that began before. Holds, windows
   * and tombstones stay for the next load, and so do balance and totals against pushes that are older. @returns whether it was made so
   * @param admittedAt ms of the store's clock: counters that were loaded before stay ready, since they counted this admission
   */
  forget(workspace: WorkspaceId, sequence: bigint, admittedAt?: number): Promise<boolean>;
  /** The holds of a workspace in the store, ready or not, by generation. */
  holds(workspace: WorkspaceId): Promise<Hold[]>;
  /** Holds whose deadline has passed by the store's clock, at most `limit`, the oldest deadline first. */
  overdue(workspace: WorkspaceId, limit: number): Promise<Hold[]>;
  /** Reads all at one moment, for the month of the store's clock. `key` null: for no key. `blocks`: also reads what these hold; absent: none. */
  read(workspace: WorkspaceId, key: KeyId | null, blocks?: readonly GenerationId[]): Promise<CountedBalance & { now: number }>;
  /** The store's clock; this also checks that the store answers. */
  now(): Promise<number>;
}

/**
 * Lua counts in doubles, exact up to 2^53 - 1 nano-USD, which is 9.007 million USD. Both implementations of the counters keep this bound.
 */
const creditNanoMax: NanoUsd = 9_000_000n * 1_000_000_000n;

/** @throws RangeError when the balance cannot be counted exactly */
export function assertCountable(account: AccountPush): void {
  if (account.balance <= creditNanoMax) return;
  throw new RangeError(
    `Cannot load workspace "${account.workspace}": its balance of ${formatUsd(account.balance)} USD is above the ` +
      `${formatUsd(creditNanoMax)} USD that can be counted exactly`,
  );
}

/** One push must not fail all others in its batch: the part above the bound cannot be spent until the rest is spent. */
export function countableBalance(balance: NanoUsd): NanoUsd {
  return balance > creditNanoMax ? creditNanoMax : balance;
}

/**
 * @param loading the load that the store waits for
 * @throws Error when this is another: its data may lack requests that were admitted since
 */
export function assertCurrent({ begun, account }: WorkspaceLoad, loading: string | null): void {
  if (begun === undefined || begun === loading) return;
  throw new Error(`Cannot load workspace "${account.workspace}": the counters were emptied or restarted since this load began`);
}
