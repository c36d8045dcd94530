/** The rate window on the real clock: a key with 60 requests a minute, flooded at two gateways. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Fleet } from "../support/servers/fleet.ts";
import type { Customer } from "../support/operator.ts";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import { chat, outcomeOf, tally, type Outcome } from "../support/gateway/requests.ts";
import { workbench } from "../support/gateway/workbench.ts";
import { testServices } from "../support/servers/services.ts";
import { until } from "../support/until.ts";
import { sharedFleet } from "./shared-fleet.ts";

const services = await testServices();
const windowMs = 60_000;

describe.skipIf(services === null)("with two gateways and three workers", () => {
  let fleet: Fleet;
  let customer: Customer;

  beforeAll(async () => {
    ({ fleet } = await sharedFleet());
    customer = await fleet.operator().customer({ credit: "10", requestsPerMinute: 60 });
  }, 60_000);

  function ask(gateway: number): Promise<Outcome> {
    const body = { model: "sandbox/echo", max_tokens: 1 };
    return outcomeOf(chat({ url: fleet.url(gateway), key: customer.keys[0]?.key ?? "", body }));
  }

  /** Sends requests to both gateways until `done`. */
  async function hammer(done: (outcome: Outcome) => boolean): Promise<void> {
    let stopped = false;
    const loops = [0, 1, 0, 1].map(async (gateway) => {
      while (!stopped) {
        const outcome = await ask(gateway);
        if (done(outcome)) stopped = true;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
    await Promise.all(loops);
  }

  test(
    "a key with 60 requests a minute is never admitted more often in any 60 s, and a retry after exactly Retry-After is admitted",
    async () => {
      let admitted = 0;
      await hammer(({ status }) => {
        if (status === 200) admitted++;
        return status === 429;
      });
      expect(admitted).toBe(60);
      const refused = await ask(1);
      const answeredAt = performance.now();
      expect(refused).toMatchObject({ status: 429, code: "rate_limited" });
      expect(refused.headers.get("x-ratelimit-remaining-requests")).toBe("0");
      const retryAfterSeconds = Number(refused.headers.get("retry-after"));
      const exactMs = Number(refused.headers.get("retry-after-ms"));
      expect(Math.ceil(exactMs / 1_000)).toBe(retryAfterSeconds);
      await until(() => performance.now() - answeredAt > exactMs - 1_000, windowMs + 5_000);
      expect((await ask(0)).status).toBe(429);
      await until(() => performance.now() - answeredAt >= retryAfterSeconds * 1_000, windowMs + 5_000);
      expect((await ask(0)).status).toBe(200);
      const again = performance.now();
      await hammer(() => performance.now() - again > 500);
      await expectNoFullerWindow();
    },
    windowMs + 60_000,
  );

  test("a member of the Workbench is admitted 60 times at both gateways together, and the log has the member", async () => {
    const { workspace } = await fleet.operator().customer({ credit: "1" });
    const run = (gateway: number): Promise<Outcome> => {
      const body = { model: "sandbox/echo", max_tokens: 1 };
      const [url, operator] = [fleet.url(gateway), fleet.operator(gateway)];
      return outcomeOf(workbench({ url, operator, workspace, as: "owner@example.test", body }));
    };
    const outcomes = await Promise.all(Array.from({ length: 70 }, (_, n) => run(n % 2)));
    expect(tally(outcomes)).toEqual({ "200": 60, "429 rate_limited": 10 });
    const rows = await expectExactLedger(fleet.operator(), { workspace }, { credit: "1", generations: 60 });
    expect(new Set(rows.map(({ key_id, member }) => `${key_id} ${member}`))).toEqual(new Set(["null owner@example.test"]));
  }, 60_000);

  /** Counts by the admission times in the request log, which are those of the counters' clock. */
  async function expectNoFullerWindow(): Promise<void> {
    await until(async () => (await fleet.operator().show(customer.workspace)).reserved_usd === "0.000000000");
    const rows = await fleet.operator().log(`workspace=${customer.workspace}&limit=1000`);
    const times = rows.map(({ at }) => Date.parse(at)).toSorted((a, b) => a - b);
    expect(times.length).toBeGreaterThan(60);
    for (const [index, time] of times.entries()) {
      const sixtyFirst = times[index + 60];
      if (sixtyFirst !== undefined) expect(sixtyFirst - time).toBeGreaterThanOrEqual(windowMs);
    }
  }
});
