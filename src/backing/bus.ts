/**
 * Port 1 of 2: how processes communicate. `embedded/bus.ts` serves one process, `nats/bus.ts` a fleet. test/contracts/bus.ts defines what
 * both must do. Payloads are bytes; the sender owns their schema. It has three forms:
 * - request/serve: one live server of a service replies. The outcome of a request without a reply is unknown, so every request must be safe
 *   to repeat.
 * - publish/consume: an event that is stored before `publish` resolves and delivered at least once.
 * - broadcast/listen and scatter/serveScatter: best effort, to every connected process.
 */
/** A service that replies to requests. So far there is only admission, which decides which key may spend how much. */
export type Service = "admission";

/** A queue in which events wait for a worker. */
export type Stream = "settlements";

/** A topic without a payload. */
export type Notification =
  /** A key, its owner or its workspace changed: drop cached copies. */
  | "records-changed"
  /** The counters do not answer, so gateways must not decide by themselves. */
  | "counters-lost"
  /** The state of launch checks changed and must be read again. */
  | "checks-changed"
  /** A mail is waiting to be sent. */
  | "mail-waits"
  /** An alert is waiting to be delivered to a webhook. */
  | "alert-waits"
  /** A project is waiting to be scanned. */
  | "scan-waits"
  /** Statements are to be closed now. */
  | "statements-due"
  /** Asks which processes run. */
  | "roll-call";

/** The topic of a broadcast to every process. Correctness never depends on its delivery. */
export type Topic =
  | Notification
  /** Settlement batches that are in the ledger. Payload: JSON array of batch ids. */
  | "settled"
  /** A gateway's count of calls of the tools API. Payload: JSON, `[gateway, [[hash of a key, calls], …]]`. */
  | "tools-calls"
  /** A process reports that it runs. Payload: JSON. */
  | "roll-answer";

/** A request to every process, to which each may reply. */
export type ScatterService =
  /**
   * Asks which generations of a workspace are open, when its requests of the last minute were admitted, and how much of its blocks they
   * hold.
   */
  "open-generations";

/** No server received the request. */
export class BusUnavailableError extends Error {
  override name = "BusUnavailableError";
}

/** A server may have received the request. */
export class BusTimeoutError extends Error {
  override name = "BusTimeoutError";
}

export interface Reply {
  payload: Uint8Array;
  /** True when the request went to a second server because the first was late: both may have acted on it. */
  resent: boolean;
}

/** A server of scattered requests. */
export interface ScatterMember {
  id: string;
  /** Servers that died and whose data it has: it replies in their place. */
  predecessors: readonly string[];
  /** Called after a silence so long that clients may have gone on without its replies. Absent: nothing is to be done then. */
  onMissed?: () => void;
}

export interface Delivered {
  /** The id given to `publish`. */
  id: string;
  payload: Uint8Array;
  /** 1 on first delivery. */
  attempt: number;
}

export interface Backlog {
  /** Events stored and not yet acknowledged. */
  messages: number;
}

export interface Replay {
  /** Delivers events stored at this time or later, and all that are not acknowledged; null: all. */
  sinceMs: number | null;
  /** Gets the events in the order of the stream, one batch at a time. */
  handler: (events: Delivered[]) => Promise<void>;
  signal: AbortSignal;
}

export interface Bus extends AsyncDisposable {
  /**
   * Sends a request to one live server. A server that does not reply within 100 ms gets no further requests until its next heartbeat, and
   * the same bytes go to another server once.
   * @throws BusUnavailableError no server, or the connection is down: at once if that is known; certainly not received
   * @throws BusTimeoutError no reply within 2 s; outcome unknown
   */
  request(service: Service, payload: Uint8Array): Promise<Reply>;
  /** How many requests to a service may be in flight now; at least 1. Callers batch the rest. */
  width(service: Service): number;
  /** Milliseconds since any server of a service was last heard; 0 if the service is in this process. */
  silentMs(service: Service): number;
  /** Replies to requests until disposed. A request whose handler throws gets no reply. Disposing waits for running handlers. */
  serve(service: Service, handler: (payload: Uint8Array) => Promise<Uint8Array>): Promise<AsyncDisposable>;

  /**
   * Stores an event; resolves when it is stored. The same id within two minutes is usually delivered once.
   * @param partition events of one partition are consumed by one process, as long as all processes know of each other; default: 0
   * @throws when it could not be stored, or when that is unknown (publish again: consumers are idempotent)
   */
  publish(stream: Stream, id: string, payload: Uint8Array, partition?: number): Promise<void>;
  /**
   * How many partitions a stream should have now: one for each process that consumes it, at least 1. Publishers and consumers may disagree
   * for a moment; events of every partition are consumed.
   */
  partitions(stream: Stream): number;
  /**
   * Delivers events in batches, one batch at a time. When the handler resolves, the whole batch is acknowledged; when it throws, all of it
   * is delivered again after a pause. The pace sets the time between the starts of two batches; an event after an idle time is delivered at
   * once. One process runs one consumer of a stream at a time. Several processes share its partitions: when one dies, hangs or cannot
   * handle events, the others consume its partitions.
   */
  consume(stream: Stream, pace: Pace, handler: (events: Delivered[]) => Promise<void>): Promise<AsyncDisposable>;
  backlog(stream: Stream): Promise<Backlog>;
  /**
   * Delivers again what the stream still has, while its consumers continue. Resolves once the handler has had everything stored so far. A
   * bus that keeps its events in the database has nothing to deliver again.
   * @throws when the handler did, events are missing, or `signal` aborts: replay again
   */
  replay(stream: Stream, replay: Replay): Promise<void>;

  /** Sends to every process that listens, this one included. Lost while the connection is down. */
  broadcast(topic: Topic, payload?: Uint8Array): void;
  listen(topic: Topic, handler: (payload: Uint8Array) => void): Disposable;

  /**
   * Sends a request to every process that serves it and gathers the replies; resolves after `waitMs` or once all known
   * servers have replied.
   * @throws BusUnavailableError when the request reaches no process: an empty result would look as if there were no servers @throws
   *   BusTimeoutError when a known server cannot reply in time: the result would lack its data
   */
  scatter(service: ScatterService, payload: Uint8Array, waitMs: number): Promise<Uint8Array[]>;
  /**
   * Like `scatter`, for questions that may be answered without all servers: resolves with the replies that came in time. A server that did
   * not reply in time is not waited for again until it shows that it is alive.
   * @throws BusUnavailableError as `scatter` does
   */
  survey(service: ScatterService, payload: Uint8Array, waitMs: number): Promise<Uint8Array[]>;
  /** @param member absent: a new server without predecessors */
  serveScatter(service: ScatterService, handler: (payload: Uint8Array) => Uint8Array, member?: ScatterMember): Disposable;

  /** Whether requests and events can be sent at present. */
  connected(): boolean;
}

/**
 * When a consumer takes its next batch. A longer batch is followed by a longer rest, in which more events gather. Under load, batches grow
 * and each event costs less, while a few events wait no longer than usual.
 */
export interface Pace {
  /** The most events in one batch. After a full one the next comes at once. */
  messagesMax: number;
  /** Between the starts of two batches, at least; absent: 0. */
  everyMs?: number;
  /** Between the starts of two batches, at most; absent: `everyMs`. */
  everyMsMax?: number;
}

/** A consumer works for at most a fifth of the time, unless that would mean a longer rest than the pace allows. */
const timesItsWork = 5;

/** @returns milliseconds between the start of a batch, which took `workMs`, and the start of the next */
export function intervalAfter(workMs: number, { everyMs = 0, everyMsMax = everyMs }: Pace): number {
  return Math.min(Math.max(everyMs, workMs * timesItsWork), Math.max(everyMs, everyMsMax));
}
