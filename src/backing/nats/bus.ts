/**
 * The bus of a fleet: NATS for requests, scattered requests and broadcasts, JetStream for events. Requests, stored events and delivered
 * events each have their own connection: the server closes a connection that is read too slowly, and stalls one that sends too fast.
 * Nothing waits for NATS at the start, and everything resumes when it is back. Names on the wire are in link.ts. Choosing a server, sending
 * a request again and sharing partitions have their own modules.
 */
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import { newInternalId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import type { Secret } from "../../kernel/secret.ts";
import { busPayloadBytesMax, busServeMs } from "../limits.ts";
import type {
  Backlog,
  Bus,
  Delivered,
  Replay,
  Reply,
  Service,
  Stream,
  ScatterMember,
  ScatterService,
  Topic,
  Pace,
} from "../bus.ts";
import { startRequestServer, RequestClient } from "./requests.ts";
import { ConsumerGroup, EventConsumer } from "./event-consumer.ts";
import { replayEvents } from "./event-replay.ts";
import { EventStream } from "./event-stream.ts";
import { NatsLink, topicSubject } from "./link.ts";
import { startScatterServer, ScatterClient } from "./scatter.ts";

export interface DistributedBusParts {
  url: Secret;
  /** On how many servers of a cluster each event is stored; absent: one. */
  replicas?: number;
  /** Shown by the server. */
  name: string;
  clock: Clock;
  log: Logger;
}

export class DistributedBus implements Bus {
  readonly #parts: DistributedBusParts;
  readonly #stack = new AsyncDisposableStack();
  readonly #requests: NatsLink;
  readonly #events: NatsLink;
  readonly #requestClients = new Map<Service, RequestClient>();
  readonly #scatterClients = new Map<ScatterService, ScatterClient>();
  readonly #streams = new Map<Stream, EventStream>();
  readonly #groups = new Map<Stream, ConsumerGroup>();

  /** Connects in the background: nothing waits for NATS. */
  constructor(parts: DistributedBusParts) {
    this.#parts = parts;
    this.#requests = this.#stack.use(this.#openLink("requests"));
    this.#events = this.#stack.use(this.#openLink("events"));
  }

  request(service: Service, payload: Uint8Array): Promise<Reply> {
    return this.#requestClient(service).request(payload);
  }

  width(service: Service): number {
    return this.#requestClient(service).width;
  }

  silentMs(service: Service): number {
    return this.#requestClient(service).silentMs;
  }

  /** Resolves when clients know of the server, or when NATS was not reached in time: clients then learn of it later. */
  async serve(service: Service, handler: (payload: Uint8Array) => Promise<Uint8Array>): Promise<AsyncDisposable> {
    // A process that serves requests also scatters some, and gets no requests before it has heard who replies.
    const { acquainted } = this.#scatterClient("open-generations");
    const server = startRequestServer({ ...this.#parts, link: this.#requests, service, handler, ready: acquainted });
    await withDeadline(this.#parts.clock, busServeMs, "Serving requests", acquainted).catch(() => {});
    return server;
  }

  publish(stream: Stream, id: string, payload: Uint8Array, partition = 0): Promise<void> {
    return this.#stream(stream).publish(id, payload, partition);
  }

  partitions(stream: Stream): number {
    const make = (): ConsumerGroup => this.#stack.use(new ConsumerGroup({ ...this.#parts, link: this.#requests, stream }));
    return made(this.#groups, stream, make).size;
  }

  consume(stream: Stream, pace: Pace, handler: (events: Delivered[]) => Promise<void>): Promise<AsyncDisposable> {
    const resources = new AsyncDisposableStack();
    const link = resources.use(this.#openLink("deliveries"));
    resources.use(new EventConsumer({ ...this.#parts, link, stream, pace, handler }));
    return Promise.resolve(this.#stack.use(resources));
  }

  async backlog(stream: Stream): Promise<Backlog> {
    const partitions = await this.#stream(stream).listPartitions();
    return { messages: partitions.reduce((sum, { info }) => sum + info.num_pending + info.num_ack_pending, 0) };
  }

  replay(stream: Stream, replay: Replay): Promise<void> {
    return replayEvents(replay, { ...this.#parts, link: this.#events, stream, events: this.#stream(stream) });
  }

  broadcast(topic: Topic, payload: Uint8Array = new Uint8Array()): void {
    if (payload.length > busPayloadBytesMax) throw new RangeError(`Cannot broadcast ${payload.length} bytes`);
    this.#requests.publish(topicSubject(topic), payload);
  }

  listen(topic: Topic, handler: (payload: Uint8Array) => void): Disposable {
    const subscription = this.#requests.subscribe(topicSubject(topic), ({ data }) => {
      try {
        handler(data);
      } catch (error) {
        this.#parts.log.error({ event: "bus.handler.failed", subject: topic, reason: String(error) });
      }
    });
    return { [Symbol.dispose]: () => void subscription[Symbol.asyncDispose]() };
  }

  scatter(service: ScatterService, payload: Uint8Array, waitMs: number): Promise<Uint8Array[]> {
    return this.#scatterClient(service).scatter(payload, waitMs);
  }

  survey(service: ScatterService, payload: Uint8Array, waitMs: number): Promise<Uint8Array[]> {
    return this.#scatterClient(service).survey(payload, waitMs);
  }

  serveScatter(
    service: ScatterService,
    handler: (payload: Uint8Array) => Uint8Array,
    member: ScatterMember = { id: newInternalId(this.#parts.clock.now()), predecessors: [] },
  ): Disposable {
    // A process that replies to the others also asks them, and by then knows who is there.
    this.#scatterClient(service);
    return startScatterServer({ ...this.#parts, link: this.#requests, service, handler, member });
  }

  connected(): boolean {
    return this.#requests.up && this.#events.up;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  #openLink(purpose: string): NatsLink {
    return new NatsLink({ ...this.#parts, name: `${this.#parts.name} ${purpose}` });
  }

  #requestClient(service: Service): RequestClient {
    const make = (): RequestClient => this.#stack.use(new RequestClient({ ...this.#parts, link: this.#requests, service }));
    return made(this.#requestClients, service, make);
  }

  #scatterClient(service: ScatterService): ScatterClient {
    const make = (): ScatterClient => this.#stack.use(new ScatterClient({ ...this.#parts, link: this.#requests, service }));
    return made(this.#scatterClients, service, make);
  }

  #stream(stream: Stream): EventStream {
    return made(this.#streams, stream, () => new EventStream({ ...this.#parts, link: this.#events, stream }));
  }
}

function made<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
