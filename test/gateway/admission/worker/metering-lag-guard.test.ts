import { describe, expect, test } from "bun:test";
import { MeteringLagGuard } from "../../../../src/gateway/admission/worker/metering-lag-guard.ts";
import { ManualClock } from "../../../support/clock.ts";
import { FakeBus } from "../../../support/fake-bus.ts";

function open(messages: number) {
  const clock = new ManualClock();
  const bus = new FakeBus();
  bus.backlogNow = async () => ({ messages });
  return { clock, bus, watch: new MeteringLagGuard(bus, clock) };
}

describe("the watch over charges on their way to the ledger", () => {
  test("closes admission when a backlog has not moved for five minutes, and opens it with the first that moves", async () => {
    const { clock, bus, watch } = open(1);
    await clock.pass(300_000);
    expect(watch.behind()).toBe(false);
    await clock.pass(1);
    expect(watch.behind()).toBe(true);
    bus.broadcast("settled");
    expect(watch.behind()).toBe(false);
  });

  test("stays open while nothing waits, however quiet it is", async () => {
    const { clock, watch } = open(0);
    await clock.pass(3_600_000);
    expect(watch.behind()).toBe(false);
  });

  test("closes where nobody can tell whether something waits", async () => {
    const { clock, bus, watch } = open(0);
    bus.backlogNow = () => Promise.reject(new Error("the bus is down"));
    await clock.pass(300_001);
    expect(watch.behind()).toBe(true);
    bus.backlogNow = async () => ({ messages: 0 });
    await clock.pass(5_000);
    expect(watch.behind()).toBe(false);
  });

  test("ends with its worker, also when it is just asking", async () => {
    const { clock, bus, watch } = open(0);
    const { promise, resolve } = Promise.withResolvers<{ messages: number }>();
    bus.backlogNow = () => promise;
    await clock.pass(5_000);
    watch[Symbol.dispose]();
    resolve({ messages: 0 });
    await clock.pass(0);
    expect(clock.pending).toBe(0);
  });
});
