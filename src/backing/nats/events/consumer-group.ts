/**
 * The processes that consume a stream, by their heartbeats. Each consumes the partitions that its place among them gives it, so they
 * need no coordinator. While two of them disagree about who is there, both may consume a partition, which only costs time.
 */
import type { Clock } from "../../../kernel/clock.ts";
import { newInternalId } from "../../../kernel/ids.ts";
import { busSilenceMsMax, eventPartitionsMax } from "../../limits.ts";
import type { Stream } from "../../bus.ts";
import { readHeartbeat, startHeartbeat } from "../heartbeat.ts";
import { Membership } from "../membership.ts";
import type { NatsLink } from "../nats-link.ts";
import { eventHeartbeatSubject } from "../subjects.ts";
import { everyTick, ticksOf } from "../ticker.ts";

export interface ConsumerGroupParts {
  link: NatsLink;
  clock: Clock;
  stream: Stream;
  /** Called when a process joins or leaves. */
  onChange?: () => void;
}

export class ConsumerGroup implements AsyncDisposable {
  readonly #parts: ConsumerGroupParts;
  readonly #id: string;
  readonly #members = new Membership(ticksOf(busSilenceMsMax));
  readonly #stack = new AsyncDisposableStack();
  /** null: this process is no member. */
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

  /** From now on this process consumes, until it leaves. */
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
    // A member knows of itself, however its heartbeats travel.
    if (this.#heartbeat === null) ids.delete(this.#id);
    else ids.add(this.#id);
    const isSame = ids.size === this.#sorted.length && this.#sorted.every((id) => ids.has(id));
    if (isSame) return;
    this.#sorted = [...ids].toSorted();
    this.#parts.onChange?.();
  }
}
