/** What is shown as credit: the balance minus what open requests reserve, whatever is lent in blocks. */
import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BusUnavailableError } from "../../../src/backing/bus.ts";
import { AvailableCredit, countedCredit } from "../../../src/gateway/admission/available-credit.ts";
import { hashOf } from "../../support/gateway/key-records.ts";
import { reservedAmount } from "../../support/gateway/admission-worker.ts";
import { BlockModel, type ModelStep } from "../../support/gateway/block-model.ts";
import { LendingWorld } from "../../support/gateway/worlds/lending-world.ts";
import { endOf } from "../../support/test-gateway.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

let disposals = new AsyncDisposableStack();
afterEach(async () => {
  await disposals.disposeAsync();
  disposals = new AsyncDisposableStack();
});

const credit = 100_000;

async function world(gateways = 1): Promise<LendingWorld> {
  const { path } = disposals.use(await temporaryFolder());
  return disposals.use(new LendingWorld({ folder: path, credit, gateways }));
}

/** Credit for this many requests. */
const creditFor = (requests: number): bigint => reservedAmount * BigInt(requests);

/** Counts questions to all gateways from now on. */
function countSurveys({ worker: { bus } }: LendingWorld): () => number {
  const survey = bus.survey.bind(bus);
  let count = 0;
  bus.survey = (service, payload) => (count++, survey(service, payload));
  return () => count;
}

describe("the credit of a workspace with busy keys", () => {
  test("is exactly its balance when nothing is open, though the counters hold a block", async () => {
    const lending = await world();
    await lending.warmUp();
    const { balance, reserved } = await lending.account();
    expect(reserved).toBeGreaterThan(0n);
    const exact = { balance, reserved: 0n, available: balance, keySpent: creditFor(10), month: "2026-11" };
    const key = lending.record.id;
    expect(await lending.gateway().admission.position("ws-1", key)).toEqual(exact);
    const { bus, clock, counters } = lending.worker;
    const inMetering = new AvailableCredit({ bus, clock, read: (asked) => countedCredit(asked, counters) });
    expect(await inMetering.position({ workspace: "ws-1", key })).toEqual(exact);
  });

  test("lacks exactly what open requests reserve, by blocks of two gateways and one by one, and their costs once they are booked", async () => {
    const lending = await world(2);
    for (const gateway of lending.gateways) await lending.warmUp(gateway);
    const shown = async () => (await lending.gateway(1).admission.position("ws-1", null))?.available;
    const { balance } = await lending.account();
    const open = [];
    for (const gateway of [...lending.gateways, lending.gateway()]) open.push(await lending.begin(gateway));
    lending.gateway(1).admission.blocks.endAll();
    open.push(await lending.begin(lending.gateway(1)));
    expect(open.map(({ block }) => typeof block)).toEqual(["string", "string", "string", "undefined"]);
    expect(await shown()).toBe(balance - creditFor(4));
    for (const [index, one] of open.entries()) {
      void lending.gateway(index % 2).journal.end(endOf(one, { promptTokens: 1, completionTokens: 1 }));
    }
    await lending.pass(100);
    expect(await shown()).toBe(balance - 4n * 3_000n);
  });

  test("is shown with what each key's open requests reserve, with and without blocks, until they are booked", async () => {
    const lending = await world(2);
    await lending.warmUp(lending.gateway(0));
    const open = [await lending.begin(lending.gateway(0)), await lending.begin(lending.gateway(1))];
    const ofKey = async () => (await lending.gateway(1).admission.reservedByKey("ws-1"))?.get(lending.record.id);
    expect(open.map(({ block }) => typeof block)).toEqual(["string", "undefined"]);
    expect(await ofKey()).toBe(creditFor(2));
    expect(await lending.gateway().admission.reservedByKey("ws-2")).toEqual(new Map());
    for (const [index, one] of open.entries())
      void lending.gateway(index).journal.end(endOf(one, { promptTokens: 1, completionTokens: 1 }));
    await lending.pass(100);
    expect(await ofKey()).toBeUndefined();
    lending.worker.bus.survey = () => Promise.reject(new BusUnavailableError("The bus has just come up"));
    expect(await lending.gateway().admission.reservedByKey("ws-1")).toBeNull();
  });

  test("lacks what an ended block still keeps for an open answer, and nothing as soon as that is booked", async () => {
    const lending = await world();
    await lending.warmUp();
    const open = await lending.begin();
    await lending.pass(12_000);
    const { balance } = await lending.account();
    const shown = async () => (await lending.gateway().admission.position("ws-1", null))?.available;
    expect(await shown()).toBe(balance - reservedAmount);
    void lending.gateway().journal.end(endOf(open, { promptTokens: 1, completionTokens: 1 }));
    await lending.pass(10);
    expect((await lending.account()).reserved).toBe(reservedAmount);
    expect(await shown()).toBe(balance - 3_000n);
  });

  test("lacks the whole block of a gateway that does not answer, and of no other", async () => {
    const lending = await world(2);
    for (const gateway of lending.gateways) await lending.warmUp(gateway, 12);
    const { balance, reserved } = await lending.account();
    const { bus } = lending.worker;
    const survey = bus.survey.bind(bus);
    bus.survey = async (service, payload) => (await survey(service, payload)).slice(1);
    const shown = await lending.gateway(1).admission.position("ws-1", null);
    const ofTheFirst = lending
      .gateway(0)
      .admission.blocks.uses("ws-1")
      .map(({ block }) => block);
    const { blocks } = await lending.worker.counters.read("ws-1", null, ofTheFirst);
    const whole = [...blocks.values()].reduce((sum, amount) => sum + amount, 0n);
    expect(whole).toBeGreaterThan(0n);
    expect(whole).toBeLessThan(reserved);
    expect(shown).toMatchObject({ reserved: whole, available: balance - whole });
  });

  test("is not known while gateways cannot be asked", async () => {
    const lending = await world();
    await lending.warmUp();
    lending.worker.bus.survey = () => Promise.reject(new BusUnavailableError("The bus has just come up"));
    expect(await lending.gateway().admission.position("ws-1", null)).toBeNull();
  });

  test("asks nobody where nothing is lent", async () => {
    const lending = await world();
    const asked = countSurveys(lending);
    await lending.call();
    expect(await lending.gateway().admission.position("ws-1", null)).toMatchObject({ available: creditFor(credit - 1) });
    await lending.warmUp();
    await lending.pass(3_000);
    expect((await lending.account()).reserved).toBe(0n);
    await lending.gateway().admission.position("ws-1", null);
    expect(asked()).toBe(0);
  });

  test("costs the gateways two questions however many look at once, and few a second however often they do", async () => {
    const lending = await world();
    await lending.warmUp();
    const asked = countSurveys(lending);
    const { admission } = lending.gateway();
    const { balance } = await lending.account();
    const look = async () => expect(await admission.position("ws-1", null)).toMatchObject({ available: balance });
    await Promise.all(Array.from({ length: 200 }, look));
    expect(asked()).toBe(2);
    let looks = 0;
    const until = lending.worker.clock.monotonic() + 1_000;
    const keepLooking = async () => {
      for (; lending.worker.clock.monotonic() < until; looks++) await look();
    };
    const looking = Promise.all(Array.from({ length: 20 }, keepLooking));
    for (let passed = 0; passed < 1_500; passed += 10) await lending.worker.clock.pass(10);
    await looking;
    expect(looks).toBeGreaterThan(200);
    expect(asked()).toBeLessThanOrEqual(2 + 44);
  });

  test("may be taken away down to what open requests reserve: gateways return their blocks first, and are lent none meanwhile", async () => {
    const lending = await world();
    await lending.warmUp();
    const { admission } = lending.gateway();
    await lending.begin();
    expect((await lending.account()).reserved).toBeGreaterThan(reservedAmount);
    expect(await admission.held("ws-1")).toBe(reservedAmount);
    expect((await lending.account()).reserved).toBe(reservedAmount);
    expect((await lending.gateway().admit(hashOf("key"), lending.record)).reservation.block).toBeUndefined();
  });

  test("is never shown higher than it was when the counters were read, whatever happens meanwhile, and exactly where no block is used meanwhile", async () => {
    const amount = fc.bigInt({ min: 1n, max: 40n });
    const step: fc.Arbitrary<ModelStep> = fc.record({
      kind: fc.constantFrom("admit", "lend", "take", "take", "giveBack", "book", "book", "confirm", "return", "die", "credit"),
      amount,
      pick: fc.nat(),
    });
    const between = fc.array(step, { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.array(between, { maxLength: 8 }), async (before, meanwhile) => {
        const model = new BlockModel();
        for (const one of before) model.do(one);
        const { shown, truth, isQuiet } = await model.look(meanwhile);
        expect(shown).toBeLessThanOrEqual(truth);
        if (isQuiet) expect(shown).toBe(truth);
      }),
      { numRuns: 2_000 },
    );
  });
});
