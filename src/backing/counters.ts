/**
 * Port 2 of 2: the hot counters that decide admission. `embedded/counters.ts` keeps them in Maps, `distributed/counters.ts`
 * in Redis through Lua scripts; test/contracts/counters.ts demands the same replies of both.
 *
 * Counters are a copy: PostgreSQL is the truth, and a workspace whose counters are missing, or stem from before a restart
 * of the store, is "not ready" until `load` wrote it again. One time rules them: the store's own clock.
 *
 * Keys of a workspace (all with the tag {w}, so that scripts stay within one slot of a Redis Cluster). Where several numbers stand
 * together they are doubles in a row, as prelude.lua has them:
 *   {w}:a        hash  head: run of the store that it was loaded into, posted balance, its ledger sequence, sum of open holds, a
 *                      time that no hold's deadline precedes, and since when {w}:t takes tombstones; load: the name of one under way;
 *                      per month m:<month> and per key and month k:<key>:<month>: spent, its version, held;
 *                      per key n:<key>: how many requests of the last minute, times of the oldest and of the newest;
 *                      per open hold <generation>: amount, admitted at, deadline, k:<key>:<month>, fingerprint
 *   {w}:n:<key>  list  times in ms of admitted requests of the last minute, non-decreasing
 *   {w}:t        hash  generation → how and when it was resolved; {w}:u: the same of the minute before. A late admit finds it there
 *                      and is refused. Both end by themselves, and so does the list.
 *
 * A balance counts up to 9,000,000 USD, which Lua's numbers hold to the nano-USD (credit-bound.ts).
 */
import type { NanoUsd } from "../kernel/money.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../kernel/ids.ts";
import type { Month } from "../kernel/clock.ts";

export interface AdmitRequest {
  generation: GenerationId;
  workspace: WorkspaceId;
  key: KeyId;
  /** Same id with another fingerprint is a conflict. Hexadecimal. */
  fingerprint: string;
  requestsPerMinute: number;
  /** Maximum cost, rounded up. */
  amount: NanoUsd;
  /** null: no limit. */
  keyLimit: NanoUsd | null;
  workspaceLimit: NanoUsd | null;
  /** Why the model cannot be called, looked at after the rate window and before the money; null: it can. */
  modelRefusal: string | null;
  /** Refused when the store's clock is past this; null: no deadline. Milliseconds of the store's clock. */
  deadline: number | null;
}

/** The rate window of the key after this decision. */
export interface RateWindow {
  remaining: number;
  /** Until the oldest counted request leaves the window; 0 when none is counted. */
  resetMs: number;
}

export type AdmitReply =
  /** Reserved. `replay`: this very generation was admitted before and still is. `month`: to which all of it is booked. */
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
  | { outcome: "rate_limited"; retryAfterMs: number; window: RateWindow }
  | { outcome: "model_refused"; reason: string; window: RateWindow }
  /** `available`: balance minus holds; `balance` tells whether waiting for holds could help. */
  | { outcome: "insufficient_credit"; available: NanoUsd; balance: NanoUsd; window: RateWindow }
  /** `headroom`: what the limit would still allow. */
  | { outcome: "key_spend_limit_exceeded"; headroom: NanoUsd; window: RateWindow }
  | { outcome: "account_spend_limit_exceeded"; headroom: NanoUsd; window: RateWindow }
  /** Resolved before, within the last minute; `as`: the first time. */
  | { outcome: "already_resolved"; as: Resolution }
  | { outcome: "conflict" }
  /** The deadline has passed. */
  | { outcome: "late" }
  /** The store's clock is outside the month of the batch: recompute with this time. */
  | { outcome: "wrong_month"; now: number }
  /**
   * Something of the ledger is missing. `workspace`: all of it, `load` it. `month`, `key`: what was spent in the batch's month
   * by a ready workspace or by the key is not known yet; push it with `resolveMany`, where no rows are a spent 0.
   */
  | { outcome: "not_ready"; what: "workspace" | "month" | "key" };

export interface AdmitBatch {
  /** The UTC month that the batch believes in; the store checks it by its own clock. */
  month: Month;
  requests: AdmitRequest[];
}

export interface AdmitBatchReply {
  /** The store's clock in milliseconds. */
  now: number;
  replies: AdmitReply[];
}

export type Resolution = "settled" | "void" | "expired" | "unknown";

export interface Resolve {
  workspace: WorkspaceId;
  generation: GenerationId;
  as: Resolution;
}

/**
 * Absolute values of the ledger, fenced: an older version never overwrites a newer one, and a total that is not known is not
 * learnt from a push that is older than the balance, for what came between may have been pushed to a store that was emptied since.
 */
export interface AccountPush {
  workspace: WorkspaceId;
  /** Counts as 9,000,000 USD where it is above. */
  balance: NanoUsd;
  /** Ledger sequence that `balance` belongs to; also the version of `months`. */
  sequence: bigint;
  months: { month: Month; spent: NanoUsd }[];
}

export interface KeyMonthPush {
  workspace: WorkspaceId;
  key: KeyId;
  month: Month;
  spent: NanoUsd;
  version: bigint;
  /** Of the ledger when this was read: a total that is not known is not learnt from what is older than the balance. */
  sequence: bigint;
}

export interface ResolveBatch {
  resolve: Resolve[];
  accounts: AccountPush[];
  keyMonths: KeyMonthPush[];
}

export interface Hold {
  generation: GenerationId;
  fingerprint: string;
  amount: NanoUsd;
  key: KeyId;
  month: Month;
  admittedAt: number;
  deadline: number;
}

export interface WorkspaceLoad {
  /** What `beginLoad` gave before any of this was gathered; absent: gathered at once, with nobody beside. */
  begun?: string;
  account: AccountPush;
  holds: Hold[];
  /** Admission times of the last minute, to be merged with what the store has: per time the larger count stays. */
  windows: { key: KeyId; times: number[] }[];
}

export interface Position {
  /** Balance, holds and available credit; null when the workspace is not ready. */
  account: { balance: NanoUsd; reserved: NanoUsd; available: NanoUsd; sequence: bigint } | null;
  /** What the key's charges of the month sum up to; null when not loaded. */
  keySpent: NanoUsd | null;
}

/** The store could not be reached in time. What was sent may have been done. */
export class CountersUnavailableError extends Error {
  override name = "CountersUnavailableError";
}

export interface Counters extends AsyncDisposable {
  /** Decides each request in order, each atomically. A refusal changes nothing. Throws CountersUnavailableError: outcome unknown. */
  admitMany(batch: AdmitBatch): Promise<AdmitBatchReply>;
  /**
   * The one releaser of holds: settle, void, expire, unknown; and the fenced push. Idempotent. Returns what each resolve freed.
   * Works on a workspace that is not ready too: tombstones are left and newer values stay through a later `load`.
   * The first push of a month to a workspace forgets what was spent before the month that precedes it.
   */
  resolveMany(batch: ResolveBatch): Promise<NanoUsd[]>;
  /**
   * Names the state in which a workspace is not ready. Whoever loads asks first and gathers then: should another be faster,
   * should requests be admitted, and should the store be emptied or restarted after that, what was gathered here knows
   * nothing of them. Null: it is ready.
   */
  beginLoad(workspace: WorkspaceId): Promise<string | null>;
  /**
   * Makes a workspace ready. Does nothing when it already is (two loaders race: the first wins). Holds with a tombstone stay
   * out; of balance and months the newer version stays; whatever else was known but the windows is forgotten.
   * @throws RangeError when the balance is above 9,000,000 USD; Error when the store was emptied or restarted since it was begun
   */
  load(load: WorkspaceLoad): Promise<void>;
  /**
   * Makes a ready workspace whose balance has this sequence or a later one unknown: its ledger does not have them. Windows and
   * tombstones stay. @returns whether it did
   */
  forget(workspace: WorkspaceId, sequence: bigint): Promise<boolean>;
  /** The holds the store has of a workspace, ready or not, by generation. */
  holds(workspace: WorkspaceId): Promise<Hold[]>;
  /** Holds whose deadline has passed by the store's clock, at most `limit`, the oldest deadline first. */
  overdue(workspace: WorkspaceId, limit: number): Promise<Hold[]>;
  /** Of the month that the store's clock shows. `key` null: of no key. */
  read(workspace: WorkspaceId, key: KeyId | null): Promise<Position & { now: number }>;
  /** The store's clock; also the test of whether it answers. */
  now(): Promise<number>;
}
