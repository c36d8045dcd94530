import { afterEach, describe, expect, test } from "bun:test";
import { CountersUnavailableError } from "../../../src/backing/counters.ts";
import { blockLifeMs } from "../../../src/backing/limits.ts";
import { KeyDemand } from "../../../src/gateway/admission/lent-blocks.ts";
import { blockReportedMs, blockKeptPauseMs, blockUnusedPauseMsMax } from "../../../src/gateway/admission/limits.ts";
import { forwardTo, reservedAmount } from "../../support/gateway/admission-worker.ts";
import { hashOf } from "../../support/gateway/key-records.ts";
import { LendingWorld } from "../../support/gateway/worlds/lending-world.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { endOf } from "../../support/test-gateway.ts";

let disposals = new AsyncDisposableStack();
afterEach(async () => {
  await disposals.disposeAsync();
  disposals = new AsyncDisposableStack();
});

async function world(options: Omit<ConstructorParameters<typeof LendingWorld>[0], "folder">): Promise<LendingWorld> {
  const { path } = disposals.use(await temporaryFolder());
  return disposals.use(new LendingWorld({ folder: path, ...options }));
}

describe("blocks at a gateway", () => {
  test("a busy key far from its limits is decided without a worker, and each decision shows the window", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp();
    const asked = lending.asked("admit");
    const windows = [];
    for (let count = 0; count < 3; count++) {
      windows.push((await lending.gateway().admit(hashOf("key"), lending.record)).window.remaining);
    }
    expect(lending.asked("admit")).toBe(asked);
    const [first = 0] = windows;
    expect(windows).toEqual([first, first - 1, first - 2]);
    expect(first).toBeLessThan(10_000);
  });

  test.each([
    ["with a low limit", { key: { requestsPerMinute: 599 } }],
    ["near the end of its credit", { credit: 60 }],
    ["near the end of its month", { key: { monthlyLimit: reservedAmount * 55n } }],
    ["with a daily budget", { key: { dailyLimit: reservedAmount * 100_000n } }],
  ])("a key %s is asked for request by request", async (_, options) => {
    const lending = await world({ credit: 100_000, ...options });
    await lending.warmUp();
    expect((await lending.begin()).block).toBeUndefined();
  });

  test("what was admitted with a block is charged, and nothing stays reserved after its return", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp(lending.gateway(), 40);
    await lending.pass(blockLifeMs + 2_000);
    const { balance, reserved } = await lending.account();
    expect({ balance, reserved }).toEqual({ balance: reservedAmount * (100_000n - 40n), reserved: 0n });
    expect(lending.asked("admit")).toBeLessThan(12);
    expect(lending.worker.clock.pending).toBeLessThan(5);
  });

  test("a block that nobody uses any more is returned within two seconds", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp();
    expect((await lending.account()).reserved).toBeGreaterThan(0n);
    await lending.pass(2_000);
    expect((await lending.account()).reserved).toBe(0n);
  });

  test("a block is reported to rebuilds for a while after its return, which Redis may lose with a master", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp();
    await lending.pass(3_000);
    expect((await lending.account()).reserved).toBe(0n);
    const reported = () => lending.gateway().admission.blocks.end(lending.record.workspace).blocks;
    expect(reported()).toEqual([expect.objectContaining({ keep: 0n, times: [] })]);
    await lending.pass(blockReportedMs);
    expect(reported()).toEqual([]);
  });

  test("a key whose block served few requests is asked for one by one for a while", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp();
    await lending.pass(20_000);
    await lending.call();
    await lending.pass(8_000);
    const lent = lending.asked("lend");
    await lending.warmUp();
    expect(lending.asked("lend")).toBe(lent);
    await lending.pass(60_000);
    await lending.warmUp();
    expect(lending.asked("lend")).toBeGreaterThan(lent);
  });

  test("an answer that is still open keeps its part of an ended block reserved", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp();
    const open = await lending.begin();
    expect(open.block).toBeString();
    await lending.pass(blockLifeMs + 2_000);
    expect((await lending.account()).reserved).toBe(reservedAmount);
    await lending.gateway().journal.end(endOf(open, { promptTokens: 1, completionTokens: 1 }));
    await lending.pass(1_000);
    expect((await lending.account()).reserved).toBe(0n);
  });

  test("an admission that is not used gives its credit back", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp();
    const { admission } = lending.gateway();
    const { reservation } = await lending.gateway().admit(hashOf("key"), lending.record);
    expect(reservation.block).toBeString();
    admission.release(reservation);
    await lending.pass(blockLifeMs + 2_000);
    expect((await lending.account()).reserved).toBe(0n);
  });

  test("a block ends when keys change: a lowered limit holds for the next request", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp();
    lending.setKey({ requestsPerMinute: 5 });
    lending.worker.bus.broadcast("records-changed");
    expect(await lending.call()).toBe("rate_limited");
  });

  test("a gateway that heard no worker for a second decides nothing by itself", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp();
    const asked = lending.asked("admit");
    lending.worker.bus.silentForMs = 1_001;
    await lending.call();
    expect(lending.asked("admit")).toBe(asked + 1);
  });

  test("while the counters do not answer, a key with a block is refused like every other", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp();
    const { counters } = lending.worker;
    const down = () => Promise.reject(new CountersUnavailableError("down"));
    lending.worker.counters = { ...forwardTo(() => counters), now: down, admitMany: down };
    await lending.worker.clock.pass(500);
    expect(await lending.begin().catch((error: Error) => error.message)).toContain("not be checked");
  });

  test("a gateway that was frozen decides nothing with a block of before", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp();
    const asked = lending.asked("admit");
    const { clock } = lending.worker;
    // Its timers do not fire while it is frozen.
    Object.assign(clock, { monotonic: () => clock.now() - Date.UTC(2026, 10, 20, 12) + 1_500 });
    await lending.call();
    expect(lending.asked("admit")).toBe(asked + 1);
  });

  test("a request that the rest of a block does not cover is asked for, and never refused for it", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp();
    const asked = lending.asked("admit");
    const caller = { hash: hashOf("key"), record: { ...lending.record, monthlyLimit: null } };
    const dear = { model: "acme/one", inputTokens: 36, maxTokens: 4_000, tools: false };
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, () => lending.gateway().admission.admit(caller as never, dear)),
    );
    expect(outcomes).toHaveLength(60);
    expect(lending.asked("admit")).toBeGreaterThan(asked);
  });

  test("blocks are recalled before a request is refused for what they have", async () => {
    const lending = await world({ credit: 1_000, gateways: 2 });
    await lending.warmUp(lending.gateway(0));
    const { reserved, available } = await lending.account();
    expect(reserved).toBeGreaterThan(5n * reservedAmount);
    const rest = Number(available / reservedAmount) + 5;
    let admitted = 0;
    for (let count = 0; count < rest; count++) if ((await lending.call(lending.gateway(1))) === null) admitted++;
    expect(admitted).toBe(rest);
  });

  test("a dead gateway's block stays held until its successor has read what was admitted with it", async () => {
    const lending = await world({ credit: 100_000 });
    await lending.warmUp();
    const open = await lending.begin();
    expect(open.block).toBeString();
    const held = (await lending.account()).reserved;
    lending.kill();
    await lending.pass(blockLifeMs + 2_000);
    expect((await lending.account()).reserved).toBe(held);
    lending.succeed();
    await lending.pass(2_000);
    expect(lending.worker.ledger.charges.has(open.generation)).toBe(true);
    expect((await lending.account()).reserved).toBe(0n);
  });

  test("a rebuild of the counters ends a block, and has what was admitted with it", async () => {
    const lending = await world({ credit: 100_000, gateways: 2 });
    await lending.warmUp();
    const open = await lending.begin();
    expect(open.block).toBeString();
    lending.worker.wipe();
    await lending.begin(lending.gateway(1));
    expect((await lending.account()).reserved).toBe(2n * reservedAmount);
    const [hold] = (await lending.worker.counters.holds("ws-1")).filter(({ generation }) => generation === open.block);
    expect(hold?.amount).toBe(reservedAmount);
    expect((await lending.begin()).block).toBeUndefined();
  });
});

describe("the hard cap with blocks", () => {
  test.each([
    [2, 37],
    [4, 37],
    [8, 37],
    [2, 1_000],
    [4, 1_000],
    [8, 1_000],
  ])("%d gateways with credit for %d requests admit exactly so many, all at once and trickling", async (gateways, credit) => {
    const lending = await world({ credit, gateways });
    const at = (index: number) => lending.gateway(index % gateways);
    // Trickling at first, so that blocks are lent; then all at once, until nothing is left.
    const outcomes: (string | null)[] = [];
    for (let index = 0; index < credit / 2; index++) {
      outcomes.push(await lending.call(at(index)));
      if (index % 10 === 0) await lending.pass(100);
    }
    outcomes.push(...(await Promise.all(Array.from({ length: credit }, (_, index) => lending.call(at(index))))));
    // What blocks had when the last were refused is free after their life.
    await lending.pass(blockLifeMs + 2_000);
    for (let index = 0; index < credit / 10 + 10; index++) outcomes.push(await lending.call(at(index)));
    await lending.pass(2_000);
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(credit);
    expect(await lending.account()).toMatchObject({ balance: 0n, reserved: 0n });
  });

  test.each([2, 8])(
    "%d gateways admit 6,000 requests at under half of the key's window, and refuse none of them",
    async (gateways) => {
      const credit = 20_000;
      const requests = 6_000;
      const perSecond = 60;
      const lending = await world({ credit, gateways });
      const refusals = new Set<string | null>();
      for (let asked = 0; asked < requests; asked += perSecond) {
        const calls = Array.from({ length: perSecond }, (_, index) => lending.call(lending.gateway(index % gateways)));
        for (const outcome of await Promise.all(calls)) if (outcome !== null) refusals.add(outcome);
        await lending.pass(1_000);
      }
      expect([...refusals]).toEqual([]);
      expect(lending.asked("admit")).toBeLessThan(requests / 12);
      await lending.pass(blockLifeMs + 2_000);
      expect(await lending.account()).toMatchObject({ balance: reservedAmount * BigInt(credit - requests), reserved: 0n });
    },
  );
});

/** A key that made a request each 10 ms until `now`. */
function busyUntil(demand: KeyDemand, now: number): void {
  for (let at = now - 200; at <= now; at += 10) demand.note(1n, at);
}

/** How long no block is wished for after `now`. */
function pauseAfter(demand: KeyDemand, now: number): number {
  for (let later = 0; ; later += 100) {
    busyUntil(demand, now + later);
    if (demand.wish(now + later) !== null) return later;
  }
}

test("a key whose blocks do not pay is asked for them ever less often, until one pays", () => {
  const demand = new KeyDemand();
  let now = 1_000;
  const pauses = Array.from({ length: 6 }, () => {
    demand.ended(3, now);
    const pause = pauseAfter(demand, now);
    now += pause;
    return pause;
  });
  expect(pauses).toEqual([blockKeptPauseMs, 10_000, 20_000, 40_000, blockUnusedPauseMsMax, blockUnusedPauseMsMax]);
  demand.ended(4, now);
  expect(pauseAfter(demand, now)).toBe(0);
  demand.ended(0, now);
  expect(pauseAfter(demand, now)).toBe(blockKeptPauseMs);
});

test("nothing is lent for the first requests of a key, nor for requests that are far apart", () => {
  const demand = new KeyDemand();
  demand.note(1n, 0);
  expect(demand.wish(0)).toBeNull();
  for (let at = 3_000; at < 60_000; at += 3_000) {
    demand.note(1n, at);
    expect(demand.wish(at)).toBeNull();
  }
});
