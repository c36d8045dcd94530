import { expect, test } from "bun:test";
import { healthRoutes } from "../src/health.ts";
import { Secret } from "../src/kernel/secret.ts";
import { systemClock } from "../src/kernel/clock.ts";
import { mayReadMetrics } from "../src/metrics-access.ts";

const token = new Secret("the-operators-token");
const asked = (headers: Record<string, string> = {}) => new Request("http://weir/metrics", { headers });

test.each(["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])("a scraper at %s may read the metrics", (address) => {
  expect(mayReadMetrics(asked(), address, token)).toBe(true);
});

test.each(["10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", "1.127.0.0", null])(
  "one at %p may not, but with the token",
  (address) => {
    expect(mayReadMetrics(asked(), address, token)).toBe(false);
    expect(mayReadMetrics(asked({ authorization: "Bearer another-token-as-lon" }), address, token)).toBe(false);
    expect(mayReadMetrics(asked({ authorization: "Bearer the-operators-token" }), address, token)).toBe(true);
  },
);

test.each(["x-forwarded-for", "forwarded", "via", "x-real-ip"])(
  "nor may whoever comes by a proxy on this machine: %s",
  (name) => {
    expect(mayReadMetrics(asked({ [name]: "203.0.113.7" }), "127.0.0.1", token)).toBe(false);
  },
);

test("whoever may not is shown nothing", async () => {
  const app = healthRoutes({ checks: {}, serving: () => true, mayReadMetrics: () => false, clock: systemClock });
  const response = await app.handle(asked());
  expect([response.status, await response.text()]).toEqual([403, "Forbidden\n"]);
});
