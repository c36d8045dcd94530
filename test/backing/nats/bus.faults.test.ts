import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "nats";
import type { Server } from "../../../scripts/services/server.ts";
import { BusTimeoutError, BusUnavailableError, type Bus } from "../../../src/backing/bus.ts";
import { DistributedBus } from "../../../src/backing/nats/bus.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { admissionDeadlineMs } from "../../../src/backing/limits.ts";
import { OurProcess } from "../../support/processes/process.ts";
import { temporaryFolder } from "../../support/servers/services.ts";
import { quickestMs } from "../quickest.ts";
import { until } from "../../support/until.ts";
import { freeze, openNats, serversMissing } from "../servers.ts";

const question = new TextEncoder().encode("may I?");
/** How soon everything works again after a fault is over. */
const recoveryMsMax = 5_000;
/** The additional time on a busy machine. */
const slackMs = 1_000;

describe.skipIf(serversMissing)("the bus of a fleet, when parts of it fail", () => {
  let folder: string;
  let server: Server;
  let stack: AsyncDisposableStack;
  let bus: Bus;

  beforeAll(async () => {
    folder = await temporaryFolder("nats");
    server = await openNats(folder);
  }, 60_000);
  afterAll(() => server.stop());

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    bus = openBus();
    await until(() => bus.connected());
  });
  afterEach(() => stack.disposeAsync());

  function openBus(): Bus {
    return stack.use(new DistributedBus({ url: new Secret(server.url), name: "test", clock: systemClock, log: silentLog }));
  }

  async function startWorker(): Promise<OurProcess> {
    const worker = stack.use(
      new OurProcess({ arguments: ["test/support/processes/answering-process.ts", server.url], environment: {} }),
    );
    await worker.says("serving");
    return worker;
  }

  /** A worker in this process, for tests that neither kill nor freeze it. */
  async function serveHere(): Promise<void> {
    stack.use(await openBus().serve("admission", async (payload) => payload));
  }

  /** Resolves once a question is answered. */
  async function answers(limitMs = recoveryMsMax): Promise<void> {
    await until(async () => (await outcomeOf(bus.request("admission", question))) === "answered", limitMs);
  }

  test("a frozen worker of two loses no question, and costs less than half of the throughput", async () => {
    const [frozen] = [await startWorker(), await startWorker()];
    await answers();
    const whole = await askFor(1_500, bus);
    const freezing = setTimeout(() => frozen.signal("SIGSTOP"), 300);
    const half = await askFor(3_000, bus);
    clearTimeout(freezing);
    frozen.signal("SIGCONT");
    const ratio = half.perSecond / whole.perSecond;
    console.log(
      `two workers ${whole.perSecond}/s; one of them frozen ${half.perSecond}/s, ${ratio.toFixed(2)} of it; slowest ${half.slowestMs} ms`,
    );
    expect({ whole: whole.lost, half: half.lost }).toEqual({ whole: 0, half: 0 });
    expect(half.slowestMs).toBeLessThan(1_000);
    expect(ratio).toBeGreaterThan(0.3);
  }, 30_000);

  test("a question that a worker leaves unanswered goes once more to another, with the same bytes, and the reply says so", async () => {
    const asked: string[] = [];
    const serve = (name: string, answer: Promise<Uint8Array>): Promise<AsyncDisposable> =>
      openBus().serve("admission", (payload) => {
        asked.push(`${name} ${new TextDecoder().decode(payload)}`);
        return answer;
      });
    const held = Promise.withResolvers<Uint8Array>();
    await using _mute = await serve("mute", held.promise);
    await using _able = await serve("able", Promise.resolve(question));
    await until(() => bus.width("admission") === 4);
    const startedAt = performance.now();
    const replies = await Promise.all([bus.request("admission", question), bus.request("admission", question)]);
    expect(performance.now() - startedAt).toBeLessThan(500);
    expect(replies.map(({ resent }) => resent).toSorted()).toEqual([false, true]);
    expect(asked.toSorted()).toEqual(["able may I?", "able may I?", "mute may I?"]);
    held.resolve(question);
  });

  test("a worker that is killed under load loses no question while another lives", async () => {
    const [killed] = [await startWorker(), await startWorker()];
    await answers();
    const killing = setTimeout(() => void killed.kill(), 300);
    const { lost, asked } = await askFor(1_500, bus);
    clearTimeout(killing);
    expect({ lost, some: asked > 100 }).toEqual({ lost: 0, some: true });
  }, 30_000);

  test("once all workers are dead for a second, questions are refused at once; a new worker is found at once", async () => {
    const worker = await startWorker();
    await answers();
    await worker.kill();
    await until(async () => (await outcomeOf(bus.request("admission", question))) === "refused", 4_000);
    const refuse = async () => expect(await outcomeOf(bus.request("admission", question))).toBe("refused");
    expect(await quickestMs(refuse)).toBeLessThan(100);
    await startWorker();
    await answers(1_000);
  }, 30_000);

  test("an asker that was busy for a second takes no worker for dead, nor its answers for late", async () => {
    await startWorker();
    await startWorker();
    await until(() => bus.width("admission") === 4);
    const asked = [bus.request("admission", question), bus.request("admission", question)];
    Bun.sleepSync(1_000);
    expect(bus.width("admission")).toBe(4);
    expect((await Promise.all(asked)).map(({ resent }) => resent)).toEqual([false, false]);
    expect(bus.width("admission")).toBe(4);
  }, 30_000);

  test("while NATS is dead everything is refused at once; after its restart all goes on, and no stored event is lost", async () => {
    await serveHere();
    await answers();
    const seen = new Set<string>();
    for (let index = 0; index < 20; index++) await bus.publish("settlements", `before-${index}`, question);
    await server.kill("SIGKILL");
    // Questions and events have a connection each, and one hears of it a moment after the other.
    const isRefused = async () =>
      (await failureOf(bus.publish("settlements", "before", question))) instanceof BusUnavailableError &&
      (await outcomeOf(bus.request("admission", question))) === "refused";
    await until(async () => !bus.connected() && (await isRefused()), 2_000);
    const startedAt = performance.now();
    expect(await outcomeOf(bus.request("admission", question))).toBe("refused");
    expect(await failureOf(bus.publish("settlements", "during", question))).toBeInstanceOf(BusUnavailableError);
    expect(await failureOf(bus.scatter("open-generations", question, 300))).toBeInstanceOf(BusUnavailableError);
    bus.broadcast("records-changed");
    expect(performance.now() - startedAt).toBeLessThan(500);
    const consumer = openBus();
    await using _consumption = await consumer.consume("settlements", { messagesMax: 10 }, async (batch) => {
      for (const { id } of batch) seen.add(id);
    });
    await server.restart();
    const restartedAt = performance.now();
    await answers();
    await bus.publish("settlements", "after", question);
    await until(() => seen.has("after") && seen.size === 21, recoveryMsMax);
    expect(performance.now() - restartedAt).toBeLessThan(recoveryMsMax);
  }, 30_000);

  test("a consumer goes on over a restart of NATS, in the middle of its work", async () => {
    const seen = new Set<string>();
    const consumer = openBus();
    await using _consumption = await consumer.consume("settlements", { messagesMax: 10 }, async (batch) => {
      for (const { id } of batch) seen.add(id);
    });
    await bus.publish("settlements", "r-0", question);
    await until(() => seen.has("r-0"));
    await server.kill("SIGKILL");
    await server.restart();
    await until(() => bus.connected(), recoveryMsMax);
    await bus.publish("settlements", "r-1", question);
    await until(() => seen.has("r-1"), recoveryMsMax);
  }, 30_000);

  test("while NATS is frozen no question hangs beyond its deadline; when it thaws all goes on", async () => {
    await serveHere();
    await answers();
    const thaw = stack.adopt(await freeze(server), (goOn) => goOn());
    const startedAt = performance.now();
    const outcomes = [await outcomeOf(bus.request("admission", question)), await outcomeOf(bus.request("admission", question))];
    expect(performance.now() - startedAt).toBeLessThan(2 * admissionDeadlineMs + slackMs);
    expect(outcomes).not.toContain("answered");
    await until(async () => (await outcomeOf(bus.request("admission", question))) === "refused");
    const later = performance.now();
    expect(await outcomeOf(bus.request("admission", question))).toBe("refused");
    expect(performance.now() - later).toBeLessThan(500);
    await until(() => !bus.connected());
    thaw();
    await answers();
    await until(async () => (await failureOf(bus.publish("settlements", "thawed", question))) === null, recoveryMsMax);
  }, 30_000);

  test("a short freeze of NATS closes nothing", async () => {
    await serveHere();
    await answers();
    const thaw = stack.adopt(await freeze(server), (goOn) => goOn());
    await until(async () => (await outcomeOf(bus.request("admission", question))) !== "answered");
    thaw();
    await answers();
    expect(bus.connected()).toBe(true);
  }, 30_000);

  test("everything may start before NATS: nothing waits for it, and all works once it is there", async () => {
    await server.stop();
    const early = openBus();
    const heard: string[] = [];
    using _listening = early.listen("settled", () => heard.push("settled"));
    using _reporting = early.serveScatter("open-generations", () => question);
    await using _serving = await early.serve("admission", async (payload) => payload);
    await using _consuming = await early.consume("settlements", { messagesMax: 10 }, async () => void heard.push("event"));
    expect(early.connected()).toBe(false);
    expect(await outcomeOf(early.request("admission", question))).toBe("refused");
    await server.restart();
    await until(() => early.connected() && bus.connected(), recoveryMsMax);
    await answers();
    await until(async () => (await bus.scatter("open-generations", question, 300).catch(() => [])).length === 1);
    early.broadcast("settled");
    await bus.publish("settlements", "early", question);
    await until(() => heard.includes("settled") && heard.includes("event"));
  }, 30_000);

  test("a bus that never reached NATS can be closed", async () => {
    const port = new URL(server.url);
    port.port = "1";
    const lonely = new DistributedBus({ url: new Secret(port.href), name: "lonely", clock: systemClock, log: silentLog });
    expect(lonely.connected()).toBe(false);
    await lonely[Symbol.asyncDispose]();
  });

  test("when NATS comes back without its data, stream and consumer are made again and events flow", async () => {
    const seen: string[] = [];
    const consumer = openBus();
    await using _consumption = await consumer.consume("settlements", { messagesMax: 10 }, async (batch) => {
      seen.push(...batch.map(({ id }) => id));
    });
    await until(async () => (await failureOf(bus.publish("settlements", "kept", question))) === null);
    await until(() => seen.includes("kept"));
    await server.stop();
    await rm(join(folder, "streams"), { recursive: true, force: true });
    await server.restart();
    await until(() => bus.connected(), recoveryMsMax);
    await bus.publish("settlements", "anew", question);
    await until(() => seen.includes("anew"), recoveryMsMax);
    // It is acknowledged a moment after it was handled.
    await until(async () => (await bus.backlog("settlements")).messages === 0);
  }, 30_000);

  test("a stream that is deleted under its consumer is made again", async () => {
    const seen: string[] = [];
    const consumer = openBus();
    await using _consumption = await consumer.consume("settlements", { messagesMax: 10 }, async (batch) => {
      seen.push(...batch.map(({ id }) => id));
    });
    await bus.publish("settlements", "whole", question);
    await until(() => seen.includes("whole"));
    await deleteStream(server);
    // An event that meets the stream on its way out may be lost: its publisher repeats it until it is confirmed.
    await until(async () => {
      await failureOf(bus.publish("settlements", `again-${performance.now()}`, question));
      return seen.some((id) => id.startsWith("again"));
    }, recoveryMsMax + 1_000);
  }, 30_000);
});

type Outcome = "answered" | "refused" | "unknown";

async function outcomeOf(request: Promise<unknown>): Promise<Outcome> {
  const failure = await failureOf(request);
  if (failure instanceof BusUnavailableError) return "refused";
  if (failure instanceof BusTimeoutError) return "unknown";
  if (failure !== null) throw failure;
  return "answered";
}

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

/** Keeps as many questions in flight as the bus takes. */
async function askFor(ms: number, bus: Bus): Promise<{ asked: number; lost: number; perSecond: number; slowestMs: number }> {
  const end = performance.now() + ms;
  let [asked, lost, slowestMs] = [0, 0, 0];
  const ask = async (): Promise<void> => {
    while (performance.now() < end) {
      const startedAt = performance.now();
      asked++;
      if ((await outcomeOf(bus.request("admission", question))) !== "answered") lost++;
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - startedAt));
    }
  };
  await Promise.all(Array.from({ length: 4 }, ask));
  return { asked, lost, perSecond: Math.round((asked - lost) / (ms / 1_000)), slowestMs };
}

async function deleteStream(server: Server): Promise<void> {
  const { username, password, host } = new URL(server.url);
  const connection = await connect({ servers: host, user: username, pass: password });
  await (await jetstreamManager(connection)).streams.delete("settlements");
  await connection.close();
}
