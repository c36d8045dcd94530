/**
 * Delivers events of this process's partitions of a stream in batches, one at a time, until disposed. Failures are logged and retried
 * for ever; meanwhile other processes consume these partitions.
 */
import type { Msg } from "nats";
import { sleep, sleepUntil, type Clock } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import { eventRetryMs, eventRetryMsMax, eventTrimMs } from "../../limits.ts";
import type { Delivered, Stream } from "../../bus.ts";
import { intervalAfter, type Pace } from "../../pace.ts";
import { ConsumerGroup } from "./consumer-group.ts";
import { deliveredOf } from "./delivery.ts";
import { EventPartition } from "./event-partition.ts";
import { EventStream } from "./event-stream.ts";
import type { NatsLink } from "../nats-link.ts";
import { PartitionPulls, type Pulled } from "./partition-pulls.ts";
import { StalledConsumerDetector } from "./stalled-consumer.ts";
import { eventSubject } from "../subjects.ts";

export interface ConsumerParts {
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
  /** By number; those whose consumer exists. */
  #own = new Map<number, OwnPartition>();
  /** Whether the own partitions are those that the group gives it, and are as they should be. */
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
    // Otherwise the next owner of the partition gets them when their time is up.
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

  /** Joins the group, and takes its partitions over: those that are in use, and those that a larger group left. */
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
    // A server that does not wait for the first event must not get pulls without pause.
    if (clock.monotonic() - askedAt < eventRetryMs) await sleep(clock, eventRetryMs, this.#stopping.signal);
  }
}

function pauseAfter(failures: number): number {
  return Math.min(eventRetryMs * 2 ** failures, eventRetryMsMax);
}
