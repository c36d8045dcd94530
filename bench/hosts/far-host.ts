/**
 * The far host: the three servers with admission and metering beside them, and a link to each server for those on the near host.
 * GET / of the printed port answers its addresses and process ids; GET /?rtt=20 makes each link so long, in milliseconds there and back.
 */
import { join } from "node:path";
import { findServers } from "../../scripts/services/find-servers.ts";
import { shareCore } from "../../scripts/services/share-core.ts";
import { startServices, type ServiceUrls } from "../../scripts/services.ts";
import { Child } from "../processes/child.ts";
import { DelayedLink } from "./delayed-link.ts";

export interface FarHost {
  /** As the near host reaches the servers. */
  urls: ServiceUrls;
  pids: Record<string, number>;
}

const [address = "", folder = "", catalogDir = "", workers = "1"] = process.argv.slice(2);
const servers = await findServers();
if ("missing" in servers) throw new Error(`Cannot start the servers: ${servers.missing}`);
await using stack = new AsyncDisposableStack();
const services = stack.use(await startServices({ servers, folder: join(folder, "services"), durable: true, template: null }));
const environment = { ...services.urls, CATALOG_DIR: catalogDir, DATA_DIR: join(folder, "far") };
const start = (name: string, kind: string): Child =>
  stack.use(new Child({ name, arguments: ["workers/main.ts", kind], environment }));
const metering = start("metering", "metering");
const admission = Array.from({ length: Number(workers) }, (_, n) => start(`admission ${n + 1}`, "admission"));
shareCore([services.nats, services.redis, ...admission].map(({ pid }) => pid));
const links: DelayedLink[] = [];

async function reached(url: string): Promise<string> {
  const made = new URL(url);
  const link = stack.use(await DelayedLink.open(address, Number(made.port)));
  links.push(link);
  made.hostname = address;
  made.port = String(link.port);
  return made.href;
}

const { DATABASE_URL, NATS_URL, REDIS_URL } = services.urls;
const urls = {
  DATABASE_URL: await reached(DATABASE_URL),
  NATS_URL: await reached(NATS_URL),
  REDIS_URL: await reached(REDIS_URL),
};
const { nats, redis, postgres } = services;
const pids = Object.fromEntries([...admission, metering, nats, redis, postgres].map(({ name, pid }) => [name, pid]));
const control = Bun.serve({
  hostname: address,
  port: 0,
  fetch(request) {
    const rtt = new URL(request.url).searchParams.get("rtt");
    if (rtt !== null) for (const link of links) link.onewayMs = Number(rtt) / 2;
    return Response.json({ urls, pids } satisfies FarHost);
  },
});
console.log(`listening ${control.port}`);
await new Promise((resolve) => process.once("SIGTERM", resolve));
await stack.disposeAsync();
process.exit();
