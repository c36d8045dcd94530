/**
 * What a front asks of admission, and what it answers: JSON on the bus, amounts as decimal strings of nano-USD.
 * One message carries what was gathered in one turn of the front's event loop.
 */
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import type { Month } from "../../kernel/clock.ts";
import type { ErrorCode } from "../../kernel/errors.ts";
import type { UnavailableReason } from "../models/model.ts";

export type AdmissionRequest =
  /** Who holds this key? `hash` is its SHA-256 in hexadecimal. */
  | { kind: "authenticate"; hash: string }
  | AdmitGeneration
  /** Give up a generation whose admission was not heard of; leaves a tombstone. */
  | { kind: "void"; workspace: WorkspaceId; generation: GenerationId }
  /** Credit, holds and month of a workspace, and of a key where one is named. */
  | { kind: "position"; workspace: WorkspaceId; key: KeyId | null }
  /** Credit was added: read the ledger's head again and push it. */
  | { kind: "refresh"; workspace: WorkspaceId };

export interface AdmitGeneration {
  kind: "admit";
  generation: GenerationId;
  hash: string;
  model: string;
  /** Upper bound of what the provider may count for the texts sent, without its own hidden prompt. */
  inputTokens: number;
  /** What the request allows; null: the model's maximum. */
  maxTokens: number | null;
  /** Tools are sent, hence a larger hidden prompt. */
  tools: boolean;
  /** Milliseconds of the counters' clock; null: not known yet. */
  deadline: number | null;
  /** Of key, model and bounds: the same id with another one is a conflict. Hexadecimal. */
  fingerprint: string;
}

export interface RequestBatch {
  asks: AdmissionRequest[];
}

/** A key's record as it crosses the bus; `ageMs` is how old it was when the answer was made. */
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
  enabled: boolean;
  earlyAccess: string[];
  fallbacks: boolean;
  zeroDataRetention: boolean;
  promptStorage: boolean;
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
      /** The output bound that was priced: what must be sent to the provider. */
      maxOutputTokens: number;
      window: WindowOnBus;
    }
  | Refused
  /** The counters of the workspace are being loaded: certainly not admitted, ask again in a moment. */
  | { kind: "again" }
  | { kind: "done" }
  | {
      kind: "position";
      balance: string;
      reserved: string;
      available: string;
      keySpent: string | null;
      month: Month;
    };

export interface Refused {
  kind: "refused";
  code: ErrorCode;
  /** Whole message where the table's is not enough. */
  message?: string;
  param?: string;
  reason?: UnavailableReason;
  retryAfterMs?: number;
  /** Of the key, on every answer that reached the rate check. */
  window?: WindowOnBus;
}

export interface ReplyBatch {
  /** The counters' clock when the answer was made; null where they could not be asked. */
  now: number | null;
  answers: AdmissionReply[];
}
