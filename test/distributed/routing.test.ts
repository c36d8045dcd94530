/** Routing in a fleet: gateways order the candidates, and each of three workers prices them. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Fleet } from "../support/servers/fleet.ts";
import type { Customer } from "../support/operator.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import { chat as answer, error } from "../support/providers/stub-answers.ts";
import { chat, outcomeOf, tally, type Outcome } from "../support/gateway/requests.ts";
import { testServices } from "../support/servers/services.ts";
import { until } from "../support/until.ts";
import { sharedFleet } from "./shared-fleet.ts";

const services = await testServices();

describe.skipIf(services === null)("with two gateways and three workers", () => {
  let fleet: Fleet;
  let cheap: ProviderStub;

  beforeAll(async () => void ({ fleet, cheap } = await sharedFleet()), 60_000);

  async function customer(credit: string): Promise<Customer> {
    const made = await fleet.operator().customer({ credit });
    await fleet.operator().call("PATCH", `/workspaces/${made.workspace}`, { early_access: ["routing"] });
    return made;
  }

  function ask({ keys }: Customer, gateway: number, fields: Record<string, unknown> = {}): Promise<Outcome> {
    const body = { model: "routed/cheap", models: ["routed/dear"], max_tokens: 79, ...fields };
    return outcomeOf(chat({ url: fleet.url(gateway), key: keys[0]?.key ?? "", body }));
  }

  test("a failed model is replaced by the next one at every gateway, with its charge and its log", async () => {
    const paying = await customer("1");
    for (const gateway of [0, 1]) await until(async () => (await ask(paying, gateway)).status === 200);
    cheap.answer(error(500));
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(paying, index % 2)));
    cheap.answer(answer("Hello"));
    expect(tally(outcomes)).toEqual({ "200": 40 });
    expect(new Set(outcomes.map(({ headers }) => headers.get("x-route")))).toEqual(new Set(["dear/routed/dear"]));
    const generations = new Set(outcomes.map(({ generation }) => generation));
    const rows = async () =>
      (await fleet.operator().log(`workspace=${paying.workspace}&limit=200`)).filter((row) => generations.has(row.generation_id));
    await until(async () => (await rows()).length === 40);
    for (const row of await rows())
      expect(row).toMatchObject({
        model: "routed/dear",
        requested_model: "routed/cheap",
        provider: "dear",
        reserved_usd: "0.001000000",
        cost_usd: "0.000110000",
        attempts: [
          { provider: "cheap", code: "upstream_error" },
          { provider: "dear", code: null },
        ],
      });
  });

  test("credit covers as many requests in flight as its dearest candidate allows, whichever serves", async () => {
    const bounded = await customer("0.005");
    await until(async () => (await ask(bounded, 0, { provider: { only: ["cheap"] }, max_tokens: 1 })).status === 200);
    await until(async () => (await ask(bounded, 1, { provider: { only: ["cheap"] }, max_tokens: 1 })).status === 200);
    const calls = cheap.calls.length;
    cheap.hold();
    const ended: Outcome[] = [];
    const flying = Array.from({ length: 20 }, async (_, index) => ended.push(await ask(bounded, index % 2)));
    await until(() => Promise.resolve(ended.length === 16 && cheap.calls.length === calls + 4));
    expect(tally(ended)).toEqual({ "402 insufficient_credit": 16 });
    cheap.release();
    await Promise.all(flying);
    expect(tally(ended)).toEqual({ "200": 4, "402 insufficient_credit": 16 });
    await until(async () => (await fleet.operator().show(bounded.workspace)).reserved_usd === "0.000000000");
    expect(await fleet.operator().verify()).toMatchObject({ ok: true });
  });
});
