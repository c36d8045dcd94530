import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { BusTimeoutError } from "../../src/backing/bus.ts";
import type { Server } from "../../scripts/services/server.ts";
import { DistributedBus } from "../../src/backing/distributed/bus.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { reporterMemoryMs } from "../../src/limits/constants.ts";
import { OurProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/services.ts";
import { until } from "../support/until.ts";
import { openNats, serversMissing } from "./servers.ts";

const question = new TextEncoder().encode("what do you hold?");

describe.skipIf(serversMissing)("a survey of a fleet", () => {
  let stack: AsyncDisposableStack;
  let bus: DistributedBus;
  let reporter: OurProcess;
  let server: Server;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    server = await openNats(await temporaryFolder("survey"));
    stack.defer(() => server.stop());
    const url = new Secret(server.url);
    bus = stack.use(new DistributedBus({ url, name: "test", clock: systemClock, log: silentLog }));
    reporter = stack.use(new OurProcess({ arguments: ["test/support/reporting-process.ts", server.url], environment: {} }));
    await reporter.says("reporting");
    await until(() => bus.connected());
    await until(async () => (await answers())?.length === 1);
  }, 60_000);
  afterEach(() => stack.disposeAsync());

  /** null: there is none, for somebody who is there did not answer. */
  function answers(): Promise<Uint8Array[] | null> {
    return bus.survey("open-generations", question, 300).catch((error: unknown) => {
      expect(error).toBeInstanceOf(BusTimeoutError);
      return null;
    });
  }

  test("fails also where NATS was lost meanwhile: who was there and has not come back is not forgotten", async () => {
    reporter.signal("SIGSTOP");
    await server.kill("SIGKILL");
    await until(() => !bus.connected());
    await server.restart();
    await until(() => bus.connected());
    expect(await answers()).toBeNull();
    await until(async () => (await answers())?.length === 0);
  }, 30_000);

  for (const signal of ["SIGSTOP", "SIGKILL"] as const) {
    test(`fails while somebody who reports is silent (${signal}), and goes without who must be dead`, async () => {
      reporter.signal(signal);
      const since = performance.now();
      expect(await answers()).toBeNull();
      await until(async () => (await answers())?.length === 0);
      expect(performance.now() - since).toBeWithin(reporterMemoryMs - 200, reporterMemoryMs + 2_000);
    }, 30_000);
  }
});
