/** What is shown as credit, and what follows it, while gateways of busy keys hold blocks: in one process, and over two gateways. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { formatUsd, parseUsd } from "../../src/kernel/money.ts";
import { connectClient } from "../support/counters/redis.ts";
import { chat as chatRequest, outcomeOf, tally } from "../support/gateway/requests.ts";
import type { Customer } from "../support/operator.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { chat } from "../support/providers/stub-answers.ts";
import { stubKeyEnv, writeStubCatalog } from "../support/providers/stub-catalog.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { testServices } from "../support/servers/services.ts";
import { StripeStub } from "../support/stripe/stripe-stub.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { type SharedFleet, prices_per_1m_usd, serviceKey, sharedFleet } from "./shared-fleet.ts";

setDefaultTimeout(60_000);
const services = await testServices();
/** Of a request with max_tokens 1. */
const cost = parseUsd("0.01");
const keys = 20;
const inCents = (nano: bigint): string => formatUsd(nano).slice(0, -7);

for (const mode of ["embedded", "distributed"] as const) {
  describe.skipIf(mode === "distributed" && services === null)(`${mode}, the credit of 20 busy keys`, () => {
    const stack = new AsyncDisposableStack();
    let stripe: StripeStub;
    let stub: ProviderStub;
    let fleet: Fleet;

    beforeAll(async () => {
      ({ fleet, stub, stripe } = mode === "embedded" ? await startAlone(stack) : await sharedFleet());
    }, 60_000);
    afterAll(() => stack.disposeAsync(), 30_000);

    const send = (customer: Customer, key: number, gateway = key % fleet.gateways.length) =>
      outcomeOf(chatRequest({ url: fleet.url(gateway), key: customer.keys[key]?.key ?? "", body: { max_tokens: 1 } }));

    async function metric(gateway: number, name: string): Promise<number> {
      const text = await (await fetch(`http://127.0.0.1:${fleet.gateways[gateway]?.metricsPort}/metrics`)).text();
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    }

    /** @param of all of them unless one is named */
    async function sumOf(name: string, of?: number): Promise<number> {
      const gateways = of === undefined ? fleet.gateways.map((_, gateway) => gateway) : [of];
      const values = await Promise.all(gateways.map((gateway) => metric(gateway, name)));
      return values.reduce((sum, value) => sum + value, 0);
    }

    /** Requests of all keys, one each at a time, until their gateways have blocks and all is booked. @returns what was spent */
    async function keepBusy(customer: Customer, gateway?: number): Promise<bigint> {
      let sent = 0n;
      await until(async () => {
        const outcomes = await Promise.all(customer.keys.map((_, key) => send(customer, key, gateway)));
        expect(tally(outcomes)).toEqual({ "200": keys });
        sent += BigInt(keys);
        return (await sumOf("weir_blocks_lent", gateway)) >= keys;
      }, 30_000);
      await until(async () => (await sumOf("weir_generations_unsettled")) === 0);
      return sent * cost;
    }

    /** The available credit of GET /key with every key, in nano-USD. */
    async function looks(customer: Customer, gateway?: number): Promise<bigint[]> {
      const each = customer.keys.map(async ({ key }, index) => {
        const url = fleet.url(gateway ?? index % fleet.gateways.length);
        const response = await fetch(`${url}/gpt/v1/key`, { headers: { authorization: `Bearer ${key}` } });
        const { data } = (await response.json()) as { data: { available_credit_usd?: number } };
        return parseUsd((data.available_credit_usd ?? Number.NaN).toFixed(9));
      });
      return Promise.all(each);
    }

    /** Acts while blocks are lent the whole time; otherwise tries again. */
    async function whileLent<T>(customer: Customer, act: (spent: bigint) => Promise<T>): Promise<T> {
      for (let spent = 0n; ;) {
        spent += await keepBusy(customer);
        const done = await act(spent);
        if ((await sumOf("weir_blocks_lent")) > 0) return done;
      }
    }

    test("is exactly the balance when nothing is open, and the balance minus the reservations of what is open", async () => {
      const customer = await fleet.operator().customer({ credit: "1000", keys });
      const { workspace } = customer;
      await whileLent(customer, async (spent) => {
        const balance = parseUsd("1000") - spent;
        expect(await looks(customer)).toEqual(customer.keys.map(() => balance));
        const shown = { balance_usd: formatUsd(balance), reserved_usd: formatUsd(0n), available_usd: formatUsd(balance) };
        expect(await fleet.operator().show(workspace)).toMatchObject(shown);
        expect(await fleet.operator().call("GET", `/credit?workspace=${workspace}`)).toEqual(shown);
      });
      const { balance_usd: before } = await fleet.operator().show(workspace);
      const calls = stub.calls.length;
      stub.hold();
      const open = Promise.all([0, 1, 2, 3, 4].map((key) => send(customer, key)));
      await until(() => stub.calls.length === calls + 5);
      const available = parseUsd(before) - 5n * cost;
      expect(await looks(customer)).toEqual(customer.keys.map(() => available));
      expect(await fleet.operator().show(workspace)).toMatchObject({ reserved_usd: "0.050000000" });
      stub.release();
      expect(tally(await open)).toEqual({ "200": 5 });
      await until(async () => (await sumOf("weir_generations_unsettled")) === 0);
      expect(await looks(customer)).toEqual(customer.keys.map(() => available));
    });

    test("is never shown higher than what is left, in 40 looks under load", async () => {
      const customer = await fleet.operator().customer({ credit: "1000", keys });
      await keepBusy(customer);
      const looked = new AbortController();
      let answered = 0n;
      const { balance_usd: balance } = await fleet.operator().show(customer.workspace);
      const load = customer.keys.map(async (_, key) => {
        while (!looked.signal.aborted) {
          expect((await send(customer, key)).status).toBe(200);
          answered++;
        }
      });
      for (let round = 0; round < 2; round++) {
        // A request costs all that it reserves.
        const most = parseUsd(balance) - answered * cost;
        for (const shown of await looks(customer)) expect(shown).toBeLessThanOrEqual(most);
      }
      looked.abort();
      await Promise.all(load);
      await until(async () => (await sumOf("weir_generations_unsettled")) === 0);
      expect(await looks(customer)).toEqual(customer.keys.map(() => parseUsd(balance) - answered * cost));
    });

    test("makes no saved card be charged, and no refund be refused, because gateways hold blocks", async () => {
      const customer = await fleet.operator().customer({ credit: "1", keys });
      const { workspace } = customer;
      const { id } = await fleet.operator().call<{ id: string }>("POST", "/top-ups", { workspace, usd: "100" });
      stripe.account.pay(stripe.account.pageOf(id));
      expect(await fleet.operator().call("GET", `/top-ups/${id}`)).toMatchObject({ state: "credited" });
      await whileLent(customer, async (spent) => {
        const settings = { threshold_usd: inCents(parseUsd("101") - spent), amount_usd: "50", monthly_cap_usd: "200" };
        await fleet.operator().call("PATCH", "/top-up-settings", { workspace, ...settings, enabled: true });
        const { data } = await fleet.operator().call<{ data: { kind: string }[] }>("GET", `/top-ups?workspace=${workspace}`);
        expect(data.map(({ kind }) => kind)).toEqual(["manual"]);
        await fleet.operator().call("PATCH", "/top-up-settings", { workspace, enabled: false });
      });
      await keepBusy(customer);
      const { balance_usd: balance } = await fleet.operator().show(workspace);
      await fleet.operator().call("POST", `/top-ups/${id}/refund`, { usd: inCents(parseUsd(balance) - parseUsd("1")) });
      expect(await looks(customer)).toEqual(customer.keys.map(() => parseUsd("1")));
      expect(await fleet.operator().verify()).toMatchObject({ ok: true });
    });

    test.skipIf(mode === "embedded")("lacks the whole blocks of a gateway that does not answer, until it does", async () => {
      const customer = await fleet.operator().customer({ credit: "1000", keys });
      const redis = await connectClient((await sharedFleet()).urls.REDIS_URL);
      stack.defer(() => redis.destroy());
      const frozen = fleet.gateways[1]?.process;
      const balance = parseUsd("1000") - (await keepBusy(customer, 1));
      frozen?.signal("SIGSTOP");
      try {
        const lent = BigInt((await redis.hGet(`{${customer.workspace}}:a`, "lent-held")) ?? "0");
        expect(lent).toBeGreaterThan(0n);
        expect(await looks(customer, 0)).toEqual(customer.keys.map(() => balance - lent));
      } finally {
        frozen?.signal("SIGCONT");
      }
      await until(async () => (await looks(customer, 0)).every((available) => available === balance), 30_000);
    });
  });
}

/** One process, with the same model as the fleet. */
async function startAlone(stack: AsyncDisposableStack): Promise<Pick<SharedFleet, "fleet" | "stub" | "stripe">> {
  const stripe = stack.use(new StripeStub());
  const stub = stack.use(await startProviderStub(chat("Hello")));
  const folder = stack.use(await temporaryFolder());
  const catalogDir = await writeStubCatalog(folder.path, { url: stub.url, model: { prices_per_1m_usd } });
  const environment = { [stubKeyEnv]: serviceKey, ...stripe.environment };
  const fleet = stack.use(await Fleet.start({ services: null, catalogDir, environment, metrics: true }));
  await fleet.runnable("stub/model");
  return { fleet, stub, stripe };
}
