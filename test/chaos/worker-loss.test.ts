/** One of two workers is frozen, then killed, under load: no request is lost, and the other worker serves on. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Fleet } from "../support/servers/fleet.ts";
import { Load } from "../support/gateway/load.ts";
import { testServices } from "../support/servers/services.ts";
import { until } from "../support/until.ts";

const services = await testServices();

describe.skipIf(services === null)("the loss of one of two workers", () => {
  const stack = new AsyncDisposableStack();
  let fleet: Fleet;
  let keys: string[];

  beforeAll(async () => {
    const environment = { LOG_LEVEL: "fatal" };
    fleet = stack.use(await Fleet.start({ workers: 2, services: services?.urls ?? null, environment }));
    keys = (await fleet.operator().customer({ credit: "100", keys: 20 })).keys.map(({ key }) => key);
  }, 60_000);
  afterAll(() => stack.disposeAsync(), 30_000);

  const faults: Record<string, () => Promise<void>> = {
    frozen: async () => fleet.workers[0]?.signal("SIGSTOP"),
    thawed: async () => fleet.workers[0]?.signal("SIGCONT"),
    killed: async () => fleet.workers[0]?.kill(),
  };

  for (const [name, inject] of Object.entries(faults)) {
    test(`no request fails while one worker is ${name}`, async () => {
      const load = new Load({ urls: [fleet.url()], keys, connections: 16, model: "sandbox/echo" });
      await until(() => load.succeeded.length > 100);
      await inject();
      const [before, injectedAt] = [load.succeeded.length, performance.now()];
      await until(() => load.succeeded.length > before + 300, 20_000);
      load.ease();
      // Long after a silent worker is given up.
      await until(() => performance.now() - injectedAt > 1_500);
      await load.stop();
      expect(load.failures).toEqual({});
    }, 60_000);
  }
});
