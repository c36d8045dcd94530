/** A standby that lacks the last commits is promoted under load, while Redis stays as it was: Weir recovers without help. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { startNats } from "../../scripts/services/nats.ts";
import { startRedis } from "../../scripts/services/redis.ts";
import { startPostgresPair } from "../support/clusters/postgres-pair.ts";
import { chat, outcomeOf, tally, type Outcome } from "../support/gateway/requests.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { temporaryFolder, testServers } from "../support/servers/services.ts";
import { until } from "../support/until.ts";

const servers = await testServers();
const body = { model: "sandbox/echo", max_tokens: 1 };
/** May cost 0.15 USD. */
const dear = { ...body, messages: [{ role: "user", content: "x".repeat(600_000) }] };

test.skipIf(servers === null)(
  "after a promotion that lost commits no request spends what the ledger lost, and what was served is in the ledger once",
  async () => {
    if (servers === null) return;
    await using stack = new AsyncDisposableStack();
    const folder = await temporaryFolder("promoted");
    const [pair, nats, redis] = await Promise.all([
      startPostgresPair({ program: servers.postgres, folder: join(folder, "postgres") }),
      startNats({ program: servers.nats, folder: join(folder, "nats") }),
      startRedis({ program: servers.redis, folder: join(folder, "redis") }),
    ]);
    for (const one of [pair, nats, redis]) stack.use(one);
    const services = { DATABASE_URL: pair.url, NATS_URL: nats.url, REDIS_URL: redis.url };
    const fleet = stack.use(await Fleet.start({ services, workers: 2 }));
    const operator = fleet.operator();
    const [poor, busy] = await Promise.all([operator.customer({ credit: "0.02" }), operator.customer({ credit: "1" })]);
    const send = ({ keys }: typeof poor, sent: Record<string, unknown> = body): Promise<Outcome> =>
      outcomeOf(chat({ url: fleet.url(), key: keys[0]?.key ?? "", body: sent }));
    const rows = async ({ workspace }: typeof poor) => (await operator.log(`workspace=${workspace}&limit=1000`)).length;
    expect((await send(poor)).status).toBe(200);

    const answers: Outcome[] = [];
    const load = { isOn: true };
    const loading = (async () => {
      while (load.isOn && answers.length < 900) answers.push(await send(busy));
    })();
    await until(() => answers.length > 20);
    await pair.caughtUp();
    await pair.standby.stop();
    await operator.call("POST", "/credit", { workspace: poor.workspace, usd: "5", ref: "lost" });
    for (let more = 0; more < 3; more++) expect((await send(poor)).status).toBe(200);
    await until(async () => (await rows(poor)) === 4);
    expect(Number((await operator.show(poor.workspace)).available_usd)).toBeGreaterThan(5);

    await pair.primary.kill("SIGQUIT");
    await pair.standby.restart();
    await pair.promote();
    // The five USD are gone: from now on a request that needs them is refused.
    const refused: Outcome[] = [];
    await until(async () => refused.push(await send(poor, dear)) > 0 && refused.at(-1)?.status === 402);
    expect(Object.keys(tally(refused)).filter((one) => !one.startsWith("503"))).toEqual(["402 insufficient_credit"]);
    await until(async () => (await send(poor)).status === 200);
    await until(async () => (await rows(poor)) === 5);

    load.isOn = false;
    await loading;
    const served = answers.filter(({ status }) => status === 200).length;
    await until(async () => (await rows(busy)) === served);
    expect(Object.keys(tally(answers)).every((one) => one === "200" || one.startsWith("503"))).toBe(true);
    expect(fleet.workers.some(({ output }) => output.includes("ledger.went_back"))).toBe(true);
    for (const { workspace } of [poor, busy]) {
      await until(async () => (await operator.show(workspace)).reserved_usd === "0.000000000");
      const { balance_usd: balance, available_usd: available } = await operator.show(workspace);
      expect(available).toBe(balance);
    }
    expect(await operator.verify()).toMatchObject({ ok: true, broken: null });
  },
  60_000,
);
