/**
 * A single process is killed with SIGKILL once, under load, while a card is charged, and while the second model of a routed request answers.
 * Its next start has every confirmed answer, the rate windows, the idempotency keys, the payment, and the model that answered. One kill is
 * enough for all: a process costs more to start than these requests.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Load } from "../support/gateway/load.ts";
import { chat, outcomeOf } from "../support/gateway/requests.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { chat as answer, error } from "../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { delivery, StripeStub } from "../support/stripe/stripe-stub.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

interface World {
  first: Fleet;
  dataDir: string;
  stripe: StripeStub;
  failing: ProviderStub;
  answering: ProviderStub;
}

/** What is under way when the process is killed. */
interface Begun {
  /** Resolves when the clients have noticed the kill. */
  ended(): Promise<unknown>;
  check(second: Fleet): Promise<void>;
}

describe("after a kill -9", () => {
  const stack = new AsyncDisposableStack();
  const begun = new Map<string, Begun>();
  let second: Fleet;

  /** They begin in the opposite order: the load takes the CPU until the kill, and its rate window lasts a minute. */
  const scenes: Record<string, (world: World) => Promise<Begun>> = {
    "no charge is lost, no hold is left, no rate window is reset and no idempotency key is free": loadSandbox,
    "the model that was answering is charged and logged, beside the requested one": answerByRoute,
    "a charge without its commit makes one payment and one credit": chargeCard,
  };

  beforeAll(async () => {
    const { path } = stack.use(await temporaryFolder());
    const dataDir = join(path, "data");
    const stripe = stack.use(new StripeStub());
    const [failing, answering] = [stack.use(await startProviderStub()), stack.use(await startProviderStub())];
    const catalogDir = await writeRoutes(join(path, "catalog"), { failing, answering });
    const environment = { [stubKeyEnv]: "sk-stub", ...stripe.environment };
    const plan = { services: null, dataDir, catalogDir, environment };
    const first = stack.use(await Fleet.start(plan));
    await first.runnable(["stub/one", "stub/two"]);
    for (const [name, begin] of Object.entries(scenes).toReversed()) {
      begun.set(name, await begin({ first, dataDir, stripe, failing, answering }));
    }
    await first.gateways[0]?.process.kill();
    for (const { ended } of begun.values()) await ended();
    second = stack.use(await Fleet.start({ ...plan, inTest: true }));
  }, 120_000);
  afterAll(() => stack.disposeAsync(), 30_000);

  for (const name of Object.keys(scenes)) test(name, async () => await begun.get(name)?.check(second), 60_000);
});

/** The card is charged at Stripe, and the process dies before it knows. */
async function chargeCard({ first, stripe }: World): Promise<Begun> {
  const { id: workspace } = await first.operator().call<{ id: string }>("POST", "/workspaces", { name: "paying" });
  const { id } = await first.operator().call<{ id: string }>("POST", "/top-ups", { workspace, usd: "20" });
  stripe.account.pay(stripe.account.pageOf(id));
  const event = stripe.event("checkout.session.completed");
  const statuses = await Promise.all(Array.from({ length: 20 }, () => fetch(delivery(event, { url: first.url() }))));
  expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]));

  stripe.faults.set("POST /v1/payment_intents", ["hangs"]);
  const carriedOut = new Promise<void>((resolve) => {
    stripe.onCarriedOut = (operation) => operation === "POST /v1/payment_intents" && resolve();
  });
  const settings = { workspace, enabled: true, threshold_usd: "30", amount_usd: "50", monthly_cap_usd: "60" };
  const switched = first
    .operator()
    .call("PATCH", "/top-up-settings", settings)
    .catch(() => null);
  await carriedOut;
  return {
    ended: () => switched,
    async check(second) {
      await until(async () => (await second.operator().show(workspace)).balance_usd === "70.000000000");
      await fetch(delivery(stripe.event("payment_intent.succeeded"), { url: second.url() }));
      expect(stripe.account.charged()).toBe(7_000);
      expect((await second.operator().show(workspace)).balance_usd).toBe("70.000000000");
      expect(await second.operator().verify()).toMatchObject({ ok: true });
    },
  };
}

/** The first model fails, and the second one answers for a minute. */
async function answerByRoute({ first, dataDir, failing, answering }: World): Promise<Begun> {
  const { workspace, keys } = await first.operator().customer({ credit: "1", earlyAccess: ["routing"] });
  failing.answer(error(500));
  answering.answer(answer("", { pieces: Array.from({ length: 600 }, () => "some words "), gapMs: 100 }));
  const body = { model: "stub/one", models: ["stub/two"], stream: true };
  const response = await chat({ url: first.url(), key: keys[0]?.key ?? "", body });
  expect(response.headers.get("x-route")).toBe("answering/stub/two");
  // The test reads the answer: the runtime may collect an unread one, and the gateway then sees a client that has left.
  const reading = response.text().catch(() => "");
  // The first such line marks the call's beginning; a later one counts tokens of the answer.
  await until(() => /"delivered":\[\["[^"]+",\d+,\d+,\d+,[1-9]\d*\]\].*"model":"stub\/two"/.test(spoolOf(dataDir)));
  return {
    ended: () => reading,
    async check(second) {
      const row = async () => (await second.operator().log(`workspace=${workspace}`))[0];
      await until(async () => (await row()) !== undefined);
      const logged = { prompt_tokens: 0, completion_tokens: 0, ...(await row()) };
      expect(logged).toMatchObject({ model: "stub/two", requested_model: "stub/one", provider: "answering", status: 500 });
      const tokens = logged.prompt_tokens + logged.completion_tokens;
      expect(logged.completion_tokens).toBeGreaterThan(0);
      expect(logged).toMatchObject({ cost_usd: ((tokens * 3) / 1_000_000).toFixed(9) });
      expect(await second.operator().verify()).toMatchObject({ ok: true });
    },
  };
}

const sandbox = { model: "sandbox/echo", max_tokens: 1 };
const orders = { answered: "Hello", cut: "sandbox: tokens=4000 gap_ms=20" } as const;

async function loadSandbox({ first }: World): Promise<Begun> {
  const { workspace, keys } = await first.operator().customer({ credit: "100", keys: 10 });
  const limited = await first.operator().customer({ credit: "1", requestsPerMinute: 3 });
  const ask = (fleet: Fleet) => outcomeOf(chat({ url: fleet.url(), key: limited.keys[0]?.key ?? "", body: sandbox }));
  const window = [await ask(first), await ask(first), await ask(first), await ask(first)];
  expect(window.map(({ status }) => status)).toEqual([200, 200, 200, 429]);

  const buyer = await first.operator().customer({ credit: "1" });
  const order = (fleet: Fleet, name: keyof typeof orders) => keyed(fleet, buyer.keys[0]?.key ?? "", name);
  const [answered, cut] = [await order(first, "answered"), await order(first, "cut")];
  await answered.text();
  await cut.body?.getReader().read();

  const load = new Load({ urls: [first.url()], keys: keys.map(({ key }) => key), connections: 16, model: "sandbox/echo" });
  await until(() => load.succeeded.length > 500, 30_000);
  return {
    ended: () => load.stop(),
    async check(second) {
      expect(await ask(second)).toMatchObject({ status: 429, code: "rate_limited" });
      await until(async () => (await second.operator().show(workspace)).reserved_usd === "0.000000000");
      const charged = await chargedOf(second, workspace);
      expect(load.succeeded.filter((generation) => !charged.has(generation))).toEqual([]);
      for (const [name, { headers }] of [["answered", answered] as const, ["cut", cut] as const]) {
        await until(async () => (await outcomeOf(order(second, name))).code === "idempotency_spent");
        expect(await outcomeOf(order(second, name))).toMatchObject({ generation: headers.get("x-generation-id") });
      }
      const rows = await second.operator().log(`workspace=${buyer.workspace}`);
      expect(rows.map(({ code }) => code)).toEqual(["internal_error", null]);
      expect(await second.operator().verify()).toMatchObject({ ok: true, broken: null });
    },
  };
}

/** A streamed request with an idempotency key. */
function keyed(fleet: Fleet, key: string, order: keyof typeof orders): Promise<Response> {
  return fetch(`${fleet.url()}/gpt/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": order },
    body: JSON.stringify({ model: "sandbox/echo", input: orders[order], stream: true }),
  });
}

/** The workspace's generations with a cost. */
async function chargedOf(fleet: Fleet, workspace: string): Promise<Set<string>> {
  const charged = new Set<string>();
  for (let before = ""; ;) {
    const page = await fleet.operator().log(`workspace=${workspace}&limit=1000${before && `&before=${before}`}`);
    for (const { generation_id, cost_usd } of page) if (cost_usd !== "0.000000000") charged.add(generation_id);
    before = page.at(-1)?.generation_id ?? "";
    if (page.length < 1_000) return charged;
  }
}

function writeRoutes(folder: string, providers: Pick<World, "failing" | "answering">): Promise<string> {
  const at = (provider: string, price: string) => ({
    provider,
    upstream_model: "m",
    prices_per_1m_usd: { input: price, output: price },
  });
  return writeCatalog(folder, {
    providers: Object.entries(providers).map(([id, { url }]) => stubProvider({ id, base_url: url })),
    models: {
      stub: [
        stubModel({ id: "stub/one", routes: [at("failing", "100.00")] }),
        stubModel({ id: "stub/two", routes: [at("answering", "3.00")] }),
      ],
    },
  });
}

function spoolOf(dataDir: string): string {
  const files = [...new Bun.Glob("**/*.jsonl").scanSync(dataDir)];
  return files.map((file) => readFileSync(join(dataDir, file), "utf8")).join("");
}
