/** A single process is killed under load: its next start still has every confirmed answer, the rate windows and the idempotency keys. */
import { expect, test } from "bun:test";
import { Fleet } from "../support/servers/fleet.ts";
import { Load } from "../support/gateway/load.ts";
import { chat, outcomeOf } from "../support/gateway/requests.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const body = { model: "sandbox/echo", max_tokens: 1 };

/** A streamed request with an idempotency key. */
function keyed(fleet: Fleet, key: string, order: keyof typeof orders): Promise<Response> {
  return fetch(`${fleet.url()}/gpt/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": order },
    body: JSON.stringify({ model: "sandbox/echo", input: orders[order], stream: true }),
  });
}

const orders = { answered: "Hello", cut: "sandbox: tokens=4000 gap_ms=20" } as const;

test("a kill -9 loses no charge, leaves no hold, resets no rate window and frees no idempotency key", async () => {
  await using stack = new AsyncDisposableStack();
  const { path: dataDir } = stack.use(await temporaryFolder());
  const first = stack.use(await Fleet.start({ services: null, dataDir }));
  const { workspace, keys } = await first.operator().customer({ credit: "100", keys: 10 });
  const limited = await first.operator().customer({ credit: "1", requestsPerMinute: 3 });
  const ask = (fleet: Fleet) => outcomeOf(chat({ url: fleet.url(), key: limited.keys[0]?.key ?? "", body }));
  const window = [await ask(first), await ask(first), await ask(first), await ask(first)];
  expect(window.map(({ status }) => status)).toEqual([200, 200, 200, 429]);

  const buyer = await first.operator().customer({ credit: "1" });
  const order = (fleet: Fleet, name: keyof typeof orders) => keyed(fleet, buyer.keys[0]?.key ?? "", name);
  const [answered, cut] = [await order(first, "answered"), await order(first, "cut")];
  await answered.text();
  await cut.body?.getReader().read();

  const load = new Load({ urls: [first.url()], keys: keys.map(({ key }) => key), connections: 16, model: "sandbox/echo" });
  await until(() => load.succeeded.length > 500);
  await first.gateways[0]?.process.kill();
  await load.stop();

  const second = stack.use(await Fleet.start({ services: null, inTest: true, dataDir }));
  expect(await ask(second)).toMatchObject({ status: 429, code: "rate_limited" });
  await until(async () => (await second.operator().show(workspace)).reserved_usd === "0.000000000");
  const charged = new Set<string>();
  for (let before = ""; ;) {
    const page = await second.operator().log(`workspace=${workspace}&limit=1000${before && `&before=${before}`}`);
    for (const { generation_id, cost_usd } of page) if (cost_usd !== "0.000000000") charged.add(generation_id);
    before = page.at(-1)?.generation_id ?? "";
    if (page.length < 1_000) break;
  }
  expect(load.succeeded.filter((generation) => !charged.has(generation))).toEqual([]);

  for (const [name, { headers }] of [["answered", answered] as const, ["cut", cut] as const]) {
    await until(async () => (await outcomeOf(order(second, name))).code === "idempotency_spent");
    expect(await outcomeOf(order(second, name))).toMatchObject({ generation: headers.get("x-generation-id") });
  }
  const rows = await second.operator().log(`workspace=${buyer.workspace}`);
  expect(rows.map(({ code }) => code)).toEqual(["internal_error", null]);
  expect(await second.operator().verify()).toMatchObject({ ok: true, broken: null });
}, 60_000);
