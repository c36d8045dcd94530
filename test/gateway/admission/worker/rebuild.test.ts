import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder, type TemporaryFolder } from "../../../support/temporary-folder.ts";
import { admitAsk, AdmissionWorker, askedAmount } from "../../../support/admission-worker.ts";
import type { Reservation } from "../../../../src/gateway/credit/reservation.ts";
import { chargeOf } from "../../../../src/gateway/metering/charge.ts";
import { encodeReportRequest, encodeOpenReport } from "../../../../src/gateway/journal/open-report.ts";
import { endOf, TestFront } from "../../../support/fronts.ts";
import { hashOf, keyRecord } from "../../../support/key-records.ts";

const folders: TemporaryFolder[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await folder[Symbol.asyncDispose]();
});

async function open({ requestsPerMinute = null as number | null, fronts = 1 } = {}) {
  const folder = await temporaryFolder();
  folders.push(folder);
  const worker = new AdmissionWorker();
  const record = keyRecord({ requestsPerMinute });
  worker.records.set(hashOf("key"), record);
  await worker.bus.serve("admission", (payload) => worker.service.reply(payload));
  const parts = { bus: worker.bus, clock: worker.clock };
  const all = Array.from(
    { length: fronts },
    (_, number) => new TestFront({ ...parts, folder: join(folder.path, String(number)) }),
  );
  const [front] = all;
  if (!front) throw new Error("The test needs a front");
  const begin = (from: TestFront = front) => from.begin(hashOf("key"), record);
  return { worker, front, fronts: all, begin };
}

const position = async (worker: AdmissionWorker) => (await worker.counters.read("ws-1", "key-1")).account;

test("a front reports once what is open, and marks in that turn what it has asked for: between two reports an admission could be in neither", async () => {
  const { worker, front } = await open();
  let marked = 0;
  front.journal.onReport(() => marked++);
  const reports = await worker.bus.scatter("open-generations", encodeReportRequest({ workspace: "ws-1" }));
  expect([reports.length, marked]).toEqual([1, 1]);
});

describe("counters that were emptied", () => {
  test("know every generation that is open at any front, and admit not one more than the credit", async () => {
    const { worker, fronts, begin } = await open({ fronts: 2 });
    for (const front of fronts) for (let number = 0; number < 2; number++) await begin(front);
    worker.wipe();
    expect(await worker.words(...Array.from({ length: 3 }, () => admitAsk()))).toEqual([
      "admitted",
      "insufficient_credit",
      "insufficient_credit",
    ]);
    expect(await position(worker)).toMatchObject({ reserved: 5n * askedAmount, available: 0n });
  });

  test("know the admissions of the last minute, so that no minute has more than the limit", async () => {
    const { worker, begin } = await open({ requestsPerMinute: 3 });
    await begin();
    worker.clock.advance(10_000);
    await begin();
    await begin();
    worker.clock.advance(49_999);
    worker.wipe();
    const [refused] = await worker.answers(admitAsk());
    expect(refused).toMatchObject({ code: "rate_limited", retryAfterMs: 1 });
    worker.clock.advance(1);
    worker.wipe();
    expect(await worker.words(admitAsk(), admitAsk())).toEqual(["admitted", "rate_limited"]);
  });

  test("hold nothing for what the ledger has charged, whether its front has heard of that or not", async () => {
    const { worker, front, begin } = await open();
    const reservation = await begin();
    const end = endOf(reservation, { promptTokens: 10, completionTokens: 20 });
    await front.journal.end(end);
    await worker.ledger.settle([chargeOf(end)]);
    worker.wipe();
    await worker.words(admitAsk());
    expect(front.journal.unsettled).toBe(1);
    expect(await position(worker)).toMatchObject({ balance: 950_000n, reserved: askedAmount });
  });

  test("hold what is settled at its front and not in the ledger yet", async () => {
    const { worker, front, begin } = await open();
    await front.journal.end(endOf(await begin(), { promptTokens: 10, completionTokens: 20 }));
    worker.wipe();
    await worker.answers({ kind: "position", workspace: "ws-1", key: null });
    expect(await position(worker)).toMatchObject({ balance: 1_000_000n, reserved: askedAmount });
  });

  test("are not rebuilt from what was gathered before another loaded them and they were emptied again", async () => {
    const { worker, begin } = await open();
    const account = worker.ledger.account.bind(worker.ledger);
    const begun: Reservation[] = [];
    let isFirst = true;
    worker.ledger.account = async (workspace, generations) => {
      const gathered = await account(workspace, generations);
      if (!isFirst) return gathered;
      isFirst = false;
      begun.push(await begin());
      worker.wipe();
      return gathered;
    };
    await worker.message([admitAsk()], worker.worker());
    expect(await worker.words(admitAsk())).toEqual(["admitted"]);
    const held = (await worker.counters.holds("ws-1")).map(({ generation }) => generation);
    expect(held).toContain(begun[0]?.generation ?? "");
  });

  test("stay closed while a front's report cannot be read", async () => {
    const { worker } = await open();
    const nonsense = worker.bus.serveScatter("open-generations", () => new TextEncoder().encode('{"holds":[{}],"windows":[]}'));
    worker.wipe();
    expect(await worker.words(admitAsk())).toEqual(["again"]);
    nonsense[Symbol.dispose]();
    worker.bus.serveScatter("open-generations", () => encodeOpenReport({ holds: [], windows: [] }));
    expect(await worker.words(admitAsk())).toEqual(["admitted"]);
  });
});
