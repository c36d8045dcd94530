/** The operator's providers in a fleet: every gateway calls with the stored key, and every worker knows what was decided, without a restart. */
import { beforeAll, describe, expect, test } from "bun:test";
import { chat } from "../support/gateway/requests.ts";
import { keysOf } from "../support/gateway/own-key-stage.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import type { Fleet } from "../support/servers/fleet.ts";
import { testServices } from "../support/servers/services.ts";
import { until } from "../support/until.ts";
import { sharedFleet } from "./shared-fleet.ts";

const services = await testServices();

/** Usually at the notification; where that is lost, at the next read. */
const promisedMs = 30_000;
const added = { key: "sk-of-the-operator-0001", terms_checked: true, subprocessor_listed: true };

describe.skipIf(services === null)("with two gateways and several admission workers", () => {
  let fleet: Fleet;
  let dear: ProviderStub;
  beforeAll(async () => void ({ fleet, dear } = await sharedFleet()), 60_000);

  test("a stored key serves at every gateway, a disabled provider at none, and the environment's key after it was removed", async () => {
    const { keys } = await fleet.operator().customer({ credit: "10" });
    /** @returns the key that the provider received, or the status of a refusal */
    const ask = async (gateway: number): Promise<string | number | undefined> => {
      const response = await chat({ url: fleet.url(gateway), key: keys[0]?.key ?? "", body: { model: "routed/dear" } });
      await response.text();
      return response.status === 200 ? keysOf(dear).at(-1) : response.status;
    };
    const holdsEverywhere = async (expected: string | number) => {
      for (const gateway of [0, 1]) await until(async () => (await ask(gateway)) === expected, promisedMs);
    };
    const before = await ask(0);
    expect(before).toBeString();
    await fleet.operator(0).call("PUT", "/providers/dear", added);
    await holdsEverywhere(added.key);
    await fleet.operator(1).call("POST", "/providers/dear/disable", {});
    await holdsEverywhere(503);
    await fleet.operator(0).call("POST", "/providers/dear/enable", {});
    await holdsEverywhere(added.key);
    await fleet.operator(1).call("DELETE", "/providers/dear");
    await holdsEverywhere(before ?? "");
  }, 120_000);
});
