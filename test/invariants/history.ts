/**
 * What happened in a run, as a list: the form in which a simulation (from hooks) and a harness of real processes (from its
 * clients' notes, the provider's own log, rows and spools) tell it to the same checkers. In the style of Jepsen: what nobody
 * can tell the outcome of is "info" and proves nothing.
 */
import type { GenerationId, KeyId, WorkspaceId } from "../../src/kernel/ids.ts";
import type { Month } from "../../src/kernel/clock.ts";
import type { NanoUsd } from "../../src/kernel/money.ts";
import type { Settlement } from "../../src/gateway/journal/settlement.ts";

/** Of a request, by whoever sent it; unique in a run. */
export type Invocation = string;

/** A client sends a request. */
export interface Invoked {
  kind: "invoked";
  invocation: Invocation;
  workspace: WorkspaceId;
  key: KeyId;
  /** Sent to test the Retry-After of another: how long after the moment that it named; before it where negative. */
  probe?: { of: Invocation; afterMs: number };
}

/** A client has its answer. */
export interface Answered {
  kind: "answered";
  invocation: Invocation;
  status: number;
  /** Of an error, be it the answer's or an event in the stream. */
  code: string | null;
  generation: GenerationId | null;
  /** Nothing of it is missing: no error, no broken connection. */
  whole: boolean;
  retryAfterMs?: number;
  /** Of the answer's texts, as far as the client had them; absent: nobody counted. */
  deliveredBytes?: number;
}

/** Nobody can tell how a request ended. */
export interface Info {
  kind: "info";
  invocation: Invocation;
}

/** A gateway has the reservation. */
export interface Admitted {
  kind: "admitted";
  generation: GenerationId;
  workspace: WorkspaceId;
  key: KeyId;
  month: Month;
  amount: NanoUsd;
  /** By the counters' clock, in milliseconds. */
  admittedAt: number;
  /** null: told by a row or a spool. */
  invocation: Invocation | null;
}

/** The counters have reserved it; what a gateway never heard of is there too. */
export interface Reserved {
  kind: "reserved";
  generation: GenerationId;
  workspace: WorkspaceId;
  /** Balance minus holds, by their reply. */
  available: NanoUsd;
}

/** Its gateway gives an admission up, having called nobody. */
export interface Released {
  kind: "released";
  generation: GenerationId;
}

/** A provider is called, by its own log. */
export interface Called {
  kind: "called";
  generation: GenerationId;
}

/** A provider has told all of its answer, by its own log. */
export interface Served {
  kind: "served";
  generation: GenerationId;
  /** What it counted, at the prices of its route. */
  cost: NanoUsd;
  /** It told so much, and was not heard to its end: what is charged may be more. */
  isPartial?: boolean;
}

/** A provider has been sent the request, and whoever leaves now owes at least so much. The last one of a generation stands. */
export interface Owed {
  kind: "owed";
  generation: GenerationId;
  /** Zero where the provider failed by itself. */
  amount: NanoUsd;
}

/** The ledger has it. The rows of a charge that took the place of a given-up one may tell the last one alone. */
export interface Charged extends Pick<Settlement, "generation" | "workspace" | "key" | "month" | "outcome"> {
  kind: "charged";
  reserved: NanoUsd;
  cost: NanoUsd;
  /** What the true cost has above what is charged. */
  excess: NanoUsd;
  late: boolean;
  /** Its gateway died with it: charged is the prompt, and what was known to be delivered. */
  cut: boolean;
  /** A gateway that had the generation open, and could have been asked, when it was given up as expired. */
  knownTo?: string;
}

export interface Credited {
  kind: "credited";
  workspace: WorkspaceId;
  amount: NanoUsd;
}

/** From now on a key may make so many requests a minute. The first one tells how the run began. */
export interface RateLimited {
  kind: "rate";
  key: KeyId;
  requestsPerMinute: number;
}

/** From now on so much may be spent in a month. The first one tells how the run began; without any there is no limit. */
export interface SpendLimited {
  kind: "spend limit";
  workspace: WorkspaceId;
  /** null: of the whole workspace. */
  key: KeyId | null;
  limit: NanoUsd | null;
}

export interface Revoked {
  kind: "revoked";
  key: KeyId;
}

/** Something is broken, or whole again. */
export interface Fault {
  kind: "fault";
  name: string;
  phase: "begins" | "ends";
  /** How long after its beginning nothing at all may be admitted any more; absent: it closes nothing. */
  closesAfterMs?: number;
}

/** The counters' clock was set. */
export interface Stepped {
  kind: "stepped";
  /** Forward; backward where negative. */
  ms: number;
}

/** From here on nothing is broken. */
export interface Healed {
  kind: "healed";
}

/** Nothing is under way any longer, or the harness has stopped waiting for it. */
export interface Quiet {
  kind: "quiet";
  /** Generations that gateways have not seen confirmed. */
  unsettled: number;
  /** Events that metering has not taken. */
  backlog: number;
  /** Admissions that gateways could not give up yet. */
  unknownAdmissions: number;
  /** Amounts that are still set aside, of a run in which nobody who should give them up was lost; absent: somebody was. */
  held?: number;
}

/** A look inside the counters around requests that were all refused. */
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
  | Released
  | Called
  | Served
  | Owed
  | Charged
  | Credited
  | RateLimited
  | SpendLimited
  | Revoked
  | Fault
  | Stepped
  | Healed
  | Quiet
  | Inspected;

/** `at`: milliseconds of one clock for all events of a run. */
export type HistoryEvent = AnyEvent & { at: number };
export type EventOf<Kind extends AnyEvent["kind"]> = Extract<AnyEvent, { kind: Kind }> & { at: number };

/** In the order in which it happened. */
export type History = readonly HistoryEvent[];

export function eventsOf<Kind extends AnyEvent["kind"]>(history: History, kind: Kind): EventOf<Kind>[] {
  return history.filter((event): event is EventOf<Kind> => event.kind === kind);
}

/** What makes room stands before what takes it where the times of both are the same, or known to a millisecond alone. */
const first: readonly AnyEvent["kind"][] = [
  "credited",
  "rate",
  "spend limit",
  "charged",
  "released",
  "invoked",
  "admitted",
  "reserved",
];

/** For events that were gathered from several sources: by time. */
export function inOrder(events: readonly HistoryEvent[]): HistoryEvent[] {
  const rank = ({ kind }: HistoryEvent): number => (first.includes(kind) ? first.indexOf(kind) : first.length);
  return events.toSorted((a, b) => a.at - b.at || rank(a) - rank(b));
}
