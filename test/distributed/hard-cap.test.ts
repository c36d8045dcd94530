/** Credit and limits hold under concurrency, over several gateways and workers. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Fleet } from "../support/servers/fleet.ts";
import type { Customer } from "../support/operator.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import { chat as chatRequest, outcomeOf, tally } from "../support/gateway/requests.ts";
import { testServices } from "../support/servers/services.ts";
import { until } from "../support/until.ts";
import { sharedFleet } from "./shared-fleet.ts";

const services = await testServices();
const requests = 500;
/** A rate so high that only the limit under test binds. */
const plenty = "100";

describe.skipIf(services === null)("with 500 parallel requests over 2 gateways and 3 workers", () => {
  let stub: ProviderStub;
  let fleet: Fleet;

  beforeAll(async () => void ({ fleet, stub } = await sharedFleet()), 60_000);

  /** Sends all requests. The provider answers only after every one of them is decided. */
  async function hammer({ keys }: Customer): Promise<Record<string, number>> {
    const before = stub.calls.length;
    stub.hold();
    const body = { max_tokens: 1 };
    let refused = 0;
    const running = Array.from({ length: requests }, (_, index) =>
      outcomeOf(chatRequest({ url: fleet.url(index % 2), key: keys[index % keys.length]?.key ?? "", body })),
    );
    for (const request of running) void request.then(() => refused++);
    await until(() => refused + (stub.calls.length - before) === requests, 30_000);
    stub.release();
    return tally(await Promise.all(running));
  }

  async function expectSettled({ workspace }: Customer, spent: string): Promise<void> {
    await until(async () => (await fleet.operator().show(workspace)).reserved_usd === "0.000000000");
    expect(await fleet.operator().show(workspace)).toMatchObject({ month_spent_usd: spent });
    expect(await fleet.operator().verify()).toMatchObject({ ok: true, broken: null });
  }

  test("credit for 37 admits 37 and ends at zero", async () => {
    const customer = await fleet.operator().customer({ credit: "0.37", keys: 5 });
    expect(await hammer(customer)).toEqual({ "200": 37, "402 insufficient_credit": 463 });
    await expectSettled(customer, "0.370000000");
    expect(await fleet.operator().show(customer.workspace)).toMatchObject({ balance_usd: "0.000000000" });
  }, 60_000);

  test("one nano-dollar less admits 36", async () => {
    const customer = await fleet.operator().customer({ credit: "0.369999999" });
    expect(await hammer(customer)).toEqual({ "200": 36, "402 insufficient_credit": 464 });
    await expectSettled(customer, "0.360000000");
  }, 60_000);

  test("a key's monthly limit for 37 admits 37", async () => {
    const customer = await fleet.operator().customer({ credit: plenty, keyLimit: "0.37" });
    expect(await hammer(customer)).toEqual({ "200": 37, "402 key_spend_limit_exceeded": 463 });
    await expectSettled(customer, "0.370000000");
  }, 60_000);

  test("a key's budget of the day for 37 admits 37, and the member's of the month bounds all keys", async () => {
    const customer = await fleet.operator().customer({ credit: plenty, keys: 2 });
    const [first, second] = customer.keys;
    const { workspace } = customer;
    const limited = { workspace, monthly_spend_limit_usd: "0.5" };
    await fleet.operator().call("PATCH", `/keys/${first?.id}`, { daily_spend_limit_usd: "0.37" });
    await fleet.operator().call("PATCH", "/members/owner@example.test", limited);
    expect(await hammer({ ...customer, keys: first ? [first] : [] })).toEqual({ "200": 37, "402 key_spend_limit_exceeded": 463 });
    await expectSettled(customer, "0.370000000");
    expect(await hammer({ ...customer, keys: second ? [second] : [] })).toEqual({
      "200": 13,
      "402 account_spend_limit_exceeded": 487,
    });
    await expectSettled(customer, "0.500000000");
  }, 60_000);

  test("a workspace's monthly limit for 37 admits 37, whatever the number of its keys", async () => {
    const customer = await fleet.operator().customer({ credit: plenty, spendLimit: "0.37", keys: 5 });
    expect(await hammer(customer)).toEqual({ "200": 37, "402 account_spend_limit_exceeded": 463 });
    await expectSettled(customer, "0.370000000");
  }, 60_000);
});
