/** The contract of every bus, in one process or in a fleet. `other` is the bus of another process, in a fleet. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { BusTimeoutError, BusUnavailableError, type Bus, type Delivered } from "../../src/backing/bus.ts";
import { admissionDeadlineMs } from "../../src/backing/limits.ts";
import { until } from "../support/until.ts";

export interface BusPair extends AsyncDisposable {
  bus: Bus;
  other: Bus;
}

export function busContract(name: string, open: () => Promise<BusPair>): void {
  describe(name, () => {
    let pair: BusPair;
    beforeEach(async () => {
      pair = await open();
      await until(() => pair.bus.connected() && pair.other.connected());
    });
    afterEach(() => pair[Symbol.asyncDispose]());

    describe("requests", () => requests(() => pair));
    describe("events", () => events(() => pair));
    describe("broadcasts and surveys", () => broadcasts(() => pair));
  });
}

function requests(pair: () => BusPair): void {
  test("a server of the service answers a request", async () => {
    const { bus, other } = pair();
    await using _server = await other.serve("admission", async (payload) => bytes(`${text(payload)}!`));
    const reply = await bus.request("admission", bytes("hello"));
    expect({ ...reply, payload: text(reply.payload) }).toEqual({ payload: "hello!", resent: false });
  });

  test("each of many concurrent requests gets its own reply", async () => {
    const { bus, other } = pair();
    await using _server = await other.serve("admission", async (payload) => payload);
    const sent = Array.from({ length: 500 }, (_, index) => `question ${index}`);
    const replies = await Promise.all(sent.map((question) => bus.request("admission", bytes(question))));
    expect(replies.map(({ payload }) => text(payload))).toEqual(sent);
    expect(bus.width("admission")).toBeGreaterThanOrEqual(1);
  });

  test("a server that replies was heard within the last second", async () => {
    const { bus } = pair();
    await using _server = await bus.serve("admission", async (payload) => payload);
    await bus.request("admission", bytes("anybody?"));
    expect(bus.silentMs("admission")).toBeLessThan(1_000);
  });

  test("a request without a server fails soon, as certainly not received", async () => {
    const { bus } = pair();
    const failure = await failureOf(bus.request("admission", bytes("anybody?")));
    expect(failure).toBeInstanceOf(BusUnavailableError);
    const startedAt = performance.now();
    expect(await failureOf(bus.request("admission", bytes("anybody now?")))).toBeInstanceOf(BusUnavailableError);
    expect(performance.now() - startedAt).toBeLessThan(500);
  });

  test("a request whose handler throws gets no reply, so that its outcome is unknown", async () => {
    const { bus, other } = pair();
    let calls = 0;
    await using _server = await other.serve("admission", async () => {
      calls++;
      throw new Error("cannot decide");
    });
    expect(await failureOf(bus.request("admission", bytes("?")))).toBeInstanceOf(BusTimeoutError);
    expect(calls).toBeGreaterThan(0);
  });

  test("a request without a reply ends at its deadline, and is sent once when there is only one server", async () => {
    const { bus, other } = pair();
    const held = Promise.withResolvers<Uint8Array>();
    let calls = 0;
    await using _server = await other.serve("admission", () => {
      calls++;
      return held.promise;
    });
    const startedAt = performance.now();
    expect(await failureOf(bus.request("admission", bytes("?")))).toBeInstanceOf(BusTimeoutError);
    expect(performance.now() - startedAt).toBeWithin(admissionDeadlineMs - 10, admissionDeadlineMs + 500);
    held.resolve(bytes("too late"));
    expect(calls).toBe(1);
  });

  test("a server that leaves finishes its requests, and gets no new ones", async () => {
    const { bus, other } = pair();
    const received = Promise.withResolvers<void>();
    const held = Promise.withResolvers<Uint8Array>();
    const server = await other.serve("admission", () => {
      received.resolve();
      return held.promise;
    });
    const reply = bus.request("admission", bytes("?"));
    await received.promise;
    const leaving = server[Symbol.asyncDispose]();
    held.resolve(bytes("finished"));
    expect(text((await reply).payload)).toBe("finished");
    await leaving;
    expect(await failureOf(bus.request("admission", bytes("?")))).toBeInstanceOf(BusUnavailableError);
  });
}

function events(pair: () => BusPair): void {
  test("an event that was published before any consumer is delivered once, with its id and in order", async () => {
    const { bus, other } = pair();
    for (let index = 0; index < 5; index++) await bus.publish("settlements", `id-${index}`, bytes(`event ${index}`));
    expect(await bus.backlog("settlements")).toEqual({ messages: 5 });
    const seen: Delivered[] = [];
    await using _consumer = await other.consume("settlements", { messagesMax: 100 }, async (batch) => void seen.push(...batch));
    await until(async () => (await bus.backlog("settlements")).messages === 0);
    expect(seen.map(({ id, payload, attempt }) => [id, text(payload), attempt])).toEqual(
      [0, 1, 2, 3, 4].map((index) => [`id-${index}`, `event ${index}`, 1]),
    );
  });

  test("an event for a waiting consumer is delivered within tens of milliseconds", async () => {
    const { bus, other } = pair();
    let deliveredAt = 0;
    await using _consumer = await other.consume("settlements", { messagesMax: 100 }, async () => {
      deliveredAt = performance.now();
    });
    const delays: number[] = [];
    for (let index = 0; index < 10; index++) {
      deliveredAt = 0;
      await bus.publish("settlements", `id-${index}`, bytes("event"));
      const publishedAt = performance.now();
      await until(() => deliveredAt > 0);
      delays.push(deliveredAt - publishedAt);
    }
    expect(delays.toSorted((a, b) => a - b)[5]).toBeLessThan(100);
  });

  test("batches have at most the requested size, come one at a time, and miss no event", async () => {
    const { bus, other } = pair();
    const ids = Array.from({ length: 250 }, (_, index) => `id-${index}`);
    await Promise.all(ids.map((id) => bus.publish("settlements", id, bytes(id))));
    const seen: string[] = [];
    let atWork = 0;
    let largest = 0;
    await using _consumer = await other.consume("settlements", { messagesMax: 40 }, async (batch) => {
      expect(++atWork).toBe(1);
      largest = Math.max(largest, batch.length);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(...batch.map(({ id }) => id));
      atWork--;
    });
    await until(() => seen.length >= ids.length);
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect(largest).toBeWithin(2, 41);
  });

  test("a batch whose handler throws is delivered again, with a higher attempt, until the handler succeeds", async () => {
    const { bus, other } = pair();
    const attempts: number[] = [];
    await bus.publish("settlements", "id", bytes("event"));
    await using _consumer = await other.consume("settlements", { messagesMax: 10 }, async ([event]) => {
      attempts.push(event?.attempt ?? 0);
      if (attempts.length < 3) throw new Error("not now");
    });
    await until(async () => attempts.length === 3 && (await bus.backlog("settlements")).messages === 0);
    expect(attempts).toEqual([1, 2, 3]);
  });

  test("an event that is published twice in a row with the same id is delivered once", async () => {
    const { bus, other } = pair();
    await bus.publish("settlements", "twice", bytes("event"));
    await bus.publish("settlements", "twice", bytes("event"));
    await bus.publish("settlements", "last", bytes("event"));
    const seen: string[] = [];
    await using _consumer = await other.consume("settlements", { messagesMax: 1 }, async (batch) => {
      seen.push(...batch.map(({ id }) => id));
    });
    await until(() => seen.includes("last"));
    expect(seen).toEqual(["twice", "last"]);
  });

  test("a consumer that stops finishes its batch, and the next one continues after it", async () => {
    const { bus, other } = pair();
    const first: string[] = [];
    const entered = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    await bus.publish("settlements", "one", bytes("event"));
    const consumer = await other.consume("settlements", { messagesMax: 1 }, async (batch) => {
      entered.resolve();
      await held.promise;
      first.push(...batch.map(({ id }) => id));
    });
    await entered.promise;
    await bus.publish("settlements", "two", bytes("event"));
    const stopped = consumer[Symbol.asyncDispose]();
    held.resolve();
    await stopped;
    expect(first).toEqual(["one"]);
    const second: string[] = [];
    await using _next = await other.consume("settlements", { messagesMax: 1 }, async (batch) => {
      second.push(...batch.map(({ id }) => id));
    });
    await until(() => second.length > 0);
    expect(second).toEqual(["two"]);
  });
}

function broadcasts(pair: () => BusPair): void {
  test("a broadcast reaches every process that listens to its topic, including the sender", async () => {
    const { bus, other } = pair();
    const heard: string[] = [];
    using _here = bus.listen("settled", (payload) => heard.push(`here ${text(payload)}`));
    using _there = other.listen("settled", (payload) => heard.push(`there ${text(payload)}`));
    using _deaf = other.listen("checks-changed", () => heard.push("another topic"));
    await until(() => {
      bus.broadcast("settled", bytes("batch"));
      return heard.includes("here batch") && heard.includes("there batch");
    });
    expect(heard).not.toContain("another topic");
  });

  test("a listener that throws stops neither the others nor the bus", async () => {
    const { bus } = pair();
    let heard = 0;
    using _bad = bus.listen("records-changed", () => {
      throw new Error("deaf");
    });
    using _good = bus.listen("records-changed", () => void heard++);
    await until(() => {
      bus.broadcast("records-changed");
      return heard > 3;
    });
  });

  test("a survey returns exactly one answer of every process that reports", async () => {
    const { bus, other } = pair();
    using _here = bus.serveScatter("open-generations", (payload) => bytes(`here ${text(payload)}`));
    using _there = other.serveScatter("open-generations", (payload) => bytes(`there ${text(payload)}`));
    await until(async () => (await surveyed(bus))?.length === 2);
    const answers = await bus.scatter("open-generations", bytes("ws"), 300);
    expect(answers.map(text).toSorted()).toEqual(["here ws", "there ws"]);
  });

  test("a survey fails when one of the reporting processes cannot answer, unless it may lack that answer", async () => {
    const { bus, other } = pair();
    using _here = bus.serveScatter("open-generations", () => bytes("here"));
    const broken = other.serveScatter("open-generations", () => {
      throw new Error("no report");
    });
    const scatter = () => bus.scatter("open-generations", bytes("ws"), 200).catch((error: unknown) => error);
    await until(async () => (await scatter()) instanceof BusTimeoutError);
    expect(await scatter()).toBeInstanceOf(BusTimeoutError);
    const answers = await bus.survey("open-generations", bytes("ws"), 200);
    expect(answers.map(text)).toEqual(["here"]);
    broken[Symbol.dispose]();
    await until(async () => Array.isArray(await scatter()));
  });

  test("a survey does not wait once the reporting processes are known, even if there are none", async () => {
    const { bus, other } = pair();
    expect(await quickSurvey(bus)).toEqual([]);
    const report = other.serveScatter("open-generations", () => bytes("there"));
    await until(async () => (await surveyed(bus))?.length === 1);
    expect(await quickSurvey(bus)).toEqual(["there"]);
    report[Symbol.dispose]();
    await until(async () => (await surveyed(bus))?.length === 0);
    expect(await quickSurvey(bus)).toEqual([]);
  });
}

/** null: the survey failed, since the reporting processes are not known yet, or one appeared after the survey began. */
function surveyed(bus: Bus): Promise<Uint8Array[] | null> {
  return bus.scatter("open-generations", bytes("ws"), 1_000).catch(() => null);
}

/** Repeats the survey until one ends long before its deadline. */
async function quickSurvey(bus: Bus): Promise<string[]> {
  let answers: Uint8Array[] | null = null;
  await until(async () => {
    const startedAt = performance.now();
    answers = await surveyed(bus);
    return answers !== null && performance.now() - startedAt < 500;
  });
  return (answers ?? []).map(text);
}

function bytes(words: string): Uint8Array {
  return new TextEncoder().encode(words);
}

function text(payload: Uint8Array): string {
  return new TextDecoder().decode(payload);
}

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}
