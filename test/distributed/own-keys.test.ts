/** Own provider keys in a fleet: workers pass them on sealed, every gateway opens them, and changes hold everywhere. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chat } from "../support/gateway/requests.ts";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import { keysOf, OwnKeyStage, serviceKey, type Tenant } from "../support/gateway/own-key-stage.ts";
import { testServices } from "../support/servers/services.ts";
import { until } from "../support/until.ts";

const services = await testServices();

/** A changed setting holds within 30 s, and usually at once. */
const promisedMs = 30_000;

describe.skipIf(services === null)("with two gateways and two admission workers", () => {
  let stage: OwnKeyStage;
  let asked = 0;
  beforeAll(async () => void (stage = await OwnKeyStage.open(services?.urls ?? null)), 60_000);
  afterAll(() => stage[Symbol.asyncDispose](), 30_000);

  /** @returns the key that the provider received */
  async function keyOf(gateway: number, { key }: Tenant): Promise<string | undefined> {
    asked++;
    const response = await chat({ url: stage.fleet.url(gateway), key, body: { model: "stub/alpha" } });
    await response.text();
    expect(response.status).toBe(200);
    return keysOf(stage.alpha).at(-1);
  }

  test("an own key serves at every gateway, is replaced everywhere, and gives way to the service's key everywhere", async () => {
    const tenant = await stage.tenant();
    for (const gateway of [0, 1]) expect(await keyOf(gateway, tenant)).toBe(serviceKey);
    const id = await stage.store(tenant, { provider: "alpha", key: "sk-of-the-fleet-0001" });
    const holdsEverywhere = async (key: string) => {
      for (const gateway of [0, 1]) await until(async () => (await keyOf(gateway, tenant)) === key, promisedMs);
    };
    await holdsEverywhere("sk-of-the-fleet-0001");
    await stage.fleet.operator(1).call("PUT", `/provider-keys/${id}`, { key: "sk-of-the-fleet-0002" });
    await holdsEverywhere("sk-of-the-fleet-0002");
    await stage.fleet.operator(0).call("DELETE", `/provider-keys/${id}`);
    await holdsEverywhere(serviceKey);
    expect(await stage.fleet.operator().verify()).toMatchObject({ ok: true });
  }, 120_000);

  test("requests on an own key at both gateways leave the credit as it was, and each has a row in the log", async () => {
    const tenant = await stage.tenant();
    await stage.store(tenant, { provider: "alpha", key: "sk-of-the-fleet-0003" });
    asked = 0;
    for (const gateway of [0, 1]) await until(async () => (await keyOf(gateway, tenant)) === "sk-of-the-fleet-0003", promisedMs);
    await Promise.all(Array.from({ length: 40 }, (_, n) => keyOf(n % 2, tenant)));
    const rows = await expectExactLedger(stage.fleet.operator(), tenant, { credit: "1", generations: asked });
    const own = (rows as unknown as Record<string, unknown>[]).filter((row) => row["own_key"] === true);
    expect(own.length).toBeGreaterThanOrEqual(40);
    expect(new Set(own.map((row) => row["cost_usd"]))).toEqual(new Set(["0.000000000"]));
  }, 60_000);
});
