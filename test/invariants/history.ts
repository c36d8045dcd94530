/**
 * The history of a run as a list of events, the common input of all checkers. A simulation records it by hooks; a harness of real
 * processes builds it from its clients' notes, the provider's log, rows and spools. As in Jepsen, a request of unknown outcome
 * becomes "info", which proves nothing.
 */
import type { GenerationId, KeyId, WorkspaceId } from "../../src/kernel/ids.ts";
import type { Month } from "../../src/kernel/clock.ts";
import type { NanoUsd } from "../../src/kernel/money.ts";
import type { Owed, TimedOut } from "./due-events.ts";
import type { Settlement } from "../../src/gateway/journal/settlement.ts";

/** The client's id of a request; unique in a run. */
export type Invocation = string;

/** A client sends a request. */
export interface Invoked {
  kind: "invoked";
  invocation: Invocation;
  workspace: WorkspaceId;
  key: KeyId;
  /** Sent to test the Retry-After of another request: how long after the moment that it named; negative: before it. */
  probe?: { of: Invocation; afterMs: number };
  /** It has an idempotency key. */
  isKeyed?: true;
}

/** A client has got its answer. */
export interface Answered {
  kind: "answered";
  invocation: Invocation;
  status: number;
  /** The code of an error, in the answer or in the stream. */
  code: string | null;
  generation: GenerationId | null;
  /** Complete: no error, no broken connection. */
  whole: boolean;
  retryAfterMs?: number;
  /** The bytes of the answer's text that the client got; absent: not counted. */
  deliveredBytes?: number;
  /** The charge that the answer's usage shows; absent: not read, or it shows none. */
  told?: NanoUsd;
  /** The client had hung up before. */
  hasLeft?: true;
}

/** The outcome of a request is unknown. */
export interface Info {
  kind: "info";
  invocation: Invocation;
}

/** A gateway got the reservation. */
export interface Admitted {
  kind: "admitted";
  generation: GenerationId;
  workspace: WorkspaceId;
  key: KeyId;
  month: Month;
  amount: NanoUsd;
  /** By the counters' clock, in milliseconds. */
  admittedAt: number;
  /** null: the event comes from a row or a spool. */
  invocation: Invocation | null;
  /** The block that its gateway decided with; absent: a worker decided, or it is not known. */
  block?: GenerationId;
  /** What recognises a repetition of its request; absent: it had no idempotency key, or it is not known. */
  claim?: string;
}

/** The counters lent a gateway a block, even if it never got the reply. */
export interface Lent {
  kind: "lent";
  block: GenerationId;
  workspace: WorkspaceId;
  key: KeyId;
  amount: NanoUsd;
  places: number;
  lifeMs: number;
}

/** The counters made the reservation, even if no gateway got the reply. */
export interface Reserved {
  kind: "reserved";
  generation: GenerationId;
  workspace: WorkspaceId;
  /** Balance minus holds, from their reply. */
  available: NanoUsd;
}

/** A gateway released an admission without calling a provider. */
export interface Released {
  kind: "released";
  generation: GenerationId;
}

/** A provider was called, according to its log. */
export interface Called {
  kind: "called";
  generation: GenerationId;
  /** The id of the workspace's own key that the call carried; absent: the service's key. */
  ownKey?: string;
  /** The provider, and all providers of the model; absent: not known. */
  provider?: { id: string; ofModel: readonly string[] };
}

/** A provider has sent its whole answer, according to its log. */
export interface Served {
  kind: "served";
  generation: GenerationId;
  /** The cost of its counts, at the prices of its route; with an own key, its list price. */
  cost: NanoUsd;
  /** The call carried an own key of the workspace. */
  isOnOwnKey?: true;
  /** It counted more than a request of this size can have. */
  isAboveBound?: true;
  /** The gateway did not read the answer to its end, so that the charge may be higher. */
  isPartial?: boolean;
}

/** The ledger has the charge. Rows contain only the last charge of a generation, when a late one replaced an expired one. */
export interface Charged extends Pick<Settlement, "generation" | "workspace" | "key" | "month" | "outcome"> {
  kind: "charged";
  /** By the counters' clock, in milliseconds; absent: not known. */
  admittedAt?: number;
  reserved: NanoUsd;
  cost: NanoUsd;
  /** The part of the true cost that is above the charge. */
  excess: NanoUsd;
  late: boolean;
  /** Its gateway died before the end. The charge covers the prompt and the text that is known to be delivered. */
  cut: boolean;
  /** Of a request with an idempotency key: it left something, so that the key is spent. */
  hasLeft?: true;
  /** A reachable gateway that had the generation open when it expired. */
  knownBy?: string;
  /** Absent: chat, or not known. */
  endpoint?: Settlement["endpoint"];
  /** The workspace's own key that served, and what the call would have cost. */
  ownKey?: { id: string; listCost: NanoUsd };
}

export interface Credited {
  kind: "credited";
  workspace: WorkspaceId;
  /** Below zero for what a refund or a dispute takes back. */
  amount: NanoUsd;
  /** Stripe's id of the card payment that it credits; null: it is taken back from one, or returns; absent: it came without a card. */
  payment?: string | null;
}

/** The database went back in time: these are in it no longer. Charges may be booked again. */
export interface Restored {
  kind: "restored";
  lost: readonly ((Charged | Credited) & { at: number })[];
}

/** The stream lost the events of these settlements before they were acknowledged. Their gateways may still have them. */
export interface EventsLost {
  kind: "events lost";
  generations: readonly GenerationId[];
}

/** Stripe has taken a payment from a card. */
export interface Paid {
  kind: "paid";
  workspace: WorkspaceId;
  /** Stripe's id. */
  payment: string;
  amount: NanoUsd;
  /** An automatic one: the month that it counts in, and the cap of each month. */
  automatic: { month: Month; cap: NanoUsd } | null;
}

/** What Stripe has of a workspace's card payments at the end of a run, without what it gave back. */
export interface Kept {
  kind: "kept";
  workspace: WorkspaceId;
  amount: NanoUsd;
}

/** From now on a key may make this many requests a minute. The first event is the initial setting. */
export interface RateLimited {
  kind: "rate";
  key: KeyId;
  requestsPerMinute: number;
}

/** From now on this much may be spent in a month. The first event is the initial setting; without one there is no limit. */
export interface SpendLimited {
  kind: "spend limit";
  workspace: WorkspaceId;
  /** null: the limit of the whole workspace. */
  key: KeyId | null;
  limit: NanoUsd | null;
}

/** From now on these keys may spend this much in a UTC day or month. The first event is the initial setting. */
export interface Budgeted {
  kind: "budget";
  workspace: WorkspaceId;
  /** As the counters name it; a day's begins with "day:", any other is a month's. */
  name: string;
  /** null: all of the workspace. */
  keys: readonly KeyId[] | null;
  limit: NanoUsd | null;
}

/** From now on a workspace has these own provider keys. The first event is the initial setting. */
export interface OwnKeysSet {
  kind: "own keys";
  workspace: WorkspaceId;
  keys: readonly { id: string; provider: string }[];
  /** Models that an own key serves may also be served on credit, by other providers. */
  fallback: boolean;
}

export interface Revoked {
  kind: "revoked";
  key: KeyId;
}

/** A fault begins or ends. */
export interface Fault {
  kind: "fault";
  name: string;
  phase: "begins" | "ends";
  /** How long after its beginning admission must be closed; absent: it does not close admission. */
  closesAfterMs?: number;
}

/** The counters' clock was changed. */
export interface Stepped {
  kind: "stepped";
  /** Forward; backward where negative. */
  ms: number;
}

/** From here on there is no fault. */
export interface Healed {
  kind: "healed";
  /** How long a process that calls providers stood still, or had no network, until now. */
  stoodStillMs?: number;
}

/** All work has ended, or the harness has stopped waiting for it. */
export interface Quiet {
  kind: "quiet";
  /** Generations without a confirmed settlement at their gateways. */
  unsettled: number;
  /** Events that metering has not processed. */
  backlog: number;
  /** Admissions that gateways could not release yet. */
  unknownAdmissions: number;
  /** The number of remaining holds, in a run that lost no part that should release them; absent: such a part was lost. */
  held?: number;
}

/** The counters' state before and after requests that were all refused. */
export interface Inspected {
  kind: "inspected";
  why: string;
  before: unknown;
  after: unknown;
}

type AnyEvent =
  | Invoked
  | Answered
  | Info
  | Admitted
  | Reserved
  | Lent
  | Released
  | Called
  | Served
  | Owed
  | TimedOut
  | Charged
  | Credited
  | Restored
  | EventsLost
  | Paid
  | Kept
  | RateLimited
  | SpendLimited
  | Budgeted
  | OwnKeysSet
  | Revoked
  | Fault
  | Stepped
  | Healed
  | Quiet
  | Inspected;

/** `at`: milliseconds of one clock for all events of a run. */
export type HistoryEvent = AnyEvent & { at: number };
export type EventOf<Kind extends AnyEvent["kind"]> = Extract<AnyEvent, { kind: Kind }> & { at: number };

/** In order of time. */
export type History = readonly HistoryEvent[];

export function eventsOf<Kind extends AnyEvent["kind"]>(history: History, kind: Kind): EventOf<Kind>[] {
  return history.filter((event): event is EventOf<Kind> => event.kind === kind);
}
