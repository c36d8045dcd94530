/**
 * The messages between gateways and workers about admission, and what the gateway's pipeline gets from them (`Caller`, `Admission`). On the
 * bus it is JSON, with amounts as decimal strings of nano-USD. One message carries the requests of one turn of the gateway's event loop,
 * and its replies come in the same order. Both ends are Weir processes, so only the envelope is checked on the hot path and the shape of a
 * request or reply is trusted. A request is encoded once, so that its size is known before its message is built. The body of a request
 * never leaves the gateway.
 */
import type { OwnKey, KeyRecord } from "../../accounts/keys/record.ts";
import type { Month } from "../../kernel/clock.ts";
import type { ErrorCode } from "../../kernel/errors.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import type { Reservation } from "../credit/reservation.ts";
import type { Claim } from "../field-parts.ts";
import type { RefusalReason } from "../models/availability.ts";

/** A valid key with its record. */
export interface Caller {
  hash: string;
  record: RecordOnBus;
}

/** The facts of a request that the worker needs; the body stays in the gateway. */
export type RequestFacts = Pick<
  AdmitGeneration,
  "model" | "inputTokens" | "promptTokens" | "maxTokens" | "tools" | "candidates" | "claim"
> & {
  /** The request's field that names `model`; absent: `model`. */
  field?: string;
};

export interface Admission {
  reservation: Reservation;
  /** Monotonic milliseconds. */
  decision: { askedAt: number; decidedAt: number };
  fingerprint: string;
  window: WindowOnBus;
  /** The numbers of the candidates that the reservation covers; null: every route of the request's `model`. */
  priced: readonly number[] | null;
}

// Requests and replies

export type AdmissionRequest =
  /** Look up a key's record. `hash` is the key's SHA-256 in hexadecimal. */
  | { kind: "authenticate"; hash: string }
  | AdmitGeneration
  /** Release a generation whose admission has an unknown outcome; leaves a tombstone. */
  | { kind: "void"; workspace: WorkspaceId; generation: GenerationId }
  | LendBlock
  | ReturnBlock
  | PositionRequest
  /** Credit was added: read the ledger's head again and push it to the counters. */
  | { kind: "refresh"; workspace: WorkspaceId }
  | Reload;

/**
 * Counters that were loaded since this admission may lack what the sender, or a dead gateway whose spool it took over, had admitted: they
 * are loaded again, with its report. Nothing is admitted until then.
 */
export interface Reload {
  kind: "reload";
  workspace: WorkspaceId;
  /** ms of the counters' clock, of the last one that is known. */
  admittedAt: number;
}

/** Credit, holds and month of a workspace, and of a key if one is named; and what the named blocks hold. */
export interface PositionRequest {
  kind: "position";
  workspace: WorkspaceId;
  key: KeyId | null;
  /** Absent: none. */
  blocks?: readonly GenerationId[];
  /** Gateways return the workspace's blocks first: its credit is about to be taken away. */
  recall?: true;
}

/** Models with the providers whose routes may serve them; a candidate's number counts these providers from 0. */
export type CandidateList = readonly (readonly [model: string, ...providers: string[]])[];

export interface AdmitGeneration {
  kind: "admit";
  generation: GenerationId;
  hash: string;
  model: string;
  /** Upper bound of the provider's token count for the texts sent, without its own hidden prompt. */
  inputTokens: number;
  /** Our estimate of that count. Absent: in the gateway's catalog no model's output depends on it. */
  promptTokens?: number;
  /** The request's bound on output tokens; null: the model's maximum, or what the prompt leaves of its context. */
  maxTokens: number | null;
  /** Whether tools are sent, which makes the hidden prompt larger. */
  tools: boolean;
  /** What may serve a routed request, in its order. Absent: every usable route of `model`. */
  candidates?: CandidateList;
  /** Ids of the workspace's own provider keys that the gateway has; absent: none. */
  ownKeys?: string[];
  /** Recognises a repetition of the request; absent: it has no idempotency key. */
  claim?: Claim;
  /** Milliseconds of the counters' clock; null: the gateway has no reading of it yet. */
  deadline: number | null;
  /** Hexadecimal digest of key, model and bounds. The same generation id with another fingerprint is a conflict. */
  fingerprint: string;
}

/** A gateway asks to decide a key's next requests by itself. */
export interface LendBlock {
  kind: "lend";
  /** An id like a generation's. */
  block: GenerationId;
  hash: string;
  /** A smaller block is of no use; at most `amount` and `places` are lent. */
  least: string;
  amount: string;
  places: number;
  deadline: number | null;
}

/** A gateway no longer decides with a block. */
export interface ReturnBlock {
  kind: "return";
  workspace: WorkspaceId;
  key: KeyId;
  block: GenerationId;
  keep: string;
  /** When its requests were admitted, ascending, each as its distance to the one before. */
  times: number[];
}

interface RequestBatch {
  asks: AdmissionRequest[];
}

/** A key's record on the bus. `ageMs` is its age when the reply was made. */
export interface KeyRecordReply {
  kind: "record";
  ageMs: number;
  /** null: unknown, revoked, or its owner cannot use it. */
  record: RecordOnBus | null;
}

export interface RecordOnBus {
  id: KeyId;
  workspace: WorkspaceId;
  name: string;
  start: string;
  requestsPerMinute: number | null;
  monthlyLimit: string | null;
  /** Absent: none. */
  dailyLimit?: string;
  enabled: boolean;
  earlyAccess: string[];
  fallbacks: boolean;
  zeroDataRetention: boolean;
  promptStorage: boolean;
  costInAnswers: boolean;
  /** Absent: off. */
  idempotentReplay?: true;
  /** Absent: none. */
  ownKeys?: readonly OwnKey[];
  ownKeyFallback?: boolean;
}

export interface WindowOnBus {
  limit: number;
  remaining: number;
  resetMs: number;
}

export type AdmissionReply =
  | KeyRecordReply
  | {
      kind: "admitted";
      at: number;
      month: Month;
      amount: string;
      /** The priced output bound, which must be sent to the provider. */
      maxOutputTokens: number;
      /** The numbers of the candidates that the amount covers. Absent: the request had none. */
      priced?: number[];
      window: WindowOnBus;
    }
  | Refused
  /** `at`: by the counters' clock. `window`: excludes all lent places. */
  | {
      kind: "lent";
      at: number;
      month: Month;
      amount: string;
      places: number;
      lifeMs: number;
      window: WindowOnBus;
    }
  | { kind: "kept" }
  /** Not admitted: the workspace's counters are being loaded. Repeat the request shortly. */
  | { kind: "again" }
  | { kind: "done" }
  | {
      kind: "position";
      balance: string;
      reserved: string;
      lent: string;
      /** In the order of the request. */
      blocks: string[];
      keySpent: string | null;
      month: Month;
    };

export interface Refused {
  kind: "refused";
  code: ErrorCode;
  /** The whole message, if the error table's text is not enough. */
  message?: string;
  param?: string;
  reason?: RefusalReason;
  retryAfterMs?: number;
  /** The generation that the idempotency key is spent on. */
  generation?: GenerationId;
  /** The key's rate window, in every reply that reached the rate check. */
  window?: WindowOnBus;
}

export interface ReplyBatch {
  /** The counters' time when the reply was made; null: they did not answer. */
  now: number | null;
  answers: AdmissionReply[];
}

/** Roughly the bytes that own keys add to a reply. */
export function ownKeyBytes({ ownKeys }: Pick<KeyRecord, "ownKeys">): number {
  const bytes = ({ sealed, dataKey, checks }: OwnKey): number =>
    sealed.length + (dataKey?.length ?? 0) + checks.reduce((sum, { length }) => sum + length + 3, 256);
  return ownKeys?.reduce((sum, key) => sum + bytes(key), 0) ?? 0;
}

/** A key's record as gateways receive it: without its owner, limits as text. */
export function recordOnBus(record: KeyRecord): RecordOnBus {
  return {
    id: record.id,
    workspace: record.workspace,
    name: record.name,
    start: record.start,
    requestsPerMinute: record.requestsPerMinute,
    monthlyLimit: record.monthlyLimit?.toString() ?? null,
    ...(record.dailyLimit && { dailyLimit: record.dailyLimit.toString() }),
    enabled: record.enabled,
    earlyAccess: record.earlyAccess,
    fallbacks: record.fallbacks,
    zeroDataRetention: record.zeroDataRetention,
    promptStorage: record.promptStorage,
    costInAnswers: record.costInAnswers,
    ...(record.idempotentReplay && { idempotentReplay: true as const }),
    ...(record.ownKeys &&
      record.ownKeys.length > 0 && { ownKeys: record.ownKeys, ownKeyFallback: record.ownKeyFallback ?? false }),
  };
}

// Encoding

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface EncodedRequest {
  text: string;
  /** What it adds to a message, including the comma before the next request. */
  bytes: number;
}

/** Each request is encoded once, so that its size is known before its message is built. */
export function encodeRequest(request: AdmissionRequest): EncodedRequest {
  const text = JSON.stringify(request);
  return { text, bytes: Buffer.byteLength(text) + 1 };
}

const head = '{"asks":[';
const tail = "]}";
/** Size of a message without its requests. */
export const envelopeBytes = head.length + tail.length;

export function encodeRequests(requests: readonly EncodedRequest[]): Uint8Array {
  return encoder.encode(head + requests.map(({ text }) => text).join(",") + tail);
}

/** @throws SyntaxError, TypeError on bytes that no gateway sent */
export function decodeRequests(payload: Uint8Array): RequestBatch {
  return withList(JSON.parse(decoder.decode(payload)), "asks") as RequestBatch;
}

export function encodeReplies(message: ReplyBatch): Uint8Array {
  return encoder.encode(JSON.stringify(message));
}

/** @throws SyntaxError, TypeError on bytes that no worker sent */
export function decodeReplies(payload: Uint8Array): ReplyBatch {
  return withList(JSON.parse(decoder.decode(payload)), "answers") as ReplyBatch;
}

/** The hot path checks only the envelope: `encodeRequests` or `encodeReplies` wrote its content. */
function withList(value: unknown, field: "asks" | "answers"): object {
  if (
    typeof value !== "object" ||
    value === null ||
    !(field in value) ||
    !Array.isArray((value as Record<string, unknown>)[field])
  ) {
    throw new TypeError(`Cannot read a message of admission: it has no list "${field}"`);
  }
  return value;
}
