/** HAProxy reads its configuration, then balances two gateways that restart under load. */
import { join } from "node:path";
import { Balancer } from "../../test/support/balancer/balancer.ts";
import { Fleet } from "../../test/support/servers/fleet.ts";
import { freshDatabase, testServices } from "../../test/support/servers/services.ts";
import { BalancedLoad } from "../../test/support/balancer/balanced-load.ts";
import { run, toolOf } from "./tool.ts";

const file = join("deploy", "haproxy", "haproxy.cfg");
const clients = { streams: 30, requests: 3 };
/** As deploy/compose/fleet.yaml has it. */
const leaveMs = 4_000;

export async function checkBalancer(): Promise<string> {
  const haproxy = toolOf("haproxy");
  const addresses = { GATEWAY_1: "127.0.0.1:8081", GATEWAY_2: "127.0.0.1:8082" };
  const output = await run([haproxy, "-c", "-f", file], { environment: addresses });
  if (/WARNING|ALERT/.test(output)) throw new Error(output);
  const services = await testServices();
  const accepted = "haproxy -c accepts it without a warning";
  if (services === null) return `${accepted}; no gateways behind it, for want of their servers`;
  const DATABASE_URL = await freshDatabase(services.urls.DATABASE_URL);
  const environment = { SHUTDOWN_LEAVE_MS: String(leaveMs) };
  await using fleet = await Fleet.start({ gateways: 2, workers: 2, services: { ...services.urls, DATABASE_URL }, environment });
  await using balancer = await Balancer.start({ path: haproxy, libraries: null }, fleet.gateways);
  const answers = await restartUnderLoad(fleet, balancer);
  return `${accepted}; ${answers} answers through it while both gateways restart, none refused or broken`;
}

/** @returns the number of answers @throws Error with those that were refused or broken */
async function restartUnderLoad(fleet: Fleet, balancer: Balancer): Promise<number> {
  const { keys } = await fleet.operator().customer({ credit: "100" });
  const load = new BalancedLoad({ url: balancer.url, key: keys[0]?.key ?? "", ...clients });
  for (const [place, { port, process: gateway }] of fleet.gateways.slice(0, 2).entries()) {
    const number = place === 0 ? 1 : 2;
    gateway.signal("SIGTERM");
    await balancer.saw(number, "DOWN");
    await gateway.exited;
    await fleet.addGateway(port);
    await balancer.saw(number, "UP");
  }
  await load[Symbol.asyncDispose]();
  const { failures, whole } = load;
  if (failures.length === 0) return whole;
  const some = failures.slice(0, 5).map(({ what }) => what);
  throw new Error(`${failures.length} requests of ${failures.length + whole} failed: ${some.join(", ")}`);
}
