/** Routing in a fleet: gateways order the candidates, and each of two workers prices them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Fleet } from "../support/servers/fleet.ts";
import type { Customer } from "../support/operator.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { chat as answer, error } from "../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { chat, outcomeOf, tally, type Outcome } from "../support/gateway/requests.ts";
import { temporaryFolder, testServices } from "../support/servers/services.ts";
import { until } from "../support/until.ts";

const services = await testServices();

describe.skipIf(services === null)("with two gateways and two workers", () => {
  const stack = new AsyncDisposableStack();
  let fleet: Fleet;
  let cheap: ProviderStub;
  let dear: ProviderStub;

  beforeAll(async () => {
    [cheap, dear] = [stack.use(await startProviderStub()), stack.use(await startProviderStub())];
    for (const stub of [cheap, dear]) stub.answer(answer("Hello"));
    const routeAt = (provider: string, price: string) => ({
      provider,
      upstream_model: "m",
      prices_per_1m_usd: { input: price, output: price },
      hidden_input_tokens: 0,
    });
    const catalogDir = await writeCatalog(await temporaryFolder("catalog"), {
      providers: [stubProvider({ id: "cheap", base_url: cheap.url }), stubProvider({ id: "dear", base_url: dear.url })],
      models: {
        stub: [
          stubModel({ id: "stub/one", routes: [routeAt("cheap", "1.00")] }),
          stubModel({ id: "stub/two", routes: [routeAt("dear", "10.00")] }),
        ],
      },
    });
    const environment = { [stubKeyEnv]: "sk-stub" };
    fleet = stack.use(await Fleet.start({ gateways: 2, workers: 2, services: services?.urls ?? null, catalogDir, environment }));
    await fleet.runnable("stub/one");
    await fleet.runnable("stub/two");
  }, 60_000);
  afterAll(() => stack.disposeAsync(), 30_000);

  async function customer(credit: string): Promise<Customer> {
    const made = await fleet.operator().customer({ credit });
    await fleet.operator().call("PATCH", `/workspaces/${made.workspace}`, { early_access: ["routing"] });
    return made;
  }

  function ask({ keys }: Customer, gateway: number, fields: Record<string, unknown> = {}): Promise<Outcome> {
    const body = { model: "stub/one", models: ["stub/two"], max_tokens: 79, ...fields };
    return outcomeOf(chat({ url: fleet.url(gateway), key: keys[0]?.key ?? "", body }));
  }

  test("a failed model is replaced by the next one at every gateway, with its charge and its log", async () => {
    const paying = await customer("1");
    for (const gateway of [0, 1]) await until(async () => (await ask(paying, gateway)).status === 200);
    cheap.answer(error(500));
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(paying, index % 2)));
    cheap.answer(answer("Hello"));
    expect(tally(outcomes)).toEqual({ "200": 40 });
    expect(new Set(outcomes.map(({ headers }) => headers.get("x-route")))).toEqual(new Set(["dear/stub/two"]));
    const generations = new Set(outcomes.map(({ generation }) => generation));
    const rows = async () =>
      (await fleet.operator().log(`workspace=${paying.workspace}&limit=200`)).filter((row) => generations.has(row.generation_id));
    await until(async () => (await rows()).length === 40);
    for (const row of await rows())
      expect(row).toMatchObject({
        model: "stub/two",
        requested_model: "stub/one",
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
