/** What SECURITY.md asks of a proxy, of HAProxy with deploy/haproxy/haproxy.cfg. `npm run check-deploy` tries nginx in the same way. */
import { expect, test } from "bun:test";
import { Balancer, testBalancer } from "../support/balancer/balancer.ts";
import { proxyFaults, StandInGateway } from "../support/balancer/proxied.ts";

const program = await testBalancer();

test.skipIf(program === null)(
  "HAProxy awaits bodies, closes /metrics in every spelling, and limits addresses but no streams and files",
  async () => {
    if (program === null) throw new Error("There is no balancer");
    await using gateway = new StandInGateway();
    await using balancer = await Balancer.start(program, [gateway, gateway]);
    expect(await proxyFaults(balancer.url, gateway)).toEqual([]);
  },
);
