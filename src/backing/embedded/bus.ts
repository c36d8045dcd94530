/**
 * The bus of one process: requests are function calls, events are rows of the table `outbox`, the rest are lists of listeners. Events are
 * delivered in order, one batch at a time, at least once, even after a restart; a row is deleted when its event is acknowledged. It stays
 * written by hand so that `npm start` needs no NATS; test/contracts/bus.ts holds it to the promises of the bus of a fleet. Nothing is
 * replayed: an acknowledged event was deleted from the database that has its charge, so no restored database lacks both.
 */
import { withDeadline, type Clock, sleep, sleepUntil } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import type { Database } from "../backing.ts";
import {
  BusTimeoutError,
  BusUnavailableError,
  type Backlog,
  type Bus,
  type Delivered,
  type Reply,
  type ScatterService,
  type Service,
  type Stream,
  type Topic,
  type Pace,
  intervalAfter,
} from "../bus.ts";
import { admissionDeadlineMs, embeddedRequestsInFlight, eventRetryMs, eventRetryMsMax } from "../limits.ts";

type RequestHandler = (payload: Uint8Array) => Promise<Uint8Array>;
type Listener = (payload: Uint8Array) => void;
type ScatterHandler = (payload: Uint8Array) => Uint8Array;

export class EmbeddedBus implements Bus {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #outbox: Outbox;
  readonly #servers = new Map<Service, RequestHandler>();
  readonly #listeners = new Set<{ topic: Topic; handler: Listener }>();
  readonly #scatterServers = new Set<{ service: ScatterService; handler: ScatterHandler }>();
  #open = true;

  constructor({ sql, clock, log }: { sql: Database; clock: Clock; log: Logger }) {
    this.#clock = clock;
    this.#log = log;
    this.#outbox = new Outbox({ sql, clock, log });
  }

  async request(service: Service, payload: Uint8Array): Promise<Reply> {
    const handler = this.#servers.get(service);
    if (handler === undefined) throw new BusUnavailableError(`This process does not serve "${service}"`);
    try {
      const reply = await withDeadline(this.#clock, admissionDeadlineMs, `The reply of "${service}"`, handler(payload));
      return { payload: reply, resent: false };
    } catch (error) {
      throw new BusTimeoutError(`The request to "${service}" got no reply`, { cause: error });
    }
  }

  silentMs(): number {
    return 0;
  }

  width(): number {
    return embeddedRequestsInFlight;
  }

  serve(service: Service, handler: RequestHandler): Promise<AsyncDisposable> {
    const inFlight = new Set<Promise<unknown>>();
    const counted: RequestHandler = async (payload) => {
      const reply = handler(payload);
      inFlight.add(reply);
      return await reply.finally(() => inFlight.delete(reply));
    };
    this.#servers.set(service, counted);
    const dispose = async (): Promise<void> => {
      if (this.#servers.get(service) === counted) this.#servers.delete(service);
      await Promise.allSettled(inFlight);
    };
    return Promise.resolve({ [Symbol.asyncDispose]: dispose });
  }

  publish(stream: Stream, id: string, payload: Uint8Array): Promise<void> {
    return this.#outbox.publish(stream, id, payload);
  }

  partitions(): number {
    return 1;
  }

  consume(stream: Stream, pace: Pace, handler: (events: Delivered[]) => Promise<void>): Promise<AsyncDisposable> {
    return Promise.resolve(this.#outbox.consume({ stream, pace, handler }));
  }

  backlog(stream: Stream): Promise<Backlog> {
    return this.#outbox.backlog(stream);
  }

  /** An acknowledged event was deleted from the database that has its charge, so no restored database lacks both. */
  replay(): Promise<void> {
    return Promise.resolve();
  }

  broadcast(topic: Topic, payload: Uint8Array = new Uint8Array()): void {
    queueMicrotask(() => {
      for (const listener of this.#listeners) if (listener.topic === topic) this.#attempt(topic, () => listener.handler(payload));
    });
  }

  listen(topic: Topic, handler: Listener): Disposable {
    return kept(this.#listeners, { topic, handler });
  }

  async scatter(service: ScatterService, payload: Uint8Array): Promise<Uint8Array[]> {
    const servers = [...this.#scatterServers].filter((server) => server.service === service);
    const replies = await this.survey(service, payload);
    if (replies.length < servers.length) throw new BusTimeoutError(`A server of "${service}" could not reply`);
    return replies;
  }

  async survey(service: ScatterService, payload: Uint8Array): Promise<Uint8Array[]> {
    const replies: Uint8Array[] = [];
    for (const server of this.#scatterServers) {
      if (server.service === service) this.#attempt(service, () => void replies.push(server.handler(payload)));
    }
    return replies;
  }

  serveScatter(service: ScatterService, handler: ScatterHandler): Disposable {
    return kept(this.#scatterServers, { service, handler });
  }

  connected(): boolean {
    return this.#open;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#open = false;
    await this.#outbox[Symbol.asyncDispose]();
  }

  /** A handler that fails stops neither the other handlers nor the caller. */
  #attempt(subject: Topic | ScatterService, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#log.error({ event: "bus.handler.failed", subject, reason: String(error) });
    }
  }
}

function kept<T>(set: Set<T>, entry: T): Disposable {
  set.add(entry);
  return { [Symbol.dispose]: () => void set.delete(entry) };
}

interface OutboxParts {
  sql: Database;
  clock: Clock;
  log: Logger;
}

interface Consumer {
  stream: Stream;
  pace: Pace;
  handler: (events: Delivered[]) => Promise<void>;
}

interface Row {
  id: bigint;
  message_id: string;
  payload: Uint8Array;
  attempts: number;
}

/** The events: rows of the table `outbox`. */
class Outbox implements AsyncDisposable {
  readonly #parts: OutboxParts;
  readonly #consumptions = new Set<Consumption>();

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Resolves when the event is in the database. An id that is stored already is the same event. */
  async publish(stream: Stream, id: string, payload: Uint8Array): Promise<void> {
    await this.#parts.sql`
      INSERT INTO outbox (stream, message_id, payload) VALUES (${stream}, ${id}, ${payload})
      ON CONFLICT (stream, message_id) DO NOTHING`;
    for (const consumption of this.#consumptions) consumption.wake();
  }

  consume(consumer: Consumer): AsyncDisposable {
    const consumption = new Consumption(consumer, this.#parts);
    this.#consumptions.add(consumption);
    return {
      [Symbol.asyncDispose]: async () => {
        await consumption[Symbol.asyncDispose]();
        this.#consumptions.delete(consumption);
      },
    };
  }

  async backlog(stream: Stream): Promise<Backlog> {
    const [row] = await this.#parts.sql<{ count: bigint }[]>`SELECT count(*) AS count FROM outbox WHERE stream = ${stream}`;
    return { messages: Number(row?.count ?? 0n) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#consumptions].map((consumption) => consumption[Symbol.asyncDispose]()));
  }
}

/** One batch at a time, from the oldest event on. */
class Consumption implements AsyncDisposable {
  readonly #consumer: Consumer;
  readonly #parts: OutboxParts;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  #news = Promise.withResolvers<void>();

  constructor(consumer: Consumer, parts: OutboxParts) {
    this.#consumer = consumer;
    this.#parts = parts;
    this.#ended = this.#run();
  }

  wake(): void {
    this.#news.resolve();
  }

  /** Waits for the batch under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#parts;
    for (let failures = 0; !this.#stopping.signal.aborted;) {
      // An event that is published from here on is either found below or wakes the wait after it.
      this.#news = Promise.withResolvers();
      try {
        const found = await this.#deliver();
        failures = 0;
        if (!found) await this.#news.promise;
      } catch (error) {
        const pauseMs = Math.min(eventRetryMs * 2 ** failures++, eventRetryMsMax);
        log.warn({ event: "events.failed", stream: this.#consumer.stream, pauseMs, reason: String(error) });
        await sleep(clock, pauseMs, this.#stopping.signal);
      }
    }
  }

  /** @returns whether it delivered anything */
  async #deliver(): Promise<boolean> {
    const { sql, clock } = this.#parts;
    const { stream, pace, handler } = this.#consumer;
    const startedAt = clock.monotonic();
    const rows = await sql<Row[]>`
      SELECT id, message_id, payload, attempts FROM outbox WHERE stream = ${stream} ORDER BY id LIMIT ${pace.messagesMax}`;
    if (rows.length === 0 || this.#stopping.signal.aborted) return false;
    const ids = rows.map(({ id }) => id);
    try {
      await handler(rows.map((row) => ({ id: row.message_id, payload: row.payload, attempt: row.attempts + 1 })));
    } catch (error) {
      await sql`UPDATE outbox SET attempts = attempts + 1 WHERE id = ANY(${ids.map(String)}::bigint[])`;
      throw error;
    }
    await sql`DELETE FROM outbox WHERE id = ANY(${ids.map(String)}::bigint[])`;
    const next = startedAt + intervalAfter(clock.monotonic() - startedAt, pace);
    if (rows.length < pace.messagesMax) await sleepUntil(clock, next, this.#stopping.signal);
    return true;
  }
}
