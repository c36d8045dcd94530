/** A single process is killed under load: its next start still has every confirmed answer, and the rate windows. */
import { expect, test } from "bun:test";
import { Fleet } from "../support/servers/fleet.ts";
import { Load } from "../support/gateway/load.ts";
import { chat, outcomeOf } from "../support/gateway/requests.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const body = { model: "sandbox/echo", max_tokens: 1 };

test("a kill -9 loses no charge, leaves no hold and resets no rate window", async () => {
  await using stack = new AsyncDisposableStack();
  const { path: dataDir } = stack.use(await temporaryFolder());
  const first = stack.use(await Fleet.start({ services: null, dataDir }));
  const { workspace, keys } = await first.operator().customer({ credit: "100", keys: 10 });
  const limited = await first.operator().customer({ credit: "1", requestsPerMinute: 3 });
  const ask = (fleet: Fleet) => outcomeOf(chat({ url: fleet.url(), key: limited.keys[0]?.key ?? "", body }));
  const window = [await ask(first), await ask(first), await ask(first), await ask(first)];
  expect(window.map(({ status }) => status)).toEqual([200, 200, 200, 429]);

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
  expect(await second.operator().verify()).toMatchObject({ ok: true, broken: null });
}, 60_000);
