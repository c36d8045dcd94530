import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findHere, findServers } from "../../scripts/services/find-servers.ts";
import { environmentOf, neighbour } from "../../scripts/services/program.ts";
import { startRedis } from "../../scripts/services/redis.ts";
import { temporaryFolder, testServers } from "../support/servers/services.ts";

setDefaultTimeout(60_000);
const servers = await testServers();
const path = process.env["PATH"];
afterEach(() => {
  process.env["PATH"] = path;
});

/** A folder of PATH with a program that acts by its own name, and a link to it by the name `link`, as Debian installs Redis. */
async function linked({ link, target, acts }: { link: string; target: string; acts: string }): Promise<string> {
  const folder = await temporaryFolder("linked");
  mkdirSync(join(folder, "bin"));
  const wrong = `echo "RDB ERROR DETECTED"; [ "$1" = --version ]`;
  writeFileSync(join(folder, target), `#!/bin/sh\ncase "$0" in */${link}) ${acts};; esac\n${wrong}\n`, { mode: 0o755 });
  symlinkSync(join(folder, target), join(folder, "bin", link));
  process.env["PATH"] = `${join(folder, "bin")}:${path}`;
  return join(folder, "bin", link);
}

test("a program is run under the name by which it was found, which Debian's redis-server, a link, needs to be a server", async () => {
  const link = await linked({ link: "redis-server", target: "redis-check-rdb", acts: 'echo "Redis server v=7"; exit 0' });
  const found = await findHere("redis-server", () => true);
  expect(found).toEqual({ path: link, libraries: null });
  expect(spawnSync(found?.path ?? "", [], { encoding: "utf8" }).stdout).toBe("Redis server v=7\n");
});

test("a folder of PATH that is relative to this one works from the folder of the server too", async () => {
  const link = await linked({ link: "redis-server", target: "redis-check-rdb", acts: "exit 0" });
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      "-e",
      `const { findHere } = await import("${import.meta.dir}/../../scripts/services/find-servers.ts"); console.log((await findHere("redis-server", () => true)).path)`,
    ],
    { cwd: join(link, "../.."), env: { ...process.env, PATH: `bin:${path}` }, encoding: "utf8" },
  );
  expect([status, realpathSync(join(stdout.trim(), ".."))]).toEqual([0, realpathSync(join(link, ".."))]);
});

test("a link to postgres alone is a whole PostgreSQL: initdb is next to what it leads to", async () => {
  const folder = await temporaryFolder("postgres");
  mkdirSync(join(folder, "bin"));
  for (const name of ["postgres", "initdb"]) writeFileSync(join(folder, name), "#!/bin/sh\n", { mode: 0o755 });
  symlinkSync(join(folder, "postgres"), join(folder, "bin/postgres"));
  const program = { path: join(folder, "bin/postgres"), libraries: null };
  expect(realpathSync(neighbour(program, "initdb").path)).toBe(realpathSync(join(folder, "initdb")));
});

describe.skipIf(servers === null)("with the real servers", () => {
  test("Redis starts where redis-server is a link to a program that looks at its own name", async () => {
    const redis = servers?.redis ?? { path: "", libraries: null };
    const libraries = environmentOf(redis)["LD_LIBRARY_PATH"] ?? "";
    const acts = `export LD_LIBRARY_PATH="${libraries}"; exec ${redis.path} "$@"`;
    const link = await linked({ link: "redis-server", target: "redis-check-rdb", acts });
    const found = await findServers();
    if ("missing" in found) throw new Error(found.missing);
    expect(found.redis.path).toBe(link);
    await using server = await startRedis({ program: found.redis, folder: await temporaryFolder("redis") });
    expect(server.pid).toBeGreaterThan(0);
  });
});
