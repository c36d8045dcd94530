import { describe, expect, test } from "bun:test";
import { MeteringLagGuard } from "../../../../src/gateway/admission/worker/guards.ts";
import { ManualClock } from "../../../support/clock.ts";
import { FakeBus } from "../../../support/servers/fake-bus.ts";

function open(messages: number) {
  const clock = new ManualClock();
  const bus = new FakeBus();
  bus.backlogNow = async () => ({ messages });
  return { clock, bus, guard: new MeteringLagGuard(bus, clock) };
}

describe("the guard against metering lag", () => {
  test("the guard closes admission after five minutes without progress, and opens it with the next progress", async () => {
    const { clock, bus, guard } = open(1);
    await clock.pass(300_000);
    expect(guard.behind()).toBe(false);
    await clock.pass(1);
    expect(guard.behind()).toBe(true);
    bus.broadcast("settled");
    expect(guard.behind()).toBe(false);
  });

  test("admission stays open while there is no backlog", async () => {
    const { clock, guard } = open(0);
    await clock.pass(3_600_000);
    expect(guard.behind()).toBe(false);
  });

  test("the guard closes admission when the backlog cannot be read", async () => {
    const { clock, bus, guard } = open(0);
    bus.backlogNow = () => Promise.reject(new Error("the bus is down"));
    await clock.pass(300_001);
    expect(guard.behind()).toBe(true);
    bus.backlogNow = async () => ({ messages: 0 });
    await clock.pass(5_000);
    expect(guard.behind()).toBe(false);
  });

  test("the lag is the time without progress while settlements wait, and none while none waits", async () => {
    const { clock, bus, guard } = open(3);
    await clock.pass(20_000);
    expect([guard.lagMs, guard.waiting]).toEqual([20_000, 3]);
    bus.broadcast("settled");
    expect(guard.lagMs).toBe(0);
    await clock.pass(7_000);
    expect(guard.lagMs).toBe(7_000);
    bus.backlogNow = () => Promise.reject(new Error("the bus is down"));
    await clock.pass(5_000);
    expect([guard.lagMs, guard.waiting]).toEqual([12_000, NaN]);
    bus.backlogNow = async () => ({ messages: 0 });
    await clock.pass(7_000);
    expect([guard.lagMs, guard.waiting]).toEqual([0, 0]);
  });

  test("the guard ends with its worker, also during a read of the backlog", async () => {
    const { clock, bus, guard } = open(0);
    const { promise, resolve } = Promise.withResolvers<{ messages: number }>();
    bus.backlogNow = () => promise;
    await clock.pass(5_000);
    guard[Symbol.dispose]();
    resolve({ messages: 0 });
    await clock.pass(0);
    expect(clock.pending).toBe(0);
  });
});
