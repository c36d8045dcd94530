/** Events of one process: rows of the table `outbox`, which are deleted when they are acknowledged. */
import { sleep, sleepUntil, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { eventRetryMs, eventRetryMsMax } from "../limits.ts";
import type { Database } from "../backing.ts";
import type { Backlog, Delivered, Stream } from "../bus.ts";
import { intervalAfter, type Pace } from "../pace.ts";

export interface OutboxParts {
  sql: Database;
  clock: Clock;
  log: Logger;
}

export interface Consumer {
  stream: Stream;
  pace: Pace;
  handler: (events: Delivered[]) => Promise<void>;
}

interface Row {
  id: bigint;
  message_id: string;
  payload: Uint8Array;
  attempts: number;
}

export class Outbox implements AsyncDisposable {
  readonly #parts: OutboxParts;
  readonly #consumptions = new Set<Consumption>();

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Resolves when the event is in the database. An id that is stored already is the same event. */
  async publish(stream: Stream, id: string, payload: Uint8Array): Promise<void> {
    await this.#parts.sql`
      INSERT INTO outbox (stream, message_id, payload) VALUES (${stream}, ${id}, ${payload})
      ON CONFLICT (stream, message_id) DO NOTHING`;
    for (const consumption of this.#consumptions) consumption.wake();
  }

  consume(consumer: Consumer): AsyncDisposable {
    const consumption = new Consumption(consumer, this.#parts);
    this.#consumptions.add(consumption);
    return {
      [Symbol.asyncDispose]: async () => {
        await consumption[Symbol.asyncDispose]();
        this.#consumptions.delete(consumption);
      },
    };
  }

  async backlog(stream: Stream): Promise<Backlog> {
    const [row] = await this.#parts.sql<{ count: bigint }[]>`SELECT count(*) AS count FROM outbox WHERE stream = ${stream}`;
    return { messages: Number(row?.count ?? 0n) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#consumptions].map((consumption) => consumption[Symbol.asyncDispose]()));
  }
}

/** One batch at a time, from the oldest event on. */
class Consumption implements AsyncDisposable {
  readonly #consumer: Consumer;
  readonly #parts: OutboxParts;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  #news = Promise.withResolvers<void>();

  constructor(consumer: Consumer, parts: OutboxParts) {
    this.#consumer = consumer;
    this.#parts = parts;
    this.#ended = this.#run();
  }

  wake(): void {
    this.#news.resolve();
  }

  /** Waits for the batch under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#parts;
    for (let failures = 0; !this.#stopping.signal.aborted;) {
      // An event that is published from here on is either found below or wakes the wait after it.
      this.#news = Promise.withResolvers();
      try {
        const found = await this.#deliver();
        failures = 0;
        if (!found) await this.#news.promise;
      } catch (error) {
        const pauseMs = Math.min(eventRetryMs * 2 ** failures++, eventRetryMsMax);
        log.warn({ event: "events.failed", stream: this.#consumer.stream, pauseMs, reason: String(error) });
        await sleep(clock, pauseMs, this.#stopping.signal);
      }
    }
  }

  /** @returns whether it delivered anything */
  async #deliver(): Promise<boolean> {
    const { sql, clock } = this.#parts;
    const { stream, pace, handler } = this.#consumer;
    const startedAt = clock.monotonic();
    const rows = await sql<Row[]>`
      SELECT id, message_id, payload, attempts FROM outbox WHERE stream = ${stream} ORDER BY id LIMIT ${pace.messagesMax}`;
    if (rows.length === 0 || this.#stopping.signal.aborted) return false;
    const ids = rows.map(({ id }) => id);
    try {
      await handler(rows.map((row) => ({ id: row.message_id, payload: row.payload, attempt: row.attempts + 1 })));
    } catch (error) {
      await sql`UPDATE outbox SET attempts = attempts + 1 WHERE id = ANY(${ids.map(String)}::bigint[])`;
      throw error;
    }
    await sql`DELETE FROM outbox WHERE id = ANY(${ids.map(String)}::bigint[])`;
    const next = startedAt + intervalAfter(clock.monotonic() - startedAt, pace);
    if (rows.length < pace.messagesMax) await sleepUntil(clock, next, this.#stopping.signal);
    return true;
  }
}
