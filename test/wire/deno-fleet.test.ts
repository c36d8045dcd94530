/** A fleet on Deno: its workers use the package `redis` in place of Bun's client, and all of it NATS over the sockets of the library. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Server } from "../../scripts/services/server.ts";
import { deno, DenoService } from "../support/processes/deno.ts";
import type { Customer } from "../support/operator.ts";
import { ownServices } from "../support/servers/own-services.ts";
import { chat, outcomeOf } from "../support/gateway/requests.ts";
import { startProviderStub } from "../support/providers/provider-stub.ts";
import { temporaryFolder, testServers } from "../support/servers/services.ts";
import { writeStubCatalog } from "../support/providers/stub-catalog.ts";
import { until } from "../support/until.ts";

const found = deno === null ? null : await testServers();

describe.skipIf(found === null)("a fleet on Deno", () => {
  const stack = new AsyncDisposableStack();
  let redis: Server;
  let service: DenoService;
  let customer: Customer;
  let key = "";

  beforeAll(async () => {
    // Its own servers: another fleet on the same NATS would take its events.
    const own = await ownServices();
    if (own === null) return;
    stack.use(own);
    redis = own.redis;
    const folder = await temporaryFolder("deno-fleet");
    const stub = stack.use(await startProviderStub());
    const catalogDir = await writeStubCatalog(`${folder}/catalog`, { url: stub.url });
    service = stack.use(await DenoService.start({ folder, catalogDir, services: own.urls }));
    await until(async () => (await fetch(`${service.url}/ready`)).status === 200, 30_000);
    customer = await service.operator.customer({ credit: "10" });
    key = customer.keys[0]?.key ?? "";
    await until(async () => (await chatStatus()) === 200, 30_000);
  }, 90_000);
  afterAll(() => stack.disposeAsync());

  async function chatStatus(): Promise<number> {
    return (await outcomeOf(chat({ url: service.url, key }))).status;
  }

  test("admits, streams and charges each generation", async () => {
    const answers = [true, false, true, false].map((stream) => outcomeOf(chat({ url: service.url, key, body: { stream } })));
    const generations = (await Promise.all(answers)).map(({ generation }) => generation);
    await until(async () => {
      const rows = await service.operator.log(`workspace=${customer.workspace}`);
      return generations.every((one) => rows.some(({ generation_id, status }) => generation_id === one && status === 200));
    });
    await until(async () => (await service.operator.show(customer.workspace)).reserved_usd === "0.000000000");
    expect(await service.operator.verify()).toMatchObject({ ok: true, broken: null });
  });

  test("refuses while Redis is down, and admits again after its restart", async () => {
    await redis.kill("SIGKILL");
    await until(async () => (await chatStatus()) === 503);
    await redis.restart();
    await until(async () => (await chatStatus()) === 200, 20_000);
    expect(await service.operator.verify()).toMatchObject({ ok: true, broken: null });
  });
});
