/** The relay under a real server: its pace and its single end depend on how the runtime treats streams. */
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { ChatChunkWriter } from "../../../../src/gateway/api/answer/answer-format.ts";
import { bunStream, type CreateStream, webStream, streamHeaders } from "../../../../src/gateway/api/answer/response.ts";
import { relay, type StreamOutcome } from "../../../../src/gateway/api/answer/relay.ts";
import { noUsage } from "../../../../src/gateway/api/call/charged-usage.ts";
import { streamStallMsMax } from "../../../../src/gateway/limits.ts";
import type { Usage } from "../../../../src/gateway/models/model.ts";
import type { ProviderEventStream, EventReceiver } from "../../../../src/gateway/providers/provider.ts";
import { systemClock, type Clock, StopSignal } from "../../../../src/kernel/clock.ts";
import { serverSettings } from "../../../../src/process/serving.ts";
import { ManualClock } from "../../../support/clock.ts";
import { OurProcess } from "../../../support/processes/process.ts";
import { end, FakeEvents, finish, text } from "../../../support/providers/fake-events.ts";
import { dataOf } from "../../../support/providers/open-relay.ts";
import { until } from "../../../support/until.ts";

/** Always has one more event. */
class Endless implements ProviderEventStream {
  asked = 0;
  closed = false;

  next(receiver: EventReceiver): void {
    this.asked++;
    setImmediate(() => receiver.take(this.closed ? [] : [text("x".repeat(16 * 1024))]));
  }

  async cancel(): Promise<void> {
    this.closed = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
  }
}

let createStream: CreateStream = webStream;
let source: ProviderEventStream;
let outcomes: StreamOutcome[] = [];
let ending = (): Usage => noUsage;
let stopping = new StopSignal();
let clock: Clock = systemClock;
/** Runs before the relay begins. */
let answering = async (_request: Request): Promise<void> => {};
const server = Bun.serve({
  ...serverSettings,
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    await answering(request);
    const body = relay({
      createStream,
      events: source,
      writer: new ChatChunkWriter({ id: "gen-a", created: 1, model: "m", includeUsage: false }),
      quiet: false,
      acquireDrainSlot: () => null,
      trackOutcome: () => {},
      clientSignal: request.signal,
      stop: stopping,
      clock,
      startedAt: clock.monotonic(),
      onEnd: (outcome) => (outcomes.push(outcome), ending()),
    });
    return new Response(body, { headers: streamHeaders });
  },
});
afterAll(() => server.stop(true));

function connectTo(events: ProviderEventStream): Socket {
  source = events;
  outcomes = [];
  const socket = connect(server.port ?? 0, "127.0.0.1");
  socket.on("error", () => {});
  socket.write("GET / HTTP/1.1\r\nHost: weir\r\n\r\n");
  return socket;
}

/** Resolves when the number has stayed the same over ten checks. */
async function steady(count: () => number): Promise<number> {
  let before = -1;
  let same = 0;
  await until(() => {
    same = count() === before && before > 0 ? same + 1 : 0;
    before = count();
    return same > 10;
  });
  return before;
}

describe.each([
  ["the web's stream", webStream],
  ["Bun's own stream", bunStream],
])("%s", (_name, way) => {
  beforeAll(() => void (createStream = way));
  afterEach(() => {
    ending = () => noUsage;
    stopping = new StopSignal();
    clock = systemClock;
    answering = async () => {};
  });

  describe("a client that does not read", () => {
    test("the relay stops reading its provider while the client does not read, and continues when it reads", async () => {
      const events = new Endless();
      const socket = connectTo(events);
      socket.pause();
      const asked = await steady(() => events.asked);
      expect(asked * 16).toBeLessThan(16 * 1024);
      socket.resume();
      await until(() => events.asked > asked * 2);
      socket.destroy();
      await until(() => events.closed);
      await until(() => outcomes.length === 1);
      expect(outcomes[0]?.how).toBe("client_gone");
    });
  });

  test("the relay disconnects a client that reads nothing for a minute", async () => {
    const time = new ManualClock();
    clock = time;
    const events = new Endless();
    const socket = connectTo(events);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.pause();
    await steady(() => events.asked);
    await time.pass(streamStallMsMax + 1_000);
    await until(() => outcomes.length === 1);
    expect(outcomes[0]?.how).toBe("client_gone");
    expect(events.closed).toBe(true);
    socket.resume();
    await closed;
  });

  describe("a client that hangs up", () => {
    test.each([
      ["while its provider is silent", (socket: Socket) => socket.destroy()],
      ["with a reset", (socket: Socket) => socket.resetAndDestroy()],
    ])("the relay notices a client that leaves %s", async (_how, hangUp) => {
      const events = new FakeEvents([text("Hi")]);
      const socket = connectTo(events);
      await new Promise((resolve) => socket.once("data", resolve));
      hangUp(socket);
      await until(() => outcomes.length === 1);
      expect(outcomes).toMatchObject([{ how: "client_gone", producedTokens: 1 }]);
      expect(events.closed).toBe(true);
    });

    test("the relay notices a client that left before its stream began, and closes the provider's stream", async () => {
      const events = new FakeEvents([text("Hi")]);
      let asked = false;
      answering = (request) => {
        asked = true;
        return new Promise((resolve) => request.signal.addEventListener("abort", () => resolve()));
      };
      const socket = connectTo(events);
      await until(() => asked);
      socket.destroy();
      await until(() => outcomes.length === 1);
      expect(outcomes).toMatchObject([{ how: "client_gone", producedTokens: 0 }]);
      expect(events.closed).toBe(true);
    });
  });

  test("a stream that cannot be settled breaks off, so that the client notices it", async () => {
    const events = new FakeEvents([text("one")]);
    ending = () => {
      throw new Error("the journal is closed");
    };
    const socket = connectTo(events);
    let received = "";
    socket.on("data", (bytes) => (received += String(bytes)));
    await until(() => received.includes("one"));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    events.give(finish(), end);
    await closed;
    expect(received).not.toContain("[DONE]");
    expect(received).not.toEndWith("0\r\n\r\n");
  });

  test("a stream that the process ends before the server pulls it has its last lines", async () => {
    source = new FakeEvents();
    stopping.stop();
    const body = await (await fetch(`http://127.0.0.1:${server.port}/`)).text();
    expect(body).toContain('"code":"upstream_error"');
    expect(body).toEndWith("data: [DONE]\n\n");
  });

  test("a thousand events that are ready at once all arrive", async () => {
    source = new FakeEvents([...Array.from({ length: 1_000 }, (_, n) => text(`<${n}>`)), finish(), end]);
    const body = await (await fetch(`http://127.0.0.1:${server.port}/`)).text();
    expect(dataOf(body)).toHaveLength(1_003);
    expect(body).toContain("<999>");
  });

  test("each event is sent at once, and the end closes the stream once", async () => {
    const events = new FakeEvents();
    source = events;
    outcomes = [];
    const answered = fetch(`http://127.0.0.1:${server.port}/`);
    events.give(text("one"));
    const response = await answered;
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let body = "";
    const readUntil = async (word: string) => {
      while (!body.includes(word)) body += decoder.decode((await reader?.read())?.value);
    };
    await readUntil("one");
    events.give(text("two"));
    await readUntil("two");
    expect(outcomes).toEqual([]);
    events.give(finish(), end);
    await readUntil("[DONE]\n\n");
    expect((await reader?.read())?.done).toBe(true);
    expect(outcomes).toMatchObject([{ how: "completed" }]);
  });
});

test.each(["production", "development", ""])(
  "a stream that breaks off writes nothing to the console (NODE_ENV=%s)",
  async (NODE_ENV) => {
    await using breaking = new OurProcess({
      arguments: ["test/support/processes/breaking-process.ts"],
      environment: { NODE_ENV },
    });
    expect([await breaking.exited, breaking.output]).toEqual([0, ""]);
  },
);
