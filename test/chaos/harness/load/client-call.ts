/** One request as its client saw it. Times are wall-clock milliseconds. */
import type { Customer } from "./customers.ts";

export interface ClientCall {
  /** Of this run; the provider is told it by the message. */
  number: number;
  gateway: number;
  workspace: string;
  key: string;
  /** Of a customer that lacks nothing: nothing but a fault refuses it. */
  isPlenty: boolean;
  streamed: boolean;
  sentAt: number;
  /** When the head of the answer came; null: none did. */
  answeredAt: number | null;
  endedAt: number | null;
  /** 0: the connection broke before an answer. */
  status: number;
  /** Of the error, in the body or in the stream; null: none. */
  code: string | null;
  generation: string | null;
  /** Why the connection broke; null: it did not. */
  broke: string | null;
  /** The answer came whole: all of the body, or the stream with its last line. */
  whole: boolean;
  /** The client hung up or waited long enough. */
  hungUp: boolean;
}

let calls = 0;

export function newCall(
  of: Pick<ClientCall, "gateway" | "key" | "streamed"> & { customer: Pick<Customer, "workspace" | "kind"> },
): ClientCall {
  const { customer, ...facts } = of;
  const unknown = {
    answeredAt: null,
    endedAt: null,
    status: 0,
    code: null,
    generation: null,
    broke: null,
    whole: false,
    hungUp: false,
  };
  return {
    number: ++calls,
    ...facts,
    workspace: customer.workspace,
    isPlenty: customer.kind === "plenty",
    sentAt: Date.now(),
    ...unknown,
  };
}

/** What its provider failed at, or its client hungUp, says nothing of the service. */
export function isGood({ status, code, hungUp }: ClientCall): boolean {
  return status === 200 || code === "upstream_error" || hungUp;
}
