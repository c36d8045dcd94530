/**
 * Pulls batches from a JetStream consumer: all available events up to a number, or else the next event within two seconds. The
 * server marks the end of each batch, so only the first event is waited for (the client library's fetch cannot do this).
 */
import { createInbox, nanos, type Msg } from "nats";
import type { Clock } from "../../../kernel/clock.ts";
import { eventPullMs } from "../../limits.ts";
import type { NatsLink } from "../nats-link.ts";

/** The client ends a batch itself so much later than the server, which may have forgotten the pull. */
const graceMs = 1_000;

export interface PullParts {
  link: NatsLink;
  clock: Clock;
  stream: string;
  consumer: string;
}

export class EventPull implements AsyncDisposable {
  readonly #parts: PullParts;
  readonly #inbox = createInbox();
  readonly #stack = new AsyncDisposableStack();
  readonly #received: Msg[] = [];
  #count = 0;
  #wanted = 0;
  #askedAt = 0;
  #end: (() => void) | null = null;
  #ended: Promise<void> = Promise.resolve();

  constructor(parts: PullParts) {
    this.#parts = parts;
    this.#stack.use(parts.link.watch({ down: () => this.end() }));
    this.#stack.use(parts.link.subscribe(`${this.#inbox}.*`, (message) => this.#receive(message)));
  }

  /** How many events wait to be taken. */
  get received(): number {
    return this.#received.length;
  }

  /** Whether a batch is under way. */
  get isPulling(): boolean {
    return this.#end !== null;
  }

  /** When the batch under way, or the last one, was asked for; of the monotonic clock. */
  get askedAt(): number {
    return this.#askedAt;
  }

  /** Resolves at the end of the batch that is under way, or was last. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Asks for at most `messagesMax` events, unless a batch is under way. It ends with none if the link goes down or `end` is called. */
  pull(messagesMax: number): void {
    if (!this.isPulling) this.#ended = this.#pull(messagesMax);
  }

  /** Events that were received and not taken yet, at most `messagesMax`. */
  take(messagesMax: number): Msg[] {
    return this.#received.splice(0, messagesMax);
  }

  /** Ends the batch under way. */
  end(): void {
    this.#end?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
    await this.#stack.disposeAsync();
  }

  #pull(messagesMax: number): Promise<void> {
    const { link, clock, stream, consumer } = this.#parts;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(eventPullMs + graceMs, () => this.end());
    this.#end = () => {
      this.#end = null;
      cancel();
      resolve();
    };
    this.#wanted = messagesMax;
    this.#askedAt = clock.monotonic();
    const request = { batch: messagesMax, no_wait: true, expires: nanos(eventPullMs) };
    link.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(request), `${this.#inbox}.${++this.#count}`);
    return promise;
  }

  /** Events have their own subject, the end of a pull has that of the pull. */
  #receive(message: Msg): void {
    if (!message.subject.startsWith(this.#inbox)) {
      this.#received.push(message);
      if (this.#received.length >= this.#wanted) this.end();
    } else if (message.subject === `${this.#inbox}.${this.#count}`) {
      this.end();
    }
  }
}
