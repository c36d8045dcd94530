import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Msg } from "nats";
import { BusTimeoutError, BusUnavailableError } from "../../../src/backing/bus.ts";
import type { Server } from "../../../scripts/services/server.ts";
import { DistributedBus } from "../../../src/backing/nats/bus.ts";
import { scatterHeartbeatSubject, type NatsLink } from "../../../src/backing/nats/link.ts";
import { ScatterClient, startScatterServer } from "../../../src/backing/nats/scatter.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { scatterServerMemoryMs } from "../../../src/backing/limits.ts";
import { ManualClock } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { OurProcess } from "../../support/processes/process.ts";
import { temporaryFolder } from "../../support/servers/services.ts";
import { until } from "../../support/until.ts";
import { openNats, serversMissing } from "../servers.ts";

const question = new TextEncoder().encode("what do you hold?");

describe.skipIf(serversMissing)("a survey of a fleet", () => {
  let stack: AsyncDisposableStack;
  let bus: DistributedBus;
  /** Lives on for the next test unless one kills it. */
  let reporter: OurProcess;
  let server: Server;
  let url: Secret;
  let refusal: unknown;

  beforeAll(async () => {
    server = await openNats(await temporaryFolder("survey"));
    url = new Secret(server.url);
    reporter = startReporter();
  }, 60_000);
  afterAll(async () => {
    await reporter[Symbol.asyncDispose]();
    await server.stop();
  });

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    if (!reporter.running) reporter = startReporter();
    bus = stack.use(new DistributedBus({ url, name: "test", clock: systemClock, log: silentLog }));
    await reporter.says("reporting");
    await until(() => bus.connected());
    await until(async () => (await answers())?.length === 1);
  }, 60_000);
  afterEach(async () => {
    reporter.signal("SIGCONT");
    await stack.disposeAsync();
  });

  function startReporter(): OurProcess {
    return new OurProcess({ arguments: ["test/support/processes/reporting-process.ts", server.url], environment: {} });
  }

  /** null: there is none, because it is not known who is there, or one did not answer. */
  function answers(): Promise<Uint8Array[] | null> {
    return bus.scatter("open-generations", question, 300).catch((error: unknown) => {
      refusal = error;
      return null;
    });
  }

  test("is refused until it is known who is there, and somebody who serves gets no request before it may scatter one", async () => {
    const fresh = stack.use(new DistributedBus({ url, name: "fresh", clock: systemClock, log: silentLog }));
    await until(() => fresh.connected());
    const scattered = (): Promise<unknown> =>
      fresh.scatter("open-generations", question, 300).then(
        () => "answered",
        (error) => error,
      );
    const outcomes: Promise<unknown>[] = [];
    expect(await scattered()).toBeInstanceOf(BusUnavailableError);
    stack.use(await fresh.serve("admission", async (payload) => (outcomes.push(scattered()), payload)));
    await until(() =>
      bus.request("admission", question).then(
        () => true,
        () => false,
      ),
    );
    expect(await outcomes[0]).toBe("answered");
    reporter.signal("SIGSTOP");
    expect(await failureOf(fresh.scatter("open-generations", question, 300))).toBeInstanceOf(BusTimeoutError);
  }, 30_000);

  test("goes without who is silent where it may lack answers, and waits for it once", async () => {
    reporter.signal("SIGSTOP");
    // What it sent before it was stopped may still arrive, and then it is waited for again.
    const endsAtOnce = async (): Promise<boolean> => {
      const patient = bus.survey("open-generations", question, 600_000).then(
        (all) => all.length === 0,
        () => false,
      );
      return Promise.race([patient, bus.survey("open-generations", question, 300).then(() => false)]);
    };
    expect(await bus.survey("open-generations", question, 300)).toEqual([]);
    await until(endsAtOnce);
    expect(await failureOf(bus.scatter("open-generations", question, 300))).toBeInstanceOf(BusTimeoutError);
    reporter.signal("SIGCONT");
    await until(async () => (await bus.survey("open-generations", question, 300)).length === 1);
  }, 30_000);

  test("fails also where NATS was lost meanwhile: who was there and has not come back is not forgotten", async () => {
    reporter.signal("SIGSTOP");
    await server.kill("SIGKILL");
    await until(() => !bus.connected());
    await server.restart();
    await until(async () => (await answers()) === null && refusal instanceof BusTimeoutError);
  }, 30_000);
});

describe("who is waited for", () => {
  const heartbeats = scatterHeartbeatSubject("open-generations");

  /** A client of this link, which has listened for long enough to know all. */
  function listening() {
    const clock = new ManualClock();
    const link = new FakeLink();
    const client = new ScatterClient({ link, service: "open-generations", clock });
    clock.advance(1_100);
    const beat = (text: string): void => link.deliver(heartbeats, text);
    /** Whether a question fails after a wait, since a server that is waited for has not replied. */
    const isRefused = async (): Promise<boolean> => {
      const outcome = client.scatter(question, 300).then(
        () => false,
        (error) => error instanceof BusTimeoutError,
      );
      await clock.pass(300);
      return outcome;
    };
    return { clock, beat, isRefused };
  }

  test("one that is silent is waited for until it must be dead and no supervisor has started a successor", async () => {
    const { clock, beat, isRefused } = listening();
    expect(await isRefused()).toBe(false);
    beat("one");
    clock.advance(scatterServerMemoryMs - 1_000);
    expect(await isRefused()).toBe(true);
    clock.advance(1_000);
    expect(await isRefused()).toBe(false);
  });

  test("one that died is not waited for once a successor has its data, and one that left is not either", async () => {
    const { beat, isRefused } = listening();
    beat("dead");
    beat("older");
    expect(await isRefused()).toBe(true);
    beat("next dead older");
    beat("-next");
    expect(await isRefused()).toBe(false);
  });
});

describe("a server", () => {
  test("is told that it was missed after its link was down, and while it is heard it is not", () => {
    const clock = new ManualClock();
    const link = new FakeLink();
    let missed = 0;
    const member = { id: "one", predecessors: [], onMissed: () => void missed++ };
    using _server = startScatterServer({
      link: link as unknown as NatsLink,
      service: "open-generations",
      handler: (payload) => payload,
      member,
      clock,
      log: silentLog,
    });
    clock.advance(60_000);
    expect(missed).toBe(0);
    link.change(false);
    clock.advance(200);
    expect(missed).toBe(0);
    link.change(true);
    expect(missed).toBe(1);
    clock.advance(60_000);
    expect(missed).toBe(1);
  });
});

/** A link without a server. */
class FakeLink {
  up = true;
  readonly #listeners: Parameters<NatsLink["watch"]>[0][] = [];
  readonly #callbacks = new Map<string, (message: Pick<Msg, "subject" | "data">) => void>();

  watch(listener: Parameters<NatsLink["watch"]>[0]): Disposable {
    this.#listeners.push(listener);
    return { [Symbol.dispose]: () => {} };
  }

  change(up: boolean): void {
    this.up = up;
    for (const listener of this.#listeners) (up ? listener.up : listener.down)?.call(listener);
  }

  publish(): void {}

  subscribe(subject: string, callback: (message: Msg) => void): AsyncDisposable {
    this.#callbacks.set(subject, callback as (message: Pick<Msg, "subject" | "data">) => void);
    return { [Symbol.asyncDispose]: async () => {} };
  }

  deliver(subject: string, text: string): void {
    this.#callbacks.get(subject)?.({ subject, data: new TextEncoder().encode(text) });
  }
}
