/** Delivers a stream's events in batches, one at a time, until disposed. Failures are logged and retried for ever. */
import type { Msg } from "nats";
import { sleep, sleepUntil, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { eventRetryMs, eventRetryMsMax, eventTrimMs } from "../limits.ts";
import type { Delivered, Stream } from "../bus.ts";
import { intervalAfter, type Pace } from "../pace.ts";
import { EventPull } from "./event-pull.ts";
import { consumerName, EventStream } from "./event-stream.ts";
import type { NatsLink } from "./nats-link.ts";
import { StalledConsumerDetector } from "./stalled-consumer.ts";

export interface ConsumerParts {
  link: NatsLink;
  clock: Clock;
  log: Logger;
  stream: Stream;
  pace: Pace;
  handler: (events: Delivered[]) => Promise<void>;
}

export class EventConsumer implements AsyncDisposable {
  readonly #parts: ConsumerParts;
  readonly #events: EventStream;
  readonly #pull: EventPull;
  readonly #watching: Disposable;
  readonly #stalled = new StalledConsumerDetector();
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  #failures = 0;
  #ensured = false;
  #trimmedAt: number;

  constructor(parts: ConsumerParts) {
    this.#parts = parts;
    this.#events = new EventStream(parts);
    this.#pull = new EventPull({ ...parts, consumer: consumerName });
    this.#trimmedAt = parts.clock.monotonic();
    this.#watching = parts.link.watch({ down: () => void (this.#ensured = false) });
    this.#ended = this.#run();
  }

  /** Waits for the batch under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.#pull.end();
    await this.#ended;
    this.#watching[Symbol.dispose]();
    await this.#pull[Symbol.asyncDispose]();
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
        this.#ensured = false;
        await sleep(clock, pauseMs, signal);
      }
    }
  }

  async #step(): Promise<void> {
    const { clock, pace } = this.#parts;
    if (!this.#ensured) await this.#events.ensure();
    this.#ensured = true;
    const askedAt = clock.monotonic();
    const messages = await this.#pull.next(pace.messagesMax);
    const startedAt = clock.monotonic();
    if (messages.length > 0) await this.#deliver(messages);
    else if (!this.#stopping.signal.aborted) await this.#inspect(askedAt);
    const isFull = messages.length === pace.messagesMax;
    const next = startedAt + intervalAfter(clock.monotonic() - startedAt, pace);
    if (messages.length > 0 && !isFull) await sleepUntil(clock, next, this.#stopping.signal);
    if (clock.monotonic() - this.#trimmedAt < eventTrimMs) return;
    this.#trimmedAt = clock.monotonic();
    await this.#events.trim();
  }

  async #deliver(messages: Msg[]): Promise<void> {
    const { link, handler } = this.#parts;
    this.#stalled.delivered();
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
  async #inspect(askedAt: number): Promise<void> {
    const { clock, log, link, stream } = this.#parts;
    if (!link.up) return;
    const info = await this.#events.consumer();
    if (this.#stalled.isStalled(info, clock.monotonic())) {
      log.error({ event: "events.stuck", stream, pending: info.num_pending, unacknowledged: info.num_ack_pending });
      await this.#events.restartConsumer(info);
    }
    // A server that does not wait for the first event must not get pulls without pause.
    if (clock.monotonic() - askedAt < eventRetryMs) await sleep(clock, eventRetryMs, this.#stopping.signal);
  }
}

function pauseAfter(failures: number): number {
  return Math.min(eventRetryMs * 2 ** failures, eventRetryMsMax);
}

/** The reply subject has the attempt: `$JS.ACK.<stream>.<consumer>.<attempt>…`; newer servers insert domain and account before it. */
function deliveredOf({ data, headers, reply }: Msg): Delivered {
  const words = (reply ?? "").split(".");
  const attempt = Number(words[words.length > 9 ? 6 : 4]);
  return { id: headers?.get("Nats-Msg-Id") ?? "", payload: data, attempt };
}
