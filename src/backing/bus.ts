/**
 * Port 1 of 2: how processes talk. `embedded/bus.ts` is one process, `distributed/bus.ts` a fleet on NATS.
 * test/contracts/bus.ts says what both must do. Payloads are bytes; who sends them owns their schema.
 *
 * Three shapes, three promises:
 * - request/serve: a question that one live server of a service answers. The outcome of a lost reply is unknown,
 *   so every question must be safe to ask twice.
 * - publish/consume: an event that is stored before `publish` resolves and delivered at least once.
 * - broadcast/listen and survey/report: best effort, to every process that is there.
 */

/** Who answers questions. One so far: admission decides who may spend what. */
export type Service = "admission";

/** Where events wait for a worker. */
export type Stream = "settlements";

/** What is told to every process, as a hint; correctness never rests on it. */
export type Topic =
  /** A key, its owner or its workspace changed: forget what you cached. Payload: empty. */
  | "records-changed"
  /** Settlement batches that are in the ledger. Payload: JSON array of batch ids. */
  | "settled"
  /** The state of launch checks changed: read it again. */
  | "checks-changed"
  /** A mail waits: send it. */
  | "mail-waits"
  /** A project waits to be scanned. */
  | "scan-waits"
  /** What a gateway counted of calls of the tools API. Payload: JSON, `[gateway, [[hash of a key, calls], …]]`. */
  | "tools-calls";

/** What every process is asked and may answer. */
export type Survey =
  /** Which generations of a workspace are open, and when were its requests of the last minute admitted? */
  "open-generations";

/** Nobody received the question. */
export class BusUnavailableError extends Error {
  override name = "BusUnavailableError";
}

/** The question may or may not have been received. */
export class BusTimeoutError extends Error {
  override name = "BusTimeoutError";
}

export interface Reply {
  payload: Uint8Array;
  /** True when the question went to a second server because the first was late: both may have acted on it. */
  resent: boolean;
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

export interface Bus extends AsyncDisposable {
  /**
   * Asks one live server. A server that leaves the question unanswered for 100 ms is passed over until it beats again,
   * and the same bytes go once more to another.
   * @throws BusUnavailableError nobody is there, or the connection is down: at once where that is known; certainly not received
   * @throws BusTimeoutError no answer within 2 s; outcome unknown
   */
  request(service: Service, payload: Uint8Array): Promise<Reply>;
  /** How many questions to a service may be in flight now; at least 1. Callers gather what exceeds it. */
  width(service: Service): number;
  /** Answers questions until disposed. A handler that throws leaves the question unanswered. Disposing waits for handlers under way. */
  serve(service: Service, handler: (payload: Uint8Array) => Promise<Uint8Array>): Promise<AsyncDisposable>;

  /**
   * Stores an event; resolves when it is stored. The same id within two minutes is usually delivered once.
   * @throws when it could not be stored, or when that is unknown (publish again: consumers are idempotent)
   */
  publish(stream: Stream, id: string, payload: Uint8Array): Promise<void>;
  /**
   * Delivers events in batches of at most `messagesMax`, one batch at a time; resolves of the handler acknowledge the
   * whole batch, a throw delivers all of it again after a pause. Between the starts of two batches there are `everyMs`,
   * unless the first was full: what comes after a pause is delivered at once. There is one consumer of a stream at work
   * at a time in one process; several processes may compete.
   */
  consume(
    stream: Stream,
    options: { messagesMax: number; everyMs?: number },
    handler: (events: Delivered[]) => Promise<void>,
  ): Promise<AsyncDisposable>;
  backlog(stream: Stream): Promise<Backlog>;

  /** To every process that listens, this one included. Lost while the connection is down. */
  broadcast(topic: Topic, payload?: Uint8Array): void;
  listen(topic: Topic, handler: (payload: Uint8Array) => void): Disposable;

  /**
   * Asks every process that reports; resolves after `waitMs` or once all known ones have answered.
   * @throws BusUnavailableError when nobody can be asked: no answers would look like nobody there
   * @throws BusTimeoutError when a known one does not answer in time, or cannot: what it knows would look like nothing
   */
  survey(survey: Survey, payload: Uint8Array, waitMs: number): Promise<Uint8Array[]>;
  report(survey: Survey, handler: (payload: Uint8Array) => Uint8Array): Disposable;

  /** Whether questions and events can be sent at present. */
  connected(): boolean;
}
