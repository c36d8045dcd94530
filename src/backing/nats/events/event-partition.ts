/** The one durable consumer of a partition of a stream, created again where it is missing: NATS may have lost its data. */
import { AckPolicy, DeliverPolicy, JetStreamApiError, jetstreamManager } from "@nats-io/jetstream";
import type { ConsumerConfig, ConsumerInfo, JetStreamManager } from "@nats-io/jetstream";
import { nanos } from "nats";
import { sleep, type Clock } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import { busCallMs, eventAckMs, eventStreamPauseMs, eventsUnacknowledgedMax } from "../../limits.ts";
import type { Stream } from "../../bus.ts";
import type { NatsLink } from "../nats-link.ts";
import { eventSubject } from "../subjects.ts";
import { orWhenMissing } from "./when-missing.ts";

const firstConsumer = "worker";
const replaceAttemptsMax = 5;
const unansweredAttemptsMax = 3;

/** Processes that know nothing of partitions use the consumer of partition 0. */
export function consumerOfPartition(partition: number): string {
  return partition === 0 ? firstConsumer : `${firstConsumer}-${partition}`;
}

/** null: it is no consumer of ours. */
export function partitionOfConsumer(name: string): number | null {
  if (name === firstConsumer) return 0;
  const number = /^worker-([1-9]\d*)$/.exec(name)?.[1];
  return number === undefined ? null : Number(number);
}

export interface EventPartitionParts {
  link: NatsLink;
  stream: Stream;
  partition: number;
  clock: Clock;
  log: Logger;
}

export class EventPartition {
  readonly #parts: EventPartitionParts;
  readonly #name: string;

  constructor(parts: EventPartitionParts) {
    this.#parts = parts;
    this.#name = consumerOfPartition(parts.partition);
  }

  /** Creates what is missing; the stream exists. A consumer that is ahead of its stream, which lost its end, is created anew, too. */
  async ensure(): Promise<void> {
    const { stream, clock, log } = this.#parts;
    const manager = await this.#manager();
    const found = await this.info();
    // An earlier version created it without a filter: it would deliver the events of all partitions.
    if (found.config.filter_subject !== this.#config().filter_subject) return await this.restart(found);
    const isAhead = async (): Promise<boolean> => {
      const { delivered } = await this.info();
      return delivered.stream_seq > (await manager.streams.info(stream)).state.last_seq;
    };
    if (!(await isAhead())) return;
    // The server that leads the stream now may only be about to read its end.
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

  /** Creates the consumer anew, from the first event that is not acknowledged: later ones may be delivered again. */
  async restart({ ack_floor }: Pick<ConsumerInfo, "ack_floor">): Promise<void> {
    const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: ack_floor.stream_seq + 1 };
    await this.#replace({ ...this.#config(), ...start });
  }

  /**
   * Another process may delete it a moment before, or create it where it finds none. A cluster answers neither call while it chooses
   * where the consumer is to be.
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
