/**
 * The three servers for tests, started once per test process at first use and stopped at its end. If DATABASE_URL, NATS_URL and
 * REDIS_URL are set, their servers are used. Other processes then share them, so every test creates its own data: a database by
 * `freshDatabase`, streams and workspaces by new ids.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findServers, type Servers } from "../../../scripts/services/find-servers.ts";
import { createDatabase } from "../../../scripts/services/postgres.ts";
import { startServices, type ServiceUrls } from "../../../scripts/services.ts";
import { atEnd } from "../processes/at-end.ts";

/** For tests that kill no server, because other tests use the same ones. */
export interface TestServices {
  urls: ServiceUrls;
}

let servers: ReturnType<typeof findServers> | null = null;
let services: Promise<TestServices | null> | null = null;

/** null if this machine has none; the reason is printed. @throws Error in that case if CI is set, because CI skips nothing */
export function testServices(): Promise<TestServices | null> {
  services ??= openServices();
  return services;
}

/** The programs, for a test that starts its own servers; null as above. */
export async function testServers(): Promise<Servers | null> {
  servers ??= findServers();
  const found = await servers;
  if (!("missing" in found)) return found;
  if (process.env["CI"]) throw new Error(`No test services, and CI is set: ${found.missing}`);
  console.error(`Tests that need servers are skipped: ${found.missing}`);
  return null;
}

/** A new empty database on the server of `url`. */
export async function freshDatabase(url: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await createDatabase(url, name);
  const fresh = new URL(url);
  fresh.pathname = `/${name}`;
  return fresh.href;
}

/** A temporary folder that is removed when this process ends. */
export async function temporaryFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `weir-${name}-`));
  await chmod(folder, 0o711); // PostgreSQL may run as another user.
  atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

async function openServices(): Promise<TestServices | null> {
  const { DATABASE_URL, NATS_URL, REDIS_URL } = process.env;
  if (DATABASE_URL && NATS_URL && REDIS_URL) return { urls: { DATABASE_URL, NATS_URL, REDIS_URL } };
  const found = await testServers();
  if (found === null) return null;
  const started = await startServices({ servers: found, folder: await temporaryFolder("services") });
  atEnd(() => started[Symbol.asyncDispose]());
  return { urls: started.urls };
}
