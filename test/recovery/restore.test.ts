/** docs/how-to/back-up.md promises that a restored ledger counts again, and that a copied data folder works elsewhere. */
import { expect, test } from "bun:test";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { createClient } from "redis";
import { Fleet } from "../support/servers/fleet.ts";
import { ownServices } from "../support/servers/own-services.ts";
import { chat, outcomeOf } from "../support/gateway/requests.ts";
import { testServers } from "../support/servers/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const body = { model: "sandbox/echo", max_tokens: 1 };

/** Sends this many requests, and waits until each is answered and in the ledger. */
async function spend(fleet: Fleet, { workspace, key }: { workspace: string; key: string }, requests: number): Promise<void> {
  const rows = async () => (await fleet.operator().log(`workspace=${workspace}`)).length;
  const before = await rows();
  for (let n = 0; n < requests; n++) expect((await outcomeOf(chat({ url: fleet.url(), key, body }))).status).toBe(200);
  await until(async () => (await rows()) >= before + requests);
}

/** Stops the fleet as a supervisor does: gateways first, metering last. */
async function stop(fleet: Fleet): Promise<void> {
  const processes = [...fleet.gateways.map(({ process }) => process), ...fleet.workers, ...fleet.metering];
  for (const process of processes) {
    process.signal("SIGTERM");
    await process.exited;
  }
}

/** Copies a database that a fleet uses, which connects again afterwards. PostgreSQL copies none that has connections. */
async function copyInUse(server: postgres.Sql, { from, to }: { from: string; to: string }): Promise<void> {
  await server`ALTER DATABASE ${server(from)} ALLOW_CONNECTIONS false`;
  await until(async () => {
    const ended = await server`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${from}`;
    return ended.length === 0;
  });
  await server`CREATE DATABASE ${server(to)} TEMPLATE ${server(from)}`;
  await server`ALTER DATABASE ${server(from)} ALLOW_CONNECTIONS true`;
  await server`ALTER DATABASE ${server(to)} ALLOW_CONNECTIONS true`;
}

// test/recovery/promoted.test.ts has a Redis that was left as it was.
test.skipIf((await testServers()) === null)(
  "a fleet whose database was restored and whose Redis was emptied spends what the restored ledger has, and no more",
  async () => {
    await using stack = new AsyncDisposableStack();
    const opened = await ownServices();
    if (opened === null) throw new Error("There are no servers");
    const { urls } = stack.use(opened);
    const { path: dataDir } = stack.use(await temporaryFolder());
    const first = stack.use(await Fleet.start({ services: urls, dataDir }));
    const { workspace, keys } = await first.operator().customer({ credit: "0.01" });
    const client = { workspace, key: keys[0]?.key ?? "" };
    await spend(first, client, 3);
    const { balance_usd: saved } = await first.operator().show(workspace);

    const name = new URL(urls.DATABASE_URL).pathname.slice(1);
    const server = postgres(urls.DATABASE_URL, { max: 1, database: "postgres", onnotice: () => {} });
    stack.defer(() => server.end());
    await copyInUse(server, { from: name, to: "backup" });
    const add = () => first.operator().call("POST", "/credit", { workspace, usd: "5", ref: "after the backup" });
    // The copy ended the fleet's connections.
    await until(() =>
      add().then(
        () => true,
        () => false,
      ),
    );
    await until(async () => (await outcomeOf(chat({ url: first.url(), key: client.key, body }))).status === 200);
    await spend(first, client, 4);
    await stop(first);

    await server`DROP DATABASE ${server(name)}`;
    await server`CREATE DATABASE ${server(name)} TEMPLATE backup`;
    const redis = await createClient({ url: urls.REDIS_URL }).connect();
    await redis.flushDb();
    redis.destroy();

    const second = stack.use(await Fleet.start({ services: urls, dataDir }));
    // The five USD that were added after the backup are gone: a request that needs them is refused.
    const dear = { ...body, max_tokens: 4_096, messages: [{ role: "user", content: "x".repeat(600_000) }] };
    let status = 503;
    // A request for a workspace that is being loaded may be refused once.
    await until(async () => {
      ({ status } = await outcomeOf(chat({ url: second.url(), key: client.key, body: dear })));
      return status !== 503;
    });
    expect(status).toBe(402);
    expect(second.workers.some(({ output }) => output.includes("ledger.went_back"))).toBe(false);
    await spend(second, client, 1);
    await until(async () => (await second.operator().show(workspace)).reserved_usd === "0.000000000");
    // Settlements after the backup that spools and streams still have are booked again; the credit is gone.
    const { balance_usd: balance, available_usd: available } = await second.operator().show(workspace);
    expect(Number(balance)).toBeLessThan(Number(saved));
    expect(available).toBe(balance);
    expect(await second.operator().verify()).toMatchObject({ ok: true, broken: null });
  },
  60_000,
);

test("a data folder that was copied while Weir was stopped works in another place", async () => {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  const first = stack.use(await Fleet.start({ services: null, inTest: true, dataDir: join(folder, "first") }));
  const { workspace, keys } = await first.operator().customer({ credit: "1" });
  const client = { workspace, key: keys[0]?.key ?? "" };
  await spend(first, client, 3);
  const { balance_usd: saved } = await first.operator().show(workspace);
  await first[Symbol.asyncDispose]();
  await cp(join(folder, "first"), join(folder, "second"), { recursive: true });

  const second = stack.use(await Fleet.start({ services: null, inTest: true, dataDir: join(folder, "second") }));
  expect(await second.operator().show(workspace)).toMatchObject({ balance_usd: saved, available_usd: saved });
  await spend(second, client, 1);
  expect(await second.operator().verify()).toMatchObject({ ok: true, broken: null });
}, 60_000);
