/** The bus of a fleet: NATS for questions, surveys and broadcasts, JetStream for events. */
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import type { Secret } from "../../kernel/secret.ts";
import { busPayloadBytesMax } from "../limits.ts";
import type { Backlog, Bus, Delivered, Reply, Service, Stream, Survey, Topic } from "../bus.ts";
import { startAnswering } from "./request-server.ts";
import { Asker } from "./request-client.ts";
import { EventConsumer } from "./event-consumer.ts";
import { EventStream } from "./event-stream.ts";
import { NatsLink } from "./nats-link.ts";
import { startReporting } from "./scatter-server.ts";
import { topicSubject } from "./subjects.ts";
import { Surveyor } from "./scatter-client.ts";

export interface DistributedBusParts {
  url: Secret;
  /** Shown by the server. */
  name: string;
  clock: Clock;
  log: Logger;
}

/**
 * Questions, stored events and delivered events travel on connections of their own: the server closes one that is read too
 * slowly, and stalls one that sends too fast.
 */
export class DistributedBus implements Bus {
  readonly #parts: DistributedBusParts;
  readonly #stack = new AsyncDisposableStack();
  readonly #questions: NatsLink;
  readonly #events: NatsLink;
  readonly #askers = new Map<Service, Asker>();
  readonly #surveyors = new Map<Survey, Surveyor>();
  readonly #streams = new Map<Stream, EventStream>();

  /** Connects in the background: nothing waits for NATS. */
  constructor(parts: DistributedBusParts) {
    this.#parts = parts;
    this.#questions = this.#stack.use(this.#openLink("questions"));
    this.#events = this.#stack.use(this.#openLink("events"));
  }

  request(service: Service, payload: Uint8Array): Promise<Reply> {
    return this.#asker(service).ask(payload);
  }

  width(service: Service): number {
    return this.#asker(service).width;
  }

  serve(service: Service, handler: (payload: Uint8Array) => Promise<Uint8Array>): Promise<AsyncDisposable> {
    // Who serves will have to ask everybody, and must have listened by then for who is there.
    this.#surveyor("open-generations");
    return Promise.resolve(startAnswering({ ...this.#parts, link: this.#questions, service, handler }));
  }

  publish(stream: Stream, id: string, payload: Uint8Array): Promise<void> {
    return this.#stream(stream).publish(id, payload);
  }

  consume(
    stream: Stream,
    { messagesMax, everyMs = 0 }: { messagesMax: number; everyMs?: number },
    handler: (events: Delivered[]) => Promise<void>,
  ): Promise<AsyncDisposable> {
    const resources = new AsyncDisposableStack();
    const link = resources.use(this.#openLink("deliveries"));
    resources.use(new EventConsumer({ ...this.#parts, link, stream, messagesMax, everyMs, handler }));
    return Promise.resolve(this.#stack.use(resources));
  }

  async backlog(stream: Stream): Promise<Backlog> {
    const { num_pending, num_ack_pending } = await this.#stream(stream).consumer();
    return { messages: num_pending + num_ack_pending };
  }

  broadcast(topic: Topic, payload: Uint8Array = new Uint8Array()): void {
    if (payload.length > busPayloadBytesMax) throw new RangeError(`Cannot broadcast ${payload.length} bytes`);
    this.#questions.publish(topicSubject(topic), payload);
  }

  listen(topic: Topic, handler: (payload: Uint8Array) => void): Disposable {
    const subscription = this.#questions.subscribe(topicSubject(topic), ({ data }) => {
      try {
        handler(data);
      } catch (error) {
        this.#parts.log.error({ event: "bus.handler.failed", subject: topic, reason: String(error) });
      }
    });
    return { [Symbol.dispose]: () => void subscription[Symbol.asyncDispose]() };
  }

  survey(survey: Survey, payload: Uint8Array, waitMs: number): Promise<Uint8Array[]> {
    return this.#surveyor(survey).ask(payload, waitMs);
  }

  report(survey: Survey, handler: (payload: Uint8Array) => Uint8Array): Disposable {
    return startReporting({ ...this.#parts, link: this.#questions, survey, handler });
  }

  connected(): boolean {
    return this.#questions.up && this.#events.up;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  #openLink(purpose: string): NatsLink {
    return new NatsLink({ ...this.#parts, name: `${this.#parts.name} ${purpose}` });
  }

  #asker(service: Service): Asker {
    return made(this.#askers, service, () => this.#stack.use(new Asker({ ...this.#parts, link: this.#questions, service })));
  }

  #surveyor(survey: Survey): Surveyor {
    return made(this.#surveyors, survey, () => this.#stack.use(new Surveyor({ ...this.#parts, link: this.#questions, survey })));
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
