/** The bus of one process: questions are calls, events are rows, the rest are lists of listeners. */
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { admissionDeadlineMs, embeddedQuestionsInFlight } from "../limits.ts";
import {
  BusTimeoutError,
  BusUnavailableError,
  type Backlog,
  type Bus,
  type Delivered,
  type Reply,
  type Service,
  type Stream,
  type Survey,
  type Topic,
} from "../bus.ts";
import type { Database } from "../backing.ts";
import { Outbox } from "./outbox.ts";

type Answer = (payload: Uint8Array) => Promise<Uint8Array>;
type Listener = (payload: Uint8Array) => void;
type Reporter = (payload: Uint8Array) => Uint8Array;

export class EmbeddedBus implements Bus {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #outbox: Outbox;
  readonly #servers = new Map<Service, Answer>();
  readonly #listeners = new Set<{ topic: Topic; handler: Listener }>();
  readonly #reporters = new Set<{ survey: Survey; handler: Reporter }>();
  #open = true;

  constructor({ sql, clock, log }: { sql: Database; clock: Clock; log: Logger }) {
    this.#clock = clock;
    this.#log = log;
    this.#outbox = new Outbox({ sql, clock, log });
  }

  async request(service: Service, payload: Uint8Array): Promise<Reply> {
    const answer = this.#servers.get(service);
    if (answer === undefined) throw new BusUnavailableError(`Nobody in this process serves "${service}"`);
    try {
      const reply = await withDeadline(this.#clock, admissionDeadlineMs, `The answer of "${service}"`, answer(payload));
      return { payload: reply, resent: false };
    } catch (error) {
      throw new BusTimeoutError(`The question to "${service}" was left unanswered`, { cause: error });
    }
  }

  width(): number {
    return embeddedQuestionsInFlight;
  }

  serve(service: Service, handler: Answer): Promise<AsyncDisposable> {
    const underWay = new Set<Promise<unknown>>();
    const answer: Answer = async (payload) => {
      const reply = handler(payload);
      underWay.add(reply);
      return await reply.finally(() => underWay.delete(reply));
    };
    this.#servers.set(service, answer);
    const dispose = async (): Promise<void> => {
      if (this.#servers.get(service) === answer) this.#servers.delete(service);
      await Promise.allSettled(underWay);
    };
    return Promise.resolve({ [Symbol.asyncDispose]: dispose });
  }

  publish(stream: Stream, id: string, payload: Uint8Array): Promise<void> {
    return this.#outbox.publish(stream, id, payload);
  }

  consume(
    stream: Stream,
    { messagesMax, everyMs = 0 }: { messagesMax: number; everyMs?: number },
    handler: (events: Delivered[]) => Promise<void>,
  ): Promise<AsyncDisposable> {
    return Promise.resolve(this.#outbox.consume({ stream, messagesMax, everyMs, handler }));
  }

  backlog(stream: Stream): Promise<Backlog> {
    return this.#outbox.backlog(stream);
  }

  broadcast(topic: Topic, payload: Uint8Array = new Uint8Array()): void {
    queueMicrotask(() => {
      for (const listener of this.#listeners) if (listener.topic === topic) this.#attempt(topic, () => listener.handler(payload));
    });
  }

  listen(topic: Topic, handler: Listener): Disposable {
    return kept(this.#listeners, { topic, handler });
  }

  async survey(survey: Survey, payload: Uint8Array): Promise<Uint8Array[]> {
    const asked = [...this.#reporters].filter((reporter) => reporter.survey === survey);
    const answers: Uint8Array[] = [];
    for (const { handler } of asked) this.#attempt(survey, () => void answers.push(handler(payload)));
    if (answers.length < asked.length) throw new BusTimeoutError("Somebody who is there could not answer a survey");
    return answers;
  }

  report(survey: Survey, handler: Reporter): Disposable {
    return kept(this.#reporters, { survey, handler });
  }

  connected(): boolean {
    return this.#open;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#open = false;
    await this.#outbox[Symbol.asyncDispose]();
  }

  /** A handler that fails concerns no other, nor who called. */
  #attempt(subject: Topic | Survey, call: () => void): void {
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
