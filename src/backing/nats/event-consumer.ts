/**
 * Delivers events of this process's partitions of a stream in batches, one at a time, until disposed. The consuming processes divide the
 * partitions by their heartbeats, without a coordinator: each takes those of its rank among them. While two disagree about who is there,
 * both may consume a partition, which only costs time. Failures are logged and retried for ever; meanwhile other processes consume these
 * partitions. A consumer of JetStream that no longer delivers is found by its own state (`StalledConsumerDetector`) and created again.
 */
import type { Msg } from "nats";
import { sleep, sleepUntil, type Clock } from "../../kernel/clock.ts";
import { newInternalId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { type Delivered, type Stream, intervalAfter, type Pace } from "../bus.ts";
import {
  eventRetryMs,
  eventRetryMsMax,
  eventTrimMs,
  busSilenceMsMax,
  eventPartitionsMax,
  eventKeptBackMs,
  eventStalledMs,
} from "../limits.ts";
import { EventPartition, EventStream } from "./event-stream.ts";
import { deliveredOf, PartitionPulls, type Pulled } from "./event-pulls.ts";
import { type NatsLink, eventSubject, eventHeartbeatSubject } from "./link.ts";
import { readHeartbeat, startHeartbeat, Membership, everyTick, ticksOf } from "./membership.ts";

interface ConsumerParts {
  link: NatsLink;
  clock: Clock;
  log: Logger;
  stream: Stream;
  replicas?: number;
  pace: Pace;
  handler: (events: Delivered[]) => Promise<void>;
}

interface OwnPartition {
  consumer: EventPartition;
  stalled: StalledConsumerDetector;
}

export class EventConsumer implements AsyncDisposable {
  readonly #parts: ConsumerParts;
  readonly #events: EventStream;
  readonly #group: ConsumerGroup;
  readonly #pulls: PartitionPulls;
  readonly #watching: Disposable;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  /** By number, if its consumer exists. */
  #own = new Map<number, OwnPartition>();
  /** Whether this process has exactly the partitions that the group gives it, and they work. */
  #isPrepared = false;
  #failures = 0;
  #trimmedAt: number;

  constructor(parts: ConsumerParts) {
    this.#parts = parts;
    this.#events = new EventStream(parts);
    this.#pulls = new PartitionPulls(parts);
    this.#group = new ConsumerGroup({ ...parts, onChange: () => this.#reshare() });
    this.#trimmedAt = parts.clock.monotonic();
    this.#watching = parts.link.watch({ down: () => this.#reshare() });
    this.#ended = this.#run();
  }

  /** Waits for the batch under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.#pulls.interrupt();
    await this.#ended;
    // Otherwise the partition's next owner gets them only when their time is up.
    for (const { reply } of this.#pulls.rest()) this.#parts.link.publish(reply ?? "", "-NAK");
    this.#watching[Symbol.dispose]();
    await this.#group[Symbol.asyncDispose]();
    await this.#pulls[Symbol.asyncDispose]();
  }

  #reshare(): void {
    this.#isPrepared = false;
    this.#pulls.interrupt();
  }

  async #run(): Promise<void> {
    const { link, clock, log, stream } = this.#parts;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        if (link.up) await this.#step();
        else await sleep(clock, eventRetryMs, signal);
      } catch (error) {
        const pauseMs = pauseAfter(this.#failures++);
        log.warn({ event: "events.failed", stream, pauseMs, reason: String(error) });
        this.#group.leave();
        this.#isPrepared = false;
        await sleep(clock, pauseMs, signal);
      }
    }
  }

  async #step(): Promise<void> {
    const { clock, pace } = this.#parts;
    const { signal } = this.#stopping;
    if (!this.#isPrepared) await this.#prepare();
    if (this.#own.size === 0) return await sleep(clock, eventRetryMs, signal);
    const { messages, isFull, empty } = await this.#pulls.next(pace.messagesMax);
    const startedAt = clock.monotonic();
    if (messages.length > 0) await this.#deliver(messages);
    else if (!signal.aborted) for (const one of empty) await this.#inspect(one);
    const next = startedAt + intervalAfter(clock.monotonic() - startedAt, pace);
    if (messages.length > 0 && !isFull) await sleepUntil(clock, next, signal);
    if (clock.monotonic() - this.#trimmedAt < eventTrimMs) return;
    this.#trimmedAt = clock.monotonic();
    await this.#events.trim();
  }

  /** Joins the group and takes over its partitions: those in use, and those that a larger group left. */
  async #prepare(): Promise<void> {
    await this.#events.ensure();
    await this.#events.replicate();
    this.#group.join();
    this.#isPrepared = true;
    const partitions = new Set([...Array(this.#group.size).keys(), ...(await this.#events.usedPartitions())]);
    const own = new Map<number, OwnPartition>();
    for (const partition of partitions) {
      if (!this.#group.owns(partition)) continue;
      const consumer = new EventPartition({ ...this.#parts, partition });
      await consumer.ensure();
      own.set(partition, this.#own.get(partition) ?? { consumer, stalled: new StalledConsumerDetector() });
    }
    this.#own = own;
    this.#pulls.choose([...own.keys()]);
  }

  async #deliver(messages: Msg[]): Promise<void> {
    const { link, stream, handler } = this.#parts;
    const subjects = new Set(messages.map(({ subject }) => subject));
    for (const [partition, { stalled }] of this.#own) if (subjects.has(eventSubject(stream, partition))) stalled.delivered();
    try {
      await handler(messages.map(deliveredOf));
    } catch (error) {
      const delay = pauseAfter(this.#failures) * 1_000_000;
      for (const { reply } of messages) link.publish(reply ?? "", `-NAK ${JSON.stringify({ delay })}`);
      throw error;
    }
    this.#failures = 0;
    for (const { reply } of messages) link.publish(reply ?? "", "+ACK");
  }

  /** After an empty pull: checks that the consumer exists and that there is really no event. */
  async #inspect({ partition, askedAt }: Pulled["empty"][number]): Promise<void> {
    const { clock, log, link, stream } = this.#parts;
    const own = this.#own.get(partition);
    if (!link.up || own === undefined) return;
    const info = await own.consumer.info();
    if (own.stalled.isStalled(info, clock.monotonic())) {
      const { num_pending: pending, num_ack_pending: unacknowledged } = info;
      log.error({ event: "events.stuck", stream, partition, pending, unacknowledged });
      await own.consumer.restart(info);
    }
    // A server that does not wait for the first event must not get pulls in a tight loop.
    if (clock.monotonic() - askedAt < eventRetryMs) await sleep(clock, eventRetryMs, this.#stopping.signal);
  }
}

interface ConsumerGroupParts {
  link: NatsLink;
  clock: Clock;
  stream: Stream;
  /** Called when a process joins or leaves. */
  onChange?: () => void;
}

/** The processes that consume a stream, by their heartbeats. */
export class ConsumerGroup implements AsyncDisposable {
  readonly #parts: ConsumerGroupParts;
  readonly #id: string;
  readonly #members = new Membership(ticksOf(busSilenceMsMax));
  readonly #stack = new AsyncDisposableStack();
  /** null: this process is not a member. */
  #heartbeat: Disposable | null = null;
  #sorted: readonly string[] = [];

  constructor(parts: ConsumerGroupParts) {
    const { link, clock, stream } = parts;
    this.#parts = parts;
    this.#id = newInternalId(clock.now());
    this.#stack.use(link.watch({ down: () => this.#changed(() => this.#members.clear()) }));
    this.#stack.use(link.subscribe(eventHeartbeatSubject(stream), ({ data }) => this.#heard(data)));
    this.#stack.use(everyTick(clock, () => this.#changed(() => this.#members.tick())));
  }

  /** How many processes consume, at least 1. */
  get size(): number {
    return Math.min(Math.max(1, this.#sorted.length), eventPartitionsMax);
  }

  /** From now on this process consumes until it leaves. */
  join(): void {
    const { link, clock, stream } = this.#parts;
    this.#changed(() => {
      this.#heartbeat ??= startHeartbeat({ link, clock, subject: eventHeartbeatSubject(stream), id: this.#id });
    });
  }

  leave(): void {
    this.#changed(() => {
      this.#heartbeat?.[Symbol.dispose]();
      this.#heartbeat = null;
      this.#members.left(this.#id);
    });
  }

  /** Whether this process, as a member, consumes a partition. */
  owns(partition: number): boolean {
    return partition % this.#sorted.length === this.#sorted.indexOf(this.#id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.leave();
    await this.#stack.disposeAsync();
  }

  #heard(data: Uint8Array): void {
    const { id, leaves } = readHeartbeat(data);
    this.#changed(() => (leaves ? this.#members.left(id) : this.#members.heard(id)));
  }

  #changed(change: () => void): void {
    change();
    const ids = new Set(this.#members.ids);
    // A member counts itself, whether or not its heartbeats arrive.
    if (this.#heartbeat === null) ids.delete(this.#id);
    else ids.add(this.#id);
    const isSame = ids.size === this.#sorted.length && this.#sorted.every((id) => ids.has(id));
    if (isSame) return;
    this.#sorted = [...ids].toSorted();
    this.#parts.onChange?.();
  }
}

/** A consumer's own state, read when a pull came back empty. */
export interface ConsumerState {
  delivered: { stream_seq: number };
  ack_floor: { stream_seq: number };
  num_pending: number;
  num_ack_pending: number;
}

/**
 * Distinguishes a consumer that no longer delivers (nats-server issues 4566, 4736, 5679) from one that has nothing to deliver: it delivered
 * none of its pending events for a few seconds, longer than a cluster takes to elect a leader for a new one, or its acknowledged end has
 * not moved for minutes while events are in delivery.
 */
export class StalledConsumerDetector {
  #before: ConsumerState | null = null;
  #keepsBackSince = 0;
  #floor = -1;
  #floorSince = 0;

  /** Something was delivered. */
  delivered(): void {
    this.#before = null;
  }

  /** @param now by the monotonic clock */
  isStalled(state: ConsumerState, now: number): boolean {
    if (state.ack_floor.stream_seq !== this.#floor || state.num_ack_pending === 0) {
      this.#floor = state.ack_floor.stream_seq;
      this.#floorSince = now;
    }
    const before = this.#before;
    this.#before = state;
    const keepsBack =
      before !== null &&
      before.num_pending > 0 &&
      state.num_pending > 0 &&
      before.delivered.stream_seq === state.delivered.stream_seq;
    if (!keepsBack) this.#keepsBackSince = now;
    return now - this.#keepsBackSince >= eventKeptBackMs || now - this.#floorSince > eventStalledMs;
  }
}

function pauseAfter(failures: number): number {
  return Math.min(eventRetryMs * 2 ** failures, eventRetryMsMax);
}
