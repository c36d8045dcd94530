/** A JetStream stream and its one durable consumer, created again where they are missing: NATS may have lost its data. */
import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  jetstream,
  jetstreamManager,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import type { ConsumerConfig, ConsumerInfo, JetStreamManager, StreamConfig } from "@nats-io/jetstream";
import { errors, nanos } from "nats";
import { sleep, withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import {
  busCallMs,
  eventAckMs,
  eventAgeMsMax,
  eventDuplicateMs,
  eventPublishMs,
  eventStreamBytesMax,
  eventStreamPauseMs,
  eventTrimBytes,
  eventsUnacknowledgedMax,
} from "../limits.ts";
import type { Stream } from "../bus.ts";
import type { NatsLink } from "./nats-link.ts";
import { eventSubject } from "./subjects.ts";

export const consumerName = "worker";

export interface EventStreamParts {
  link: NatsLink;
  stream: Stream;
  clock: Clock;
  log: Logger;
}

export class EventStream {
  readonly #parts: EventStreamParts;

  constructor(parts: EventStreamParts) {
    this.#parts = parts;
  }

  /** Creates what is missing. A consumer that is ahead of its stream, which lost its end, is created anew, too. */
  async ensure(): Promise<void> {
    const manager = await this.#manager();
    const { stream, clock, log } = this.#parts;
    await orWhenMissing(manager.streams.info(stream), async () => {
      // Server 2.9 reports a stream as deleted before its folder is: data written there at once can never be read.
      await sleep(clock, eventStreamPauseMs);
      return await manager.streams.add(streamConfig(stream));
    });
    const found = await orWhenMissing(manager.consumers.info(stream, consumerName), () =>
      manager.consumers.add(stream, consumerConfig),
    );
    const { state } = await manager.streams.info(stream);
    if (found.delivered.stream_seq <= state.last_seq) return;
    log.warn({ event: "events.lost", stream, delivered: found.delivered.stream_seq, last: state.last_seq });
    await this.#replaceConsumer(manager, consumerConfig);
  }

  /** Resolves when NATS has written the event. @throws when it has not, or when that is unknown */
  async publish(id: string, payload: Uint8Array): Promise<void> {
    try {
      await this.#publish(id, payload);
    } catch (error) {
      if (!isNoResponder(error)) throw error;
      await this.ensure();
      await this.#publish(id, payload);
    }
  }

  /** The state of its consumer, which is created where it is missing. */
  async consumer(): Promise<ConsumerInfo> {
    const manager = await this.#manager();
    const read = (): Promise<ConsumerInfo> => manager.consumers.info(this.#parts.stream, consumerName);
    return await orWhenMissing(read(), () => this.ensure().then(read));
  }

  /** Creates the consumer anew, from the first event that is not acknowledged: later ones may be delivered again. */
  async restartConsumer({ ack_floor }: ConsumerInfo): Promise<void> {
    const manager = await this.#manager();
    const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: ack_floor.stream_seq + 1 };
    await this.#replaceConsumer(manager, { ...consumerConfig, ...start });
  }

  /** Removes acknowledged events once the stream is large: by itself it keeps all, and refuses new ones when it is full. */
  async trim(aboveBytes: number = eventTrimBytes): Promise<void> {
    const manager = await this.#manager();
    const { stream } = this.#parts;
    const { state } = await manager.streams.info(stream);
    if (state.bytes <= aboveBytes) return;
    const { ack_floor } = await this.consumer();
    if (ack_floor.stream_seq >= state.first_seq) await manager.streams.purge(stream, { seq: ack_floor.stream_seq + 1 });
  }

  async #publish(id: string, payload: Uint8Array): Promise<void> {
    const { link, stream, clock } = this.#parts;
    const stored = jetstream(link.connection).publish(eventSubject(stream), payload, { msgID: id, timeout: eventPublishMs });
    await withDeadline(clock, eventPublishMs, "Storing an event", link.whileUp(stored));
  }

  async #replaceConsumer(manager: JetStreamManager, config: Partial<ConsumerConfig>): Promise<void> {
    await manager.consumers.delete(this.#parts.stream, consumerName);
    await manager.consumers.add(this.#parts.stream, config);
  }

  #manager(): Promise<JetStreamManager> {
    return jetstreamManager(this.#parts.link.connection, { checkAPI: false, timeout: busCallMs });
  }
}

/**
 * Limits retention, for a work queue forgets which ids it has seen. A full stream refuses new events, where the default deletes
 * the oldest, consumed or not. Server 2.9 supports all of it.
 */
function streamConfig(stream: Stream): Partial<StreamConfig> & { name: string } {
  return {
    name: stream,
    subjects: [eventSubject(stream)],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    max_bytes: eventStreamBytesMax,
    max_age: nanos(eventAgeMsMax),
    duplicate_window: nanos(eventDuplicateMs),
  };
}

const consumerConfig: Partial<ConsumerConfig> = {
  durable_name: consumerName,
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(eventAckMs),
  max_deliver: -1,
  max_ack_pending: eventsUnacknowledgedMax,
  deliver_policy: DeliverPolicy.All,
};

async function orWhenMissing<T>(found: Promise<T>, make: () => Promise<T>): Promise<T> {
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
