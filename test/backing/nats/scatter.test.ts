import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { BusTimeoutError, BusUnavailableError } from "../../../src/backing/bus.ts";
import type { Server } from "../../../scripts/services/server.ts";
import { DistributedBus } from "../../../src/backing/nats/bus.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { scatterServerMemoryMs } from "../../../src/backing/limits.ts";
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
    await until(async () => (await answers())?.length === 0);
  }, 30_000);

  for (const signal of ["SIGSTOP", "SIGKILL"] as const) {
    test(`fails while somebody who reports is silent (${signal}), and goes without who must be dead`, async () => {
      reporter.signal(signal);
      const since = performance.now();
      expect(await answers()).toBeNull();
      expect(refusal).toBeInstanceOf(BusTimeoutError);
      await until(async () => (await answers())?.length === 0);
      expect(performance.now() - since).toBeWithin(scatterServerMemoryMs - 200, scatterServerMemoryMs + 2_000);
    }, 30_000);
  }
});
