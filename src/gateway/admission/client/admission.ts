/** What a gateway's pipeline knows of a caller, asks for, and gets. */
import type { Reservation } from "../../credit/reservation.ts";
import type { AdmitGeneration, RecordOnBus, WindowOnBus } from "../message.ts";

/** A valid key with its record. */
export interface Caller {
  hash: string;
  record: RecordOnBus;
}

/** The facts of a request that the worker needs; the body stays in the gateway. */
export type RequestFacts = Pick<
  AdmitGeneration,
  "model" | "inputTokens" | "promptTokens" | "maxTokens" | "tools" | "candidates"
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
