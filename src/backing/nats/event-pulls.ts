/**
 * Pulls from several partitions at once, as if they were one stream. A pull gets all available events up to a number, or else the next
 * event within two seconds. The server marks the end of each batch, so only the first event is waited for; the client library's fetch
 * cannot do this. A partition that is given up still delivers what was on its way. Delivery metadata of events is read here, too.
 */
import { type Msg, createInbox, nanos } from "nats";
import type { Clock } from "../../kernel/clock.ts";
import type { Delivered, Stream } from "../bus.ts";
import { eventPullMs } from "../limits.ts";
import { consumerOfPartition } from "./event-stream.ts";
import type { NatsLink } from "./link.ts";

interface PartitionPullsParts {
  link: NatsLink;
  clock: Clock;
  stream: Stream;
}

export interface Pulled {
  messages: Msg[];
  /** Whether a partition filled its batch, and so may have more at once. */
  isFull: boolean;
  /** Partitions whose batch ended without an event, with the time at which it was asked for. */
  empty: { partition: number; askedAt: number }[];
}

export class PartitionPulls implements AsyncDisposable {
  readonly #parts: PartitionPullsParts;
  readonly #pulls = new Map<number, EventPull>();
  /** The partitions that are pulled from. Others are given up, and still deliver what was on its way. */
  #active: readonly number[] = [];
  #interrupt = (): void => {};

  constructor(parts: PartitionPullsParts) {
    this.#parts = parts;
  }

  /** From now on pulls from these partitions. */
  choose(partitions: readonly number[]): void {
    this.#active = partitions;
    for (const partition of partitions) {
      const consumer = consumerOfPartition(partition);
      if (!this.#pulls.has(partition)) this.#pulls.set(partition, new EventPull({ ...this.#parts, consumer }));
    }
  }

  /** At most `messagesMax` events; none if none came in time, the link went down, or the wait was interrupted. */
  async next(messagesMax: number): Promise<Pulled> {
    const each = Math.max(1, Math.floor(messagesMax / this.#active.length));
    const asked = this.#active.flatMap((partition) => {
      const pull = this.#pulls.get(partition);
      return pull?.received === 0 ? [{ partition, pull }] : [];
    });
    for (const { pull } of asked) pull.pull(each);
    const pulls = [...this.#pulls.values()];
    const ends = pulls.filter(({ isPulling }) => isPulling).map((pull) => pull.ended);
    if (ends.length > 0 && pulls.every(({ received }) => received === 0)) await this.#untilFirst(ends);
    const ended = asked.filter(({ pull }) => !pull.isPulling && pull.received === 0);
    const empty = ended.map(({ partition, pull }) => ({ partition, askedAt: pull.askedAt }));
    const isFull = asked.some(({ pull }) => pull.received >= each);
    const messages = this.#take(messagesMax);
    await this.#forgetFormer();
    return { messages, isFull, empty };
  }

  /** Events that no call of `next` returned. */
  rest(): Msg[] {
    return this.#take(Number.POSITIVE_INFINITY);
  }

  /** Ends the wait of `next`. */
  interrupt(): void {
    this.#interrupt();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#pulls.values()].map((pull) => pull[Symbol.asyncDispose]()));
  }

  async #untilFirst(ends: Promise<void>[]): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#interrupt = resolve;
    await Promise.race([promise, ...ends]);
  }

  #take(messagesMax: number): Msg[] {
    const messages: Msg[] = [];
    for (const pull of this.#pulls.values()) messages.push(...pull.take(messagesMax - messages.length));
    return messages;
  }

  async #forgetFormer(): Promise<void> {
    for (const [partition, pull] of this.#pulls) {
      if (this.#active.includes(partition) || pull.isPulling || pull.received > 0) continue;
      this.#pulls.delete(partition);
      await pull[Symbol.asyncDispose]();
    }
  }
}

/** The client ends a batch itself this much later than the server, which may have forgotten the pull. */
const graceMs = 1_000;

interface PullParts {
  link: NatsLink;
  clock: Clock;
  stream: string;
  consumer: string;
}

/** Pulls batches from one JetStream consumer. */
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

  /** When the batch under way, or the last one, was asked for; by the monotonic clock. */
  get askedAt(): number {
    return this.#askedAt;
  }

  /** Resolves when the batch under way, or else the last one, has ended. */
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

  /** Events have their own subject; the end of a pull has the pull's. */
  #receive(message: Msg): void {
    if (!message.subject.startsWith(this.#inbox)) {
      this.#received.push(message);
      if (this.#received.length >= this.#wanted) this.end();
    } else if (message.subject === `${this.#inbox}.${this.#count}`) {
      this.end();
    }
  }
}

// Delivered events

export function deliveredOf(message: Msg): Delivered {
  const { data, headers } = message;
  return { id: headers?.get("Nats-Msg-Id") ?? "", payload: data, attempt: deliveryOf(message).attempt };
}

/** The metadata of a delivered event in its reply subject: `$JS.ACK.<stream>.<consumer>.<attempt>.<stored>.<number>.<time>.<rest>`. */
interface Delivery {
  /** 1 on first delivery. */
  attempt: number;
  /** The event's place in the stream. */
  sequence: number;
  /** Counts what the consumer delivered, from 1. */
  number: number;
  /** How many events the consumer has left to deliver. */
  rest: number;
}

/** Newer servers insert domain and account before the stream, and end with a random word. */
export function deliveryOf({ reply }: Msg): Delivery {
  const words = (reply ?? "").split(".");
  const [attempt = 0, sequence = 0, number = 0, , rest = 0] = words.slice(words.length > 9 ? 6 : 4).map(Number);
  return { attempt, sequence, number, rest };
}
