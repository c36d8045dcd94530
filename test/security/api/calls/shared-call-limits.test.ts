/** The limit of a key holds for all gateways of a fleet together. */
import { expect, test } from "bun:test";
import type { Bus } from "../../../../src/backing/bus.ts";
import { toolsCallsShareMs } from "../../../../src/accounts/limits.ts";
import { rateWindowMs } from "../../../../src/backing/limits.ts";
import { sharedCallLimits } from "../../../../src/security/api/calls/shared-call-limits.ts";
import { ManualClock } from "../../../support/clock.ts";

test("a gateway gets the other's counts a quarter of a second later, and neither counts its own twice", () => {
  const clock = new ManualClock();
  const listeners: ((payload: Uint8Array) => void)[] = [];
  const bus: Pick<Bus, "broadcast" | "listen"> = {
    broadcast: (_topic, payload = new Uint8Array()) => listeners.forEach((listener) => listener(payload)),
    listen: (_topic, listener) => (listeners.push(listener), { [Symbol.dispose]() {} }),
  };
  const [one, other] = [sharedCallLimits(bus, clock), sharedCallLimits(bus, clock)];
  for (let call = 0; call < 4; call++) one.rates.count("key", 10);
  for (let call = 0; call < 5; call++) other.rates.count("key", 10);
  clock.advance(toolsCallsShareMs);
  one.rates.count("key", 10);
  expect(() => one.rates.count("key", 10)).toThrow("its limit is 10 calls a minute");
  clock.advance(toolsCallsShareMs);
  expect(() => other.rates.require("key")).toThrow("its limit is 10 calls a minute");
  clock.advance(rateWindowMs);
  one.rates.count("key", 10);
  expect([one.rates.knows("key"), other.rates.knows("another")]).toEqual([true, false]);
});
