/** docs/how-to/deploy.md promises that no request fails behind the balancer while a gateway leaves, comes back, or dies between two checks. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Balancer, testBalancer } from "../support/balancer/balancer.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { freshDatabase, testServices } from "../support/servers/services.ts";
import { BalancedLoad } from "../support/balancer/balanced-load.ts";
import { until } from "../support/until.ts";

const services = await testServices();
const program = await testBalancer();
/** Above the time in which the balancer notices, as docs/how-to/deploy.md advises: two checks, a second apart. */
const leaveMs = 4_000;

describe.skipIf(services === null || program === null)("behind HAProxy with deploy/haproxy/haproxy.cfg", () => {
  const stack = new AsyncDisposableStack();
  let fleet: Fleet;
  let balancer: Balancer;
  let load: BalancedLoad;

  beforeAll(async () => {
    if (services === null || program === null) throw new Error("There are no servers");
    const DATABASE_URL = await freshDatabase(services.urls.DATABASE_URL);
    const environment = { SHUTDOWN_LEAVE_MS: String(leaveMs), LOG_LEVEL: "fatal" };
    const urls = { ...services.urls, DATABASE_URL };
    fleet = stack.use(await Fleet.start({ gateways: 2, metering: 0, services: urls, environment }));
    balancer = stack.use(await Balancer.start(program, fleet.gateways));
    const { keys } = await fleet.operator().customer({ credit: "100" });
    load = stack.use(new BalancedLoad({ url: balancer.url, key: keys[0]?.key ?? "", streams: 6, requests: 2 }));
    await until(() => load.whole > 20);
  }, 90_000);
  afterAll(() => stack.disposeAsync(), 30_000);

  const gateway = (number: number) => {
    const found = fleet.gateways[number];
    if (found === undefined) throw new Error(`There is no gateway ${number}`);
    return found;
  };

  test("no request is refused and no stream breaks while a gateway drains, and while it comes back", async () => {
    const { port, process } = gateway(0);
    process.signal("SIGTERM");
    expect(await balancer.saw(1, "DOWN")).toContain("code: 503");
    expect(process.running).toBe(true);
    await process.exited;
    const alone = load.whole;
    await until(() => load.whole > alone + 20);
    await fleet.addGateway(port);
    await balancer.saw(1, "UP");
    expect(load.failures).toEqual([]);
  }, 90_000);

  test("a request that begins after a gateway died is served by the other one, also before the balancer knows", async () => {
    await gateway(1).process.kill();
    const diedAt = performance.now();
    const whole = load.whole;
    await until(() => load.whole > whole + 50);
    await balancer.saw(2, "DOWN");
    expect(load.failures.filter(({ sentAt }) => sentAt > diedAt)).toEqual([]);
    // The answers that it was sending when it died; none of them was asked for again.
    expect(load.failures.length).toBeLessThanOrEqual(8);
  }, 60_000);
});
