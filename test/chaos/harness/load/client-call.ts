/** One request as its client saw it. Times are wall-clock milliseconds. */
import type { Customer } from "./customers.ts";

export interface ClientCall {
  /** The number of the request within the run, which its message carries to the provider. A repetition has that of the first. */
  number: number;
  /** null: nothing recognises its repetitions. */
  idempotencyKey: string | null;
  gateway: number;
  workspace: string;
  key: string;
  /** Whether its customer has plenty of credit, so that only a fault can refuse it. */
  isPlenty: boolean;
  endpoint: "chat" | "completions" | "embeddings" | "messages" | "responses";
  streamed: boolean;
  sentAt: number;
  /** When the head of the answer arrived; null: none did. */
  answeredAt: number | null;
  endedAt: number | null;
  /** 0: the connection broke before an answer. */
  status: number;
  /** The error's code, in the body or in the stream; null: no error. */
  code: string | null;
  generation: string | null;
  /** Why the connection broke; null: it did not. */
  broke: string | null;
  /** The answer was complete: the entire body, or the stream with its last line. */
  whole: boolean;
  /** The client hung up, or its timeout ended the request. */
  hungUp: boolean;
}

let calls = 0;

/** In turn, so that each customer uses all of them. */
const endpoints = ["chat", "completions", "chat", "embeddings", "chat", "completions", "embeddings"] as const;

/** With those that agents speak. */
export const agentEndpoints = ["chat", "messages", "completions", "responses", "embeddings", "messages", "responses"] as const;

export function newCall(
  of: Pick<ClientCall, "gateway" | "key" | "streamed"> & {
    customer: Pick<Customer, "workspace" | "kind">;
    /** Absent: the next one in turn. */
    endpoint?: ClientCall["endpoint"];
    idempotencyKey?: string | null;
    /** What it repeats. */
    first?: ClientCall;
  },
): ClientCall {
  const { customer, endpoint: named, idempotencyKey = null, first, ...facts } = of;
  const number = first?.number ?? ++calls;
  const endpoint = named ?? endpoints[number % endpoints.length] ?? "chat";
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
    number,
    idempotencyKey: first?.idempotencyKey ?? idempotencyKey,
    ...facts,
    endpoint,
    streamed: facts.streamed && endpoint !== "embeddings",
    workspace: customer.workspace,
    isPlenty: customer.kind === "plenty",
    sentAt: Date.now(),
    ...unknown,
  };
}

/** Of a provider. */
const failures = ["upstream_error", "upstream_rate_limited"];
const repeated = ["idempotency_in_progress", "idempotency_spent", "idempotency_mismatch"];

/** Whether it was refused as a repetition of another request. */
export function isRepetition({ code }: Pick<ClientCall, "code">): boolean {
  return repeated.includes(code ?? "");
}

/** An answer is also good when the provider failed, or the client hung up or repeated itself, since none is the service's fault. */
export function isGood(call: ClientCall): boolean {
  return call.status === 200 || failures.includes(call.code ?? "") || call.hungUp || isRepetition(call);
}
