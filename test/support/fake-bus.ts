/** A bus in memory that does what a test tells it to: delay, lose, repeat, resend. Without orders it is a perfect one. */
import type { Backlog, Bus, Delivered, Reply, Service, Stream, Survey, Topic } from "../../src/backing/bus.ts";

type Handler = (payload: Uint8Array) => Promise<Uint8Array>;

export interface StoredEvent {
  id: string;
  payload: Uint8Array;
}

export class FakeBus implements Bus {
  /** Every question sent, in order. */
  readonly asked: Uint8Array[] = [];
  /** Every event stored and not consumed yet, in order. */
  stored: StoredEvent[] = [];
  /** How many questions are under way, and the most there ever were. */
  underWay = 0;
  underWayMost = 0;
  widthNow = 1_000;
  /** Stands between asker and server: lose, delay or repeat here. */
  carry: (deliver: () => Promise<Uint8Array>) => Promise<Reply> = async (deliver) => ({
    payload: await deliver(),
    resent: false,
  });
  /** Stands before the stream: throw here to lose an event, or store it and throw to lose the acknowledgement. */
  store: (event: StoredEvent) => Promise<void> = async (event) => void this.stored.push(event);
  /** Broadcasts of these topics reach nobody. */
  readonly silenced = new Set<Topic>();
  backlogNow: (() => Promise<Backlog>) | null = null;

  readonly #servers: Handler[] = [];
  readonly #listeners = new Set<{ topic: Topic; handler: (payload: Uint8Array) => void }>();
  readonly #reporters = new Set<{ survey: Survey; handler: (payload: Uint8Array) => Uint8Array }>();
  #consumer: { messagesMax: number; handler: (events: Delivered[]) => Promise<void> } | null = null;
  #turn = 0;

  async request(_service: Service, payload: Uint8Array): Promise<Reply> {
    this.asked.push(payload);
    this.underWay++;
    this.underWayMost = Math.max(this.underWayMost, this.underWay);
    try {
      return await this.carry(() => this.server()(payload));
    } finally {
      this.underWay--;
    }
  }

  /** The servers in turn. */
  server(): Handler {
    const handler = this.#servers[this.#turn++ % this.#servers.length];
    if (!handler) throw new Error("The test's bus has no server");
    return handler;
  }

  width(): number {
    return this.widthNow;
  }

  async serve(_service: Service, handler: Handler): Promise<AsyncDisposable> {
    this.#servers.push(handler);
    return { [Symbol.asyncDispose]: async () => void this.#servers.splice(this.#servers.indexOf(handler), 1) };
  }

  publish(_stream: Stream, id: string, payload: Uint8Array): Promise<void> {
    return this.store({ id, payload });
  }

  async consume(
    _stream: Stream,
    { messagesMax }: { messagesMax: number },
    handler: (events: Delivered[]) => Promise<void>,
  ): Promise<AsyncDisposable> {
    this.#consumer = { messagesMax, handler };
    return { [Symbol.asyncDispose]: async () => void (this.#consumer = null) };
  }

  /** Hands what is stored to the consumer, once; what it throws at stays stored. @returns how many events were consumed */
  async deliver(): Promise<number> {
    const consumer = this.#consumer;
    if (!consumer) throw new Error("The test's bus has no consumer");
    let consumed = 0;
    while (this.stored.length > 0) {
      const events = this.stored.slice(0, consumer.messagesMax);
      await consumer.handler(events.map(({ id, payload }) => ({ id, payload, attempt: 1 })));
      this.stored = this.stored.filter((event) => !events.includes(event));
      consumed += events.length;
    }
    return consumed;
  }

  async backlog(): Promise<Backlog> {
    return this.backlogNow ? this.backlogNow() : { messages: this.stored.length };
  }

  broadcast(topic: Topic, payload: Uint8Array = new Uint8Array()): void {
    if (this.silenced.has(topic)) return;
    for (const listener of this.#listeners) if (listener.topic === topic) listener.handler(payload);
  }

  listen(topic: Topic, handler: (payload: Uint8Array) => void): Disposable {
    const listener = { topic, handler };
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async survey(survey: Survey, payload: Uint8Array): Promise<Uint8Array[]> {
    return [...this.#reporters].filter((reporter) => reporter.survey === survey).map(({ handler }) => handler(payload));
  }

  report(survey: Survey, handler: (payload: Uint8Array) => Uint8Array): Disposable {
    const reporter = { survey, handler };
    this.#reporters.add(reporter);
    return { [Symbol.dispose]: () => void this.#reporters.delete(reporter) };
  }

  connected(): boolean {
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
