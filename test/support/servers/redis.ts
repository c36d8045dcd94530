/** A Redis for one test, which may empty, stop and kill it. */
import { startRedis } from "../../../scripts/services/redis.ts";
import type { Server } from "../../../scripts/services/server.ts";
import { temporaryFolder, testServers } from "./services.ts";

/** null if this machine has none; the reason is printed. */
export async function openTestRedis(options: { cluster?: true } = {}): Promise<Server | null> {
  const servers = await testServers();
  if (servers === null) return null;
  return startRedis({ program: servers.redis, folder: await temporaryFolder("redis"), ...options });
}
