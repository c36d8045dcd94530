import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { exchange, freePort } from "../../scripts/services/ports.ts";
import { startPostgres } from "../../scripts/services/postgres.ts";
import { startRedis } from "../../scripts/services/redis.ts";
import { ownServices } from "../support/servers/own-services.ts";
import { freshDatabase, temporaryFolder, testServers } from "../support/servers/services.ts";

setDefaultTimeout(30_000);
const own = await ownServices();
afterAll(() => own?.[Symbol.asyncDispose]());

describe.skipIf(own === null)("test services", () => {
  test("each server answers, dies by kill -9, and restarts on the same port", async () => {
    for (const server of own === null ? [] : [own.nats, own.redis, own.postgres]) {
      const { port, pid, url } = server;
      await server.kill("SIGKILL");
      expect(server.pid).toBe(0);
      await server.restart();
      expect(server.pid).not.toBe(pid);
      expect(server).toMatchObject({ port, url });
    }
  });

  test("PostgreSQL still has what it committed before a kill -9", async () => {
    const url = await freshDatabase(own?.urls.DATABASE_URL ?? "");
    const before = postgres(url, { max: 1, onnotice: () => {} });
    await before`CREATE TABLE kept (id int)`;
    await before`INSERT INTO kept VALUES (1)`;
    await own?.postgres.kill("SIGKILL");
    await before.end({ timeout: 0 });
    await own?.postgres.restart();
    const after = postgres(url, { max: 1, onnotice: () => {} });
    expect(await after`SELECT id FROM kept`).toMatchObject([{ id: 1 }]);
    await after.end();
  });

  test("data that initdb did not finish, because the start ended meanwhile, stop no later start", async () => {
    const { path = "", libraries = null } = (await testServers())?.postgres ?? {};
    const [programs, folder] = [await temporaryFolder("programs"), await temporaryFolder("postgres")];
    await chmod(programs, 0o755);
    await symlink(path, join(programs, "postgres"));
    const ended = '#!/bin/sh\nmkdir -p "$2" && echo 17 > "$2/PG_VERSION"\nexit 1\n';
    await writeFile(join(programs, "initdb"), ended, { mode: 0o755 });
    const begun = startPostgres({ program: { path: join(programs, "postgres"), libraries }, folder, template: null });
    await expect(begun).rejects.toThrow("Cannot make a PostgreSQL data folder");
    await using server = await startPostgres({ program: { path, libraries }, folder, template: null });
    expect(server.pid).toBeGreaterThan(0);
  });

  test("a frozen server can be stopped", async () => {
    const program = (await testServers())?.redis ?? { path: "", libraries: null };
    await using redis = await startRedis({ program, folder: await temporaryFolder("redis") });
    await redis.kill("SIGSTOP");
    await redis.stop();
    expect(redis.pid).toBe(0);
  });

  test("a Redis Cluster refuses a command over two slots", async () => {
    const program = (await testServers())?.redis ?? { path: "", libraries: null };
    await using redis = await startRedis({ program, folder: await temporaryFolder("redis"), cluster: true });
    const password = new URL(redis.url).password;
    const send = `AUTH ${password}\r\nMSET {a}x 1 {b}x 2\r\nSET {a}x 1\r\n`;
    expect(await exchange({ port: redis.port, send, expect: /\+OK\r\n-CROSSSLOT.*\r\n\+OK/s })).toContain("CROSSSLOT");
  });

  test("no server can be used without its password", async () => {
    const { redis, nats, postgres: database } = own ?? {};
    await exchange({ port: redis?.port ?? 0, send: "PING\r\n", expect: /-NOAUTH/ });
    await exchange({ port: nats?.port ?? 0, send: "CONNECT {}\r\nPING\r\n", expect: /-ERR 'Authorization Violation'/ });
    const stranger = new URL(database?.url ?? "");
    stranger.password = "";
    const sql = postgres(stranger.href, { max: 1 });
    await expect(sql`SELECT 1`.execute()).rejects.toThrow(/password/);
    await sql.end({ timeout: 0 });
  });
});

test("a port that was just chosen is not chosen again before its server listens", async () => {
  const ports = new Set<number>();
  for (let count = 0; count < 300; count++) ports.add(await freePort());
  expect(ports.size).toBe(300);
});
