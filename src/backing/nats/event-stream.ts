/**
 * A JetStream stream and its partitions, each a subject with one durable consumer. Stream and consumers are created again where they are
 * missing: NATS may have lost its data, and what it lost is published again from the spools. Events are kept after they are acknowledged,
 * up to a bound, since a database that goes back in time needs them again. A full stream refuses new events, and gateways keep their
 * spools. By default it would delete the oldest, consumed or not.
 */
import {
  DiscardPolicy,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type ConsumerInfo,
  type JetStreamManager,
  type StreamConfig,
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  type ConsumerConfig,
} from "@nats-io/jetstream";
import { errors, nanos } from "nats";
import { sleep, withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import type { Stream } from "../bus.ts";
import {
  busCallMs,
  eventAgeMsMax,
  eventDuplicateMs,
  eventPublishMs,
  eventStreamBytesMax,
  eventStreamPauseMs,
  eventTrimBytes,
  eventAckMs,
  eventsUnacknowledgedMax,
} from "../limits.ts";
import { type NatsLink, eventSubject, eventSubjects, partitionOfSubject } from "./link.ts";

interface EventStreamParts {
  link: NatsLink;
  stream: Stream;
  /** On how many servers of a cluster each event is stored; absent: one. */
  replicas?: number;
  clock: Clock;
  log: Logger;
}

/** A partition that has a consumer. */
export interface KnownPartition {
  partition: number;
  info: ConsumerInfo;
}

export class EventStream {
  readonly #parts: EventStreamParts;

  constructor(parts: EventStreamParts) {
    this.#parts = parts;
  }

  /** Creates it where it is missing. */
  async ensure(): Promise<void> {
    const manager = await this.#manager();
    const { stream, clock } = this.#parts;
    await orWhenMissing(manager.streams.info(stream), async () => {
      // Server 2.9 reports a stream as deleted before its folder is: data written there at once can never be read.
      await sleep(clock, eventStreamPauseMs);
      return await manager.streams.add(this.#config());
    });
  }

  /**
   * Changes on how many servers it is stored if that is not as configured. A cluster with too few servers refuses, and the stream stays as
   * it is.
   */
  async replicate(): Promise<void> {
    const { stream, replicas = 1, log } = this.#parts;
    const manager = await this.#manager();
    const { config } = await manager.streams.info(stream);
    if (config.num_replicas === replicas) return;
    try {
      await manager.streams.update(stream, { num_replicas: replicas });
      log.info({ event: "events.replicated", stream, before: config.num_replicas, replicas });
    } catch (error) {
      log.error({ event: "events.replicas.refused", stream, replicas, kept: config.num_replicas, reason: String(error) });
    }
  }

  /** Resolves when NATS has written the event. @throws when it has not, or when that is unknown */
  async publish(id: string, payload: Uint8Array, partition = 0): Promise<void> {
    try {
      await this.#publish(id, payload, partition);
    } catch (error) {
      if (!isNoResponder(error)) throw error;
      await this.ensure();
      await this.#publish(id, payload, partition);
    }
  }

  /** Partitions that have a consumer, or events. */
  async usedPartitions(): Promise<Set<number>> {
    const { stream } = this.#parts;
    const manager = await this.#manager();
    const { state } = await manager.streams.info(stream, { subjects_filter: `${eventSubject(stream, 0)}.>` });
    const withEvents = Object.keys(state.subjects ?? {}).flatMap((subject) => partitionOfSubject(subject, stream) ?? []);
    const withConsumer = (await this.listPartitions()).map(({ partition }) => partition);
    return new Set([...withConsumer, ...withEvents]);
  }

  /** Partitions that have a consumer, with its state. This call creates the first one's. */
  async listPartitions(): Promise<KnownPartition[]> {
    const manager = await this.#manager();
    const known: KnownPartition[] = [];
    const lister = manager.consumers.list(this.#parts.stream);
    const next = (): Promise<ConsumerInfo[]> => orWhenMissing(lister.next(), () => Promise.resolve([]));
    for (let infos = await next(); infos.length > 0; infos = await next()) {
      for (const info of infos) {
        const partition = partitionOfConsumer(info.name);
        if (partition !== null) known.push({ partition, info });
      }
    }
    if (known.some(({ partition }) => partition === 0)) return known;
    await this.ensure();
    return [{ partition: 0, info: await new EventPartition({ ...this.#parts, partition: 0 }).info() }, ...known];
  }

  /**
   * Removes acknowledged events once the stream is large: otherwise it keeps all, and refuses new ones when it is full. The newer half
   * stays, since a database that goes back in time needs it again.
   */
  async trim(aboveBytes: number = eventTrimBytes): Promise<void> {
    const manager = await this.#manager();
    const { stream } = this.#parts;
    const { state } = await manager.streams.info(stream);
    if (state.bytes <= aboveBytes) return;
    const half = state.first_seq + Math.ceil((state.last_seq - state.first_seq + 1) / 2);
    for (const { partition, info } of await this.listPartitions()) {
      const next = Math.min(half, info.ack_floor.stream_seq + 1);
      if (next > state.first_seq) await manager.streams.purge(stream, { filter: eventSubject(stream, partition), seq: next });
    }
  }

  async #publish(id: string, payload: Uint8Array, partition: number): Promise<void> {
    const { link, stream, clock } = this.#parts;
    const options = { msgID: id, timeout: eventPublishMs };
    const stored = jetstream(link.connection).publish(eventSubject(stream, partition), payload, options);
    await withDeadline(clock, eventPublishMs, "Storing an event", link.whileUp(stored));
  }

  /** Retention is `limits`, because a work queue forgets which ids it has seen. Server 2.9 supports all of it. */
  #config(): Partial<StreamConfig> & { name: string } {
    const { stream, replicas = 1 } = this.#parts;
    return {
      name: stream,
      subjects: eventSubjects(stream),
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      num_replicas: replicas,
      discard: DiscardPolicy.New,
      max_bytes: eventStreamBytesMax,
      max_age: nanos(eventAgeMsMax),
      duplicate_window: nanos(eventDuplicateMs),
    };
  }

  #manager(): Promise<JetStreamManager> {
    return jetstreamManager(this.#parts.link.connection, { checkAPI: false, timeout: busCallMs });
  }
}

const firstConsumer = "worker";
const replaceAttemptsMax = 5;
const unansweredAttemptsMax = 3;

/** Processes that do not know partitions use the consumer of partition 0. */
export function consumerOfPartition(partition: number): string {
  return partition === 0 ? firstConsumer : `${firstConsumer}-${partition}`;
}

interface EventPartitionParts {
  link: NatsLink;
  stream: Stream;
  partition: number;
  clock: Clock;
  log: Logger;
}

/** The one durable consumer of a partition of a stream, created again where it is missing: NATS may have lost its data. */
export class EventPartition {
  readonly #parts: EventPartitionParts;
  readonly #name: string;

  constructor(parts: EventPartitionParts) {
    this.#parts = parts;
    this.#name = consumerOfPartition(parts.partition);
  }

  /** Creates what is missing; the stream exists. A consumer ahead of its stream, which lost its end, is also created again. */
  async ensure(): Promise<void> {
    const { stream, clock, log } = this.#parts;
    const manager = await this.#manager();
    const found = await this.info();
    const isAhead = async (): Promise<boolean> => {
      const { delivered } = await this.info();
      return delivered.stream_seq > (await manager.streams.info(stream)).state.last_seq;
    };
    if (!(await isAhead())) return;
    // The stream's new leader may not have read its end yet.
    await sleep(clock, eventStreamPauseMs);
    if (!(await isAhead())) return;
    log.warn({ event: "events.lost", stream, consumer: this.#name, delivered: found.delivered.stream_seq });
    await this.#replace(this.#config());
  }

  /** The state of its consumer, which is created where it is missing. */
  async info(): Promise<ConsumerInfo> {
    const manager = await this.#manager();
    const { stream } = this.#parts;
    return await orWhenMissing(manager.consumers.info(stream, this.#name), () => manager.consumers.add(stream, this.#config()));
  }

  /** Creates the consumer again, from the first event that is not acknowledged: later ones may be delivered again. */
  async restart({ ack_floor }: Pick<ConsumerInfo, "ack_floor">): Promise<void> {
    const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: ack_floor.stream_seq + 1 };
    await this.#replace({ ...this.#config(), ...start });
  }

  /**
   * Another process may have just deleted it, or created it because there was none. A cluster answers neither call while it chooses where
   * to place the consumer.
   */
  async #replace(config: Partial<ConsumerConfig>): Promise<void> {
    const manager = await this.#manager();
    const { stream } = this.#parts;
    for (let attempt = 1; ; attempt++) {
      try {
        await orWhenMissing(manager.consumers.delete(stream, this.#name), () => Promise.resolve(true));
        await manager.consumers.add(stream, config);
        return;
      } catch (error) {
        if (attempt >= (error instanceof JetStreamApiError ? replaceAttemptsMax : unansweredAttemptsMax)) throw error;
      }
    }
  }

  #config(): Partial<ConsumerConfig> {
    const { stream, partition } = this.#parts;
    return {
      durable_name: this.#name,
      filter_subject: eventSubject(stream, partition),
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(eventAckMs),
      max_deliver: -1,
      max_ack_pending: eventsUnacknowledgedMax,
      deliver_policy: DeliverPolicy.All,
    };
  }

  #manager(): Promise<JetStreamManager> {
    return jetstreamManager(this.#parts.link.connection, { checkAPI: false, timeout: busCallMs });
  }
}

/** The result of a call of JetStream's API, or of `make` if the object does not exist. */
export async function orWhenMissing<T>(found: Promise<T>, make: () => Promise<T>): Promise<T> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.apiError().code === 404) return await make();
    throw error;
  }
}

/** No stream has the subject: the event was certainly not stored. */
function isNoResponder(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof errors.RequestError && cause.isNoResponders();
}

/** null: it is not one of our consumers. */
function partitionOfConsumer(name: string): number | null {
  if (name === firstConsumer) return 0;
  const number = /^worker-([1-9]\d*)$/.exec(name)?.[1];
  return number === undefined ? null : Number(number);
}
