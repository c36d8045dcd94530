/**
 * The bus of one process: requests are function calls, events are rows, the rest are lists of listeners. It stays written by hand
 * so that `npm start` needs no NATS; test/contracts/bus.ts holds it to the promises of the bus of a fleet.
 */
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { admissionDeadlineMs, embeddedRequestsInFlight } from "../limits.ts";
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
} from "../bus.ts";
import type { Database } from "../backing.ts";
import type { Pace } from "../pace.ts";
import { Outbox } from "./outbox.ts";

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

  /** What was acknowledged was deleted in the database that has the charge, so no restored one lacks both. */
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
