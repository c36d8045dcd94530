import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SettlementPublisher } from "../../../src/gateway/journal/publisher.ts";
import { partitionOf, decodeSettlements, encodeSettled, encodeSettlement } from "../../../src/gateway/journal/settlement.ts";
import {
  confirmationMs,
  confirmationMsMax,
  publishesInFlightMax,
  settlementBatchBytesMax,
  settlementBatchMax,
  settlementPauseMs,
} from "../../../src/gateway/limits.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { ManualClock, settled } from "../../support/clock.ts";
import { settlement } from "../../support/gateway/settlements.ts";
import { FakeBus, type StoredEvent } from "../../support/servers/fake-bus.ts";

function open() {
  const clock = new ManualClock();
  const bus = new FakeBus();
  const confirmed: string[] = [];
  const publisher = new SettlementPublisher({
    bus,
    clock,
    log: silentLog,
    onConfirmed: (generations) => confirmed.push(...generations),
  });
  const add = (model = "acme/one", workspace = "ws-1"): string => {
    const ended = settlement({ workspace, key: "key-1", model });
    publisher.add(ended, encodeSettlement(ended));
    return ended.generation;
  };
  const confirm = (...events: (StoredEvent | undefined)[]): void =>
    bus.broadcast("settled", encodeSettled(events.map((event) => contentOf(event).batch)));
  return { clock, bus, confirmed, publisher, add, confirm };
}

function contentOf(event: StoredEvent | undefined): { batch: string; generations: string[] } {
  if (!event) throw new Error("The test needs an event");
  const { batch, settlements } = decodeSettlements(event.payload);
  return { batch, generations: settlements.map(({ generation }) => generation) };
}

describe("the settlement publisher", () => {
  test("the publisher batches settlements in order, at most 400 and 256 KiB an event", async () => {
    const letters = fc.constantFrom("a", "é", "漢");
    const models = fc.array(
      fc.tuple(letters, fc.integer({ min: 1, max: 4_000 })).map(([letter, times]) => letter.repeat(times)),
      { minLength: 1, maxLength: 850, size: "max" },
    );
    await fc.assert(
      fc.asyncProperty(models, async (list) => {
        const { clock, bus, publisher, add } = open();
        const added = list.map((model) => add(model));
        await clock.pass(settlementPauseMs);
        expect(bus.stored.flatMap((event) => contentOf(event).generations)).toEqual(added);
        for (const event of bus.stored) {
          expect(event.payload.length).toBeLessThanOrEqual(settlementBatchBytesMax);
          expect(contentOf(event).generations.length).toBeLessThanOrEqual(settlementBatchMax);
        }
        publisher[Symbol.dispose]();
      }),
      { numRuns: 15, verbose: 1 },
    );
  }, 30_000);

  test("the publisher sends the first settlement at once, and those of the next 50 ms together", async () => {
    const { clock, bus, add } = open();
    add();
    await settled();
    expect(bus.stored.length).toBe(1);
    const together = [add(), add()];
    await clock.pass(settlementPauseMs - 1);
    expect(bus.stored.length).toBe(1);
    together.push(add());
    await clock.pass(1);
    expect(contentOf(bus.stored[1]).generations).toEqual(together);
  });

  test("the publisher sends a full event before the pause ends", async () => {
    const { bus, add } = open();
    add();
    await settled();
    for (let number = 0; number < settlementBatchMax; number++) add();
    await settled();
    expect(bus.stored.length).toBe(2);
  });

  test("the publisher sends all settlements of a workspace through one partition", async () => {
    const { clock, bus, add } = open();
    bus.partitionsNow = 3;
    const workspaces = Array.from({ length: 30 }, (_, number) => `ws-${number}`);
    for (let round = 0; round < 3; round++) {
      for (const workspace of workspaces) add("acme/one", workspace);
      await clock.pass(settlementPauseMs);
    }
    const taken = bus.stored.map(({ payload, partition }) => {
      const { settlements } = decodeSettlements(payload);
      return { partition, others: settlements.filter(({ workspace }) => partitionOf(workspace, 3) !== partition).length };
    });
    expect(taken.filter(({ others }) => others > 0)).toEqual([]);
    expect(new Set(taken.map(({ partition }) => partition))).toEqual(new Set([0, 1, 2]));
    expect(bus.stored.flatMap((event) => contentOf(event).generations).length).toBe(90);
  });

  test("what a partition does not confirm goes through the next one, in case that nobody consumes it", async () => {
    const { clock, bus, add } = open();
    bus.partitionsNow = 2;
    add();
    await clock.pass(confirmationMs);
    const [first, second] = bus.stored;
    expect(second?.partition).toBe(1 - (first?.partition ?? 0));
    bus.partitionsNow = 1;
    await clock.pass(2 * confirmationMs);
    expect(bus.stored[2]?.partition).toBe(0);
  });

  test("settlements are done when metering confirms them, in any order, and are reported once", async () => {
    const { clock, bus, confirmed, publisher, add, confirm } = open();
    const added: string[] = [];
    for (let event = 0; event < 3; event++) {
      added.push(add());
      await clock.pass(settlementPauseMs);
    }
    const [first, second, third] = bus.stored;
    confirm(third, first);
    confirm(third);
    expect(confirmed).toEqual([added[2] ?? "", added[0] ?? ""]);
    const early = publisher.flushed(1);
    await clock.pass(1);
    expect(await early).toBe(false);
    confirm(second);
    expect(new Set(confirmed)).toEqual(new Set(added));
    expect(await publisher.flushed(0)).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test("the publisher tries until the stream accepts the settlements, and loses none", async () => {
    const { clock, bus, confirmed, publisher, add, confirm } = open();
    const { store } = bus;
    bus.store = () => Promise.reject(new Error("the stream is full"));
    const added = Array.from({ length: 5 }, () => add());
    await clock.pass(60_000);
    expect(bus.stored).toEqual([]);
    bus.store = store;
    added.push(add());
    await clock.pass(5_000);
    expect(new Set(bus.stored.flatMap((event) => contentOf(event).generations))).toEqual(new Set(added));
    confirm(...bus.stored);
    expect(confirmed.length).toBe(6);
    expect(await publisher.flushed(0)).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test("after a lost acknowledgement the publisher repeats the same id, which the stream may drop as a duplicate", async () => {
    const { clock, bus, add } = open();
    const { store } = bus;
    bus.store = async (event) => {
      await store(event);
      bus.store = store;
      throw new Error("the acknowledgement was lost");
    };
    add();
    await clock.pass(1_000);
    const [first, second] = bus.stored;
    expect(bus.stored.length).toBe(2);
    expect(second?.id).toBe(first?.id ?? "");
  });

  test("unconfirmed settlements are published again under a new id, with growing pauses, until they are confirmed", async () => {
    const { clock, bus, confirmed, add, confirm } = open();
    const generation = add();
    await settled();
    const times: number[] = [];
    const { store } = bus;
    bus.store = async (event) => (times.push(clock.monotonic()), store(event));
    await clock.pass(1_200_000);
    const waits = times.map((time, index) => time - (times[index - 1] ?? 0));
    const doubled = waits.map((_, index) => Math.min(confirmationMs * 2 ** index, confirmationMsMax));
    expect(waits).toEqual(doubled);
    expect(waits.at(-1)).toBe(confirmationMsMax);
    expect(new Set(bus.stored.map(({ id }) => id)).size).toBe(1 + times.length);
    expect(new Set(bus.stored.map((event) => contentOf(event).batch)).size).toBe(1);
    confirm(bus.stored.at(-1));
    expect(confirmed).toEqual([generation]);
    const published = times.length;
    await clock.pass(1_200_000);
    expect(times.length).toBe(published);
    expect(clock.pending).toBe(0);
  });

  test("the publisher has at most four events in flight, including repetitions", async () => {
    const { clock, bus, add } = open();
    let inFlight = 0;
    let most = 0;
    const { store } = bus;
    bus.store = async (event) => {
      most = Math.max(most, ++inFlight);
      await settled();
      await store(event);
      inFlight--;
    };
    for (let number = 0; number < 10 * settlementBatchMax; number++) add();
    for (let turn = 0; turn < 20; turn++) await settled();
    expect(bus.stored.length).toBe(10);
    clock.advance(confirmationMs);
    for (let turn = 0; turn < 20; turn++) await settled();
    expect(bus.stored.length).toBe(20);
    expect(most).toBe(publishesInFlightMax);
  });

  test("settlements are not delayed by an event that the stream never acknowledges", async () => {
    const { clock, bus, add } = open();
    const { store } = bus;
    let calls = 0;
    bus.store = (event) => (++calls <= publishesInFlightMax ? new Promise(() => {}) : store(event));
    for (let number = 0; number < 5 * settlementBatchMax; number++) add();
    await clock.pass(15_000);
    expect(bus.stored.length).toBe(5);
  });

  test("settlements confirmed between two attempts are not published again", async () => {
    const { clock, bus, confirmed, add, confirm } = open();
    const { store } = bus;
    bus.store = async (event) => {
      await store(event);
      throw new Error("the acknowledgement was lost");
    };
    add();
    await settled();
    confirm(bus.stored[0]);
    await clock.pass(60_000);
    expect(bus.stored.length).toBe(1);
    expect(confirmed.length).toBe(1);
    expect(clock.pending).toBe(0);
  });

  test("a shutdown waits until the ledger has all settlements or the time is over", async () => {
    const { clock, bus, publisher, add, confirm } = open();
    add();
    await settled();
    const flushed = publisher.flushed(10_000);
    await clock.pass(500);
    confirm(...bus.stored);
    expect(await flushed).toBe(true);

    add();
    const late = publisher.flushed(10_000);
    await clock.pass(10_000);
    expect(await late).toBe(false);
    publisher[Symbol.dispose]();
    expect(clock.pending).toBe(0);
  });

  test("a closed publisher leaves no timer and publishes nothing", async () => {
    const { clock, bus, publisher, add } = open();
    bus.store = () => Promise.reject(new Error("the stream is full"));
    add();
    await settled();
    publisher[Symbol.dispose]();
    add();
    await settled();
    expect(clock.pending).toBe(0);
    let published = 0;
    bus.store = async () => void published++;
    await clock.pass(60_000);
    expect(published).toBe(0);
  });

  test("the publisher ignores confirmations that are unreadable or of another batch", async () => {
    const { bus, confirmed, add } = open();
    add();
    await settled();
    for (const text of ["", "{}", "[1]", '["another batch"]']) bus.broadcast("settled", new TextEncoder().encode(text));
    expect(confirmed).toEqual([]);
  });
});
