/** A process is killed between the charge of a card at Stripe and its commit: the next start credits the payment, once. */
import { expect, test } from "bun:test";
import { Fleet } from "../support/servers/fleet.ts";
import { delivery, StripeStub } from "../support/stripe/stripe-stub.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

test("a kill -9 between a charge and its commit makes one payment and one credit", async () => {
  await using stack = new AsyncDisposableStack();
  const { path: dataDir } = stack.use(await temporaryFolder());
  const stub = stack.use(new StripeStub());
  const plan = { services: null, dataDir, environment: stub.environment };
  const first = stack.use(await Fleet.start(plan));
  const { id: workspace } = await first.operator().call<{ id: string }>("POST", "/workspaces", { name: "paying" });
  const { id } = await first.operator().call<{ id: string }>("POST", "/top-ups", { workspace, usd: "20" });
  stub.account.pay(stub.account.pageOf(id));
  const event = stub.event("checkout.session.completed");
  const statuses = await Promise.all(Array.from({ length: 20 }, () => fetch(delivery(event, { url: first.url() }))));
  expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]));

  stub.faults.set("POST /v1/payment_intents", ["hangs"]);
  const carriedOut = new Promise<void>((resolve) => {
    stub.onCarriedOut = (operation) => operation === "POST /v1/payment_intents" && resolve();
  });
  const settings = { workspace, enabled: true, threshold_usd: "30", amount_usd: "50", monthly_cap_usd: "60" };
  const switched = first
    .operator()
    .call("PATCH", "/top-up-settings", settings)
    .catch(() => null);
  await carriedOut;
  await first.gateways[0]?.process.kill();
  await switched;

  const second = stack.use(await Fleet.start({ ...plan, inTest: true }));
  await until(async () => (await second.operator().show(workspace)).balance_usd === "70.000000000");
  await fetch(delivery(stub.event("payment_intent.succeeded"), { url: second.url() }));
  expect(stub.account.charged()).toBe(7_000);
  expect((await second.operator().show(workspace)).balance_usd).toBe("70.000000000");
  expect(await second.operator().verify()).toMatchObject({ ok: true });
}, 60_000);
