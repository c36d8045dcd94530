import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Server } from "../../../scripts/services/server.ts";
import { eventReplayMax } from "../../../src/backing/limits.ts";
import { EventConsumer } from "../../../src/backing/nats/event-consumer.ts";
import { replayEvents } from "../../../src/backing/nats/event-replay.ts";
import { EventPartition, EventStream } from "../../../src/backing/nats/event-stream.ts";
import { NatsLink } from "../../../src/backing/nats/link.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { temporaryFolder } from "../../support/servers/services.ts";
import { until } from "../../support/until.ts";
import { openNats, serversMissing } from "../servers.ts";

const payload = new Uint8Array(100);

describe.skipIf(serversMissing)("the stream of events in JetStream", () => {
  let folder: string;
  let server: Server;
  let link: NatsLink;
  let stream: EventStream;
  let first: EventPartition;

  beforeAll(async () => {
    folder = await temporaryFolder("nats");
    server = await openNats(folder);
  }, 60_000);
  afterAll(() => server.stop());

  beforeEach(async () => {
    const parts = { clock: systemClock, log: silentLog, stream: "settlements" } as const;
    link = new NatsLink({ ...parts, url: new Secret(server.url), name: "test" });
    stream = new EventStream({ ...parts, link });
    first = new EventPartition({ ...parts, link, partition: 0 });
    await until(() => link.up);
    await stream.ensure();
  });
  afterEach(async () => {
    const manager = await jetstreamManager(link.connection);
    await manager.streams.delete("settlements");
    await link[Symbol.asyncDispose]();
  });

  /** Consumes until all of `ids` were seen and acknowledged. */
  async function consume(ids: string[]): Promise<void> {
    const missing = new Set(ids);
    await using _consumer = new EventConsumer({
      link,
      clock: systemClock,
      log: silentLog,
      stream: "settlements",
      pace: { messagesMax: 10 },
      handler: async (events) => {
        for (const { id } of events) missing.delete(id);
      },
    });
    await until(() => missing.size === 0);
  }

  async function publish(count: number, name: string): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, index) => `${name}-${index}`);
    for (const id of ids) await stream.publish(id, payload);
    return ids;
  }

  test("refuses new events when it is full instead of deleting old ones, and works on server 2.9", async () => {
    const { config } = await (await jetstreamManager(link.connection)).streams.info("settlements");
    expect(config).toMatchObject({ retention: "limits", discard: "new", storage: "file" });
    const { config: consumer } = await first.info();
    expect(consumer).toMatchObject({ ack_policy: "explicit", max_deliver: -1, durable_name: "worker" });
  });

  test("removes the older half once it is large, and nothing that was not acknowledged", async () => {
    await consume(await publish(10, "old"));
    await until(async () => (await first.info()).ack_floor.stream_seq === 10);
    const waiting = await publish(3, "waiting");
    await stream.trim();
    expect(await stored()).toBe(13);
    await stream.trim(0);
    expect(await stored()).toBe(6);
    for (let again = 0; again < 3; again++) await stream.trim(0);
    expect(await stored()).toBe(3);
    await consume(waiting);
  });

  test("a replay delivers again what was stored since a time, and all that is not acknowledged", async () => {
    await consume(await publish(3, "early"));
    await Bun.sleep(5);
    const since = Date.now();
    await stream.publish("late-of-another", payload, 1);
    await consume([...(await publish(3, "late")), "late-of-another"]);
    await until(async () => (await first.info()).ack_floor.stream_seq === 7);
    expect(await replayed(since)).toEqual(["late-of-another", "late-0", "late-1", "late-2"]);
    expect(await replayed(null)).toHaveLength(7);
    expect(await replayed(Date.now() + 60_000)).toEqual([]);
    await publish(2, "open");
    expect(await replayed(Date.now() + 60_000)).toEqual(["open-0", "open-1"]);
    expect((await first.info()).num_pending).toBe(2);
  });

  test("a replay delivers more than one batch, and leaves no consumer behind", async () => {
    const manager = await jetstreamManager(link.connection);
    await Promise.all(Array.from({ length: eventReplayMax + 1 }, (_, index) => stream.publish(`of-many-${index}`, payload)));
    expect(await replayed(null)).toHaveLength(eventReplayMax + 1);
    expect((await manager.consumers.list("settlements").next()).map(({ name }) => name)).toEqual(["worker"]);
  });

  test("a replay fails when its handler does", async () => {
    await publish(1, "open");
    const handler = (): Promise<void> => Promise.reject(new Error("the database is away"));
    const { signal } = new AbortController();
    const replay = replayEvents(
      { sinceMs: null, handler, signal },
      { link, clock: systemClock, stream: "settlements", events: stream },
    );
    await expect(replay).rejects.toThrow("the database is away");
  });

  async function replayed(sinceMs: number | null): Promise<string[]> {
    const seen: string[] = [];
    const handler = async (events: { id: string }[]): Promise<void> => void seen.push(...events.map(({ id }) => id));
    const { signal } = new AbortController();
    await replayEvents({ sinceMs, handler, signal }, { link, clock: systemClock, stream: "settlements", events: stream });
    return seen;
  }

  test("a consumer that is made anew delivers what was not acknowledged", async () => {
    await consume(await publish(4, "done"));
    await until(async () => (await first.info()).ack_floor.stream_seq === 4);
    const open = await publish(4, "open");
    await first.restart(await first.info());
    expect((await first.info()).num_pending).toBe(4);
    await consume(open);
  });

  test("a consumer that remembers more than a stream that lost its end gets the new events", async () => {
    await consume(await publish(20, "lost"));
    await until(async () => (await first.info()).ack_floor.stream_seq === 20);
    await server.stop();
    const messages = join(folder, "streams/jetstream/$G/streams/settlements/msgs");
    for (const file of readdirSync(messages)) rmSync(join(messages, file));
    await server.restart();
    await until(() => link.up);
    await consume(await publish(3, "new"));
  }, 30_000);

  async function stored(): Promise<number> {
    const manager = await jetstreamManager(link.connection);
    return (await manager.streams.info("settlements")).state.messages;
  }
});
