/** Own provider keys in a fleet: workers pass them on sealed, every gateway opens them, and changes hold everywhere. */
import { beforeAll, describe, expect, test } from "bun:test";
import { chat } from "../support/gateway/requests.ts";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import { keysOf } from "../support/gateway/own-key-stage.ts";
import type { Customer } from "../support/operator.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import type { Fleet } from "../support/servers/fleet.ts";
import { testServices } from "../support/servers/services.ts";
import { until } from "../support/until.ts";
import { serviceKey, sharedFleet } from "./shared-fleet.ts";

const services = await testServices();

/** A changed setting holds within 30 s, and usually at once. */
const promisedMs = 30_000;

describe.skipIf(services === null)("with two gateways and three admission workers", () => {
  let fleet: Fleet;
  let cheap: ProviderStub;
  let asked = 0;
  beforeAll(async () => void ({ fleet, cheap } = await sharedFleet()), 60_000);

  const tenant = (): Promise<Customer> => fleet.operator().customer({ credit: "1", earlyAccess: ["own_keys"] });

  /** Stores an own key that the provider accepts. @returns its id */
  async function store({ workspace }: Customer, key: string): Promise<string> {
    const { id } = await fleet.operator().call<{ id: string }>("POST", "/provider-keys", { workspace, provider: "cheap", key });
    return id;
  }

  /** @returns the key that the provider received */
  async function keyOf(gateway: number, { keys }: Customer): Promise<string | undefined> {
    asked++;
    const response = await chat({ url: fleet.url(gateway), key: keys[0]?.key ?? "", body: { model: "routed/cheap" } });
    await response.text();
    expect(response.status).toBe(200);
    return keysOf(cheap).at(-1);
  }

  test("an own key serves at every gateway, is replaced everywhere, and gives way to the service's key everywhere", async () => {
    const customer = await tenant();
    for (const gateway of [0, 1]) expect(await keyOf(gateway, customer)).toBe(serviceKey);
    const id = await store(customer, "sk-of-the-fleet-0001");
    const holdsEverywhere = async (key: string) => {
      for (const gateway of [0, 1]) await until(async () => (await keyOf(gateway, customer)) === key, promisedMs);
    };
    await holdsEverywhere("sk-of-the-fleet-0001");
    await fleet.operator(1).call("PUT", `/provider-keys/${id}`, { key: "sk-of-the-fleet-0002" });
    await holdsEverywhere("sk-of-the-fleet-0002");
    await fleet.operator(0).call("DELETE", `/provider-keys/${id}`);
    await holdsEverywhere(serviceKey);
    expect(await fleet.operator().verify()).toMatchObject({ ok: true });
  }, 120_000);

  test("requests on an own key at both gateways leave the credit as it was, and each has a row in the log", async () => {
    const customer = await tenant();
    await store(customer, "sk-of-the-fleet-0003");
    asked = 0;
    for (const gateway of [0, 1])
      await until(async () => (await keyOf(gateway, customer)) === "sk-of-the-fleet-0003", promisedMs);
    await Promise.all(Array.from({ length: 40 }, (_, n) => keyOf(n % 2, customer)));
    const rows = await expectExactLedger(fleet.operator(), customer, { credit: "1", generations: asked });
    const own = (rows as unknown as Record<string, unknown>[]).filter((row) => row["own_key"] === true);
    expect(own.length).toBeGreaterThanOrEqual(40);
    expect(new Set(own.map((row) => row["cost_usd"]))).toEqual(new Set(["0.000000000"]));
  }, 60_000);
});
