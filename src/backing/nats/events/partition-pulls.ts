/** Pulls from several partitions at once, as if they were one stream. */
import type { Msg } from "nats";
import type { Clock } from "../../../kernel/clock.ts";
import type { Stream } from "../../bus.ts";
import { consumerOfPartition } from "./event-partition.ts";
import { EventPull } from "./event-pull.ts";
import type { NatsLink } from "../nats-link.ts";

export interface PartitionPullsParts {
  link: NatsLink;
  clock: Clock;
  stream: Stream;
}

export interface Pulled {
  messages: Msg[];
  /** Whether a partition gave all that it was asked for, and so may have more at once. */
  isFull: boolean;
  /** Partitions whose batch ended without an event, with the time at which it was asked for. */
  empty: { partition: number; askedAt: number }[];
}

export class PartitionPulls implements AsyncDisposable {
  readonly #parts: PartitionPullsParts;
  readonly #pulls = new Map<number, EventPull>();
  /** Those that are pulled from. The others are given up, and still deliver what was on its way. */
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

  /** At most `messagesMax` events; none when there were none in time, the link went down, or it was interrupted. */
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
