/** A bus in memory. A test can make it delay, lose, repeat or resend; by default it delivers everything at once. */
import type {
  Backlog,
  Bus,
  Delivered,
  Replay,
  Reply,
  ScatterMember,
  ScatterService,
  Service,
  Stream,
  Topic,
} from "../../../src/backing/bus.ts";

type Handler = (payload: Uint8Array) => Promise<Uint8Array>;

export interface StoredEvent {
  id: string;
  payload: Uint8Array;
  partition?: number;
}

export class FakeBus implements Bus {
  /** The payload of every request, in order. */
  readonly requests: Uint8Array[] = [];
  /** Every event stored and not consumed yet, in order. */
  stored: StoredEvent[] = [];
  /** How many requests are in flight, and the most there ever were. */
  inFlight = 0;
  inFlightMost = 0;
  widthNow = 1_000;
  silentForMs = 0;
  partitionsNow = 1;
  /** Runs between client and server: lose, delay or repeat a request here. */
  carry: (deliver: () => Promise<Uint8Array>) => Promise<Reply> = async (deliver) => ({
    payload: await deliver(),
    resent: false,
  });
  /** Runs before the stream: throw here to lose an event, or store it and throw to lose the acknowledgement. */
  store: (event: StoredEvent) => Promise<void> = async (event) => void this.stored.push(event);
  /** Broadcasts of these topics are lost. */
  readonly silenced = new Set<Topic>();
  backlogNow: (() => Promise<Backlog>) | null = null;

  readonly #servers: Handler[] = [];
  readonly #listeners = new Set<{ topic: Topic; handler: (payload: Uint8Array) => void }>();
  readonly #scatterServers = new Set<{
    service: ScatterService;
    handler: (payload: Uint8Array) => Uint8Array;
    member: ScatterMember | undefined;
  }>();
  #consumer: { messagesMax: number; handler: (events: Delivered[]) => Promise<void> } | null = null;
  #next = 0;

  async request(_service: Service, payload: Uint8Array): Promise<Reply> {
    this.requests.push(payload);
    this.inFlight++;
    this.inFlightMost = Math.max(this.inFlightMost, this.inFlight);
    try {
      return await this.carry(() => this.server()(payload));
    } finally {
      this.inFlight--;
    }
  }

  /** The next server, round robin. */
  server(): Handler {
    const handler = this.#servers[this.#next++ % this.#servers.length];
    if (!handler) throw new Error("The test's bus has no server");
    return handler;
  }

  silentMs(): number {
    return this.silentForMs;
  }

  width(): number {
    return this.widthNow;
  }

  async serve(_service: Service, handler: Handler): Promise<AsyncDisposable> {
    this.#servers.push(handler);
    return { [Symbol.asyncDispose]: async () => void this.#servers.splice(this.#servers.indexOf(handler), 1) };
  }

  publish(_stream: Stream, id: string, payload: Uint8Array, partition = 0): Promise<void> {
    return this.store({ id, payload, partition });
  }

  partitions(): number {
    return this.partitionsNow;
  }

  async consume(
    _stream: Stream,
    { messagesMax }: { messagesMax: number },
    handler: (events: Delivered[]) => Promise<void>,
  ): Promise<AsyncDisposable> {
    this.#consumer = { messagesMax, handler };
    return { [Symbol.asyncDispose]: async () => void (this.#consumer = null) };
  }

  /** Delivers the stored events to the consumer, once; a batch at which it throws stays stored. @returns how many events were consumed */
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

  /** The times from which events were to be delivered again. */
  readonly replays: (number | null)[] = [];

  async replay(_stream: Stream, { sinceMs }: Replay): Promise<void> {
    this.replays.push(sinceMs);
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

  async scatter(service: ScatterService, payload: Uint8Array): Promise<Uint8Array[]> {
    return [...this.#scatterServers].filter((server) => server.service === service).map(({ handler }) => handler(payload));
  }

  survey(service: ScatterService, payload: Uint8Array): Promise<Uint8Array[]> {
    return this.scatter(service, payload);
  }

  serveScatter(service: ScatterService, handler: (payload: Uint8Array) => Uint8Array, member?: ScatterMember): Disposable {
    const server = { service, handler, member };
    this.#scatterServers.add(server);
    return { [Symbol.dispose]: () => void this.#scatterServers.delete(server) };
  }

  /** While `work` runs, no server of scattered requests answers, and callers do not wait. Afterwards each member learns that it missed some. */
  async withoutScatterServers(work: () => Promise<void>): Promise<void> {
    const silent = [...this.#scatterServers];
    this.#scatterServers.clear();
    await work();
    for (const server of silent) {
      this.#scatterServers.add(server);
      server.member?.onMissed?.();
    }
  }

  connected(): boolean {
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
