import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { settled } from "../../../support/clock.ts";
import { temporaryFolder, type TemporaryFolder } from "../../../support/temporary-folder.ts";
import { admitRequest, AdmissionWorker, reservedAmount } from "../../../support/gateway/admission-worker.ts";
import type { Reservation } from "../../../../src/gateway/credit/reservation.ts";
import { chargeOf } from "../../../../src/gateway/metering/settle.ts";
import { encodeReportRequest, encodeOpenReport } from "../../../../src/gateway/journal/open-report.ts";
import { endOf, TestGateway } from "../../../support/test-gateway.ts";
import { hashOf, keyRecord } from "../../../support/gateway/key-records.ts";

const folders: TemporaryFolder[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await folder[Symbol.asyncDispose]();
});

async function open({ requestsPerMinute = null as number | null, gateways = 1 } = {}) {
  const folder = await temporaryFolder();
  folders.push(folder);
  const worker = new AdmissionWorker();
  const record = keyRecord({ requestsPerMinute });
  worker.records.set(hashOf("key"), record);
  await worker.bus.serve("admission", (payload) => worker.service.reply(payload));
  const parts = { bus: worker.bus, clock: worker.clock };
  const all = Array.from(
    { length: gateways },
    (_, number) => new TestGateway({ ...parts, folder: join(folder.path, String(number)) }),
  );
  const [gateway] = all;
  if (!gateway) throw new Error("The test needs a gateway");
  const begin = (from: TestGateway = gateway) => from.begin(hashOf("key"), record);
  /** The first gateway dies. @returns its successor, which reads its spool */
  const die = (): (() => TestGateway) => {
    gateway[Symbol.dispose]();
    return () => {
      const successor = new TestGateway({ ...parts, folder: join(folder.path, "0") });
      successor.admission.takeOver(successor.journal.recover());
      return successor;
    };
  };
  return { worker, gateway, gateways: all, begin, die };
}

const position = async (worker: AdmissionWorker) => (await worker.counters.read("ws-1", "key-1")).account;

test("a gateway marks its pending admissions in the turn of its report, so that each admission is in a report or reported", async () => {
  const { worker, gateway } = await open();
  let reported = 0;
  gateway.journal.onReport(() => reported++);
  const reports = await worker.bus.scatter("open-generations", encodeReportRequest({ workspace: "ws-1" }));
  expect([reports.length, reported]).toEqual([1, 1]);
});

describe("counters that were emptied", () => {
  test("rebuilt counters include the open generations of all gateways, and admit no more than the credit covers", async () => {
    const { worker, gateways, begin } = await open({ gateways: 2 });
    for (const gateway of gateways) for (let number = 0; number < 2; number++) await begin(gateway);
    worker.wipe();
    expect(await worker.outcomes(...Array.from({ length: 3 }, () => admitRequest()))).toEqual([
      "admitted",
      "insufficient_credit",
      "insufficient_credit",
    ]);
    expect(await position(worker)).toMatchObject({ reserved: 5n * reservedAmount, available: 0n });
  });

  test("rebuilt counters include the admissions of the last minute, so that no minute exceeds the limit", async () => {
    const { worker, begin } = await open({ requestsPerMinute: 3 });
    await begin();
    worker.clock.advance(10_000);
    await begin();
    await begin();
    worker.clock.advance(49_999);
    worker.wipe();
    const [refused] = await worker.replies(admitRequest());
    expect(refused).toMatchObject({ code: "rate_limited", retryAfterMs: 1 });
    worker.clock.advance(1);
    worker.wipe();
    expect(await worker.outcomes(admitRequest(), admitRequest())).toEqual(["admitted", "rate_limited"]);
  });

  test("counters loaded while a gateway was dead are loaded again for its successor, and no minute exceeds the limit", async () => {
    const { worker, begin, die } = await open({ requestsPerMinute: 3 });
    await begin();
    await begin();
    const succeed = die();
    worker.clock.advance(2_000);
    worker.wipe();
    // No gateway reports the dead one's admissions, so these counters lack them.
    expect(await worker.outcomes(admitRequest())).toEqual(["admitted"]);
    succeed();
    await settled();
    expect(await worker.outcomes(admitRequest())).toEqual(["rate_limited"]);
    worker.clock.advance(58_000);
    expect(await worker.outcomes(admitRequest(), admitRequest(), admitRequest())).toEqual([
      "admitted",
      "admitted",
      "rate_limited",
    ]);
  });

  test("counters loaded while a gateway was frozen are loaded again once it is heard, and no minute exceeds the limit", async () => {
    const { worker, begin } = await open({ requestsPerMinute: 3 });
    await begin();
    await begin();
    await worker.bus.withoutScatterServers(async () => {
      worker.clock.advance(4_000);
      worker.wipe();
      expect(await worker.outcomes(admitRequest())).toEqual(["admitted"]);
    });
    await settled();
    expect(await worker.outcomes(admitRequest())).toEqual(["rate_limited"]);
  });

  test("what a dead gateway held is held again once its successor has started, and counts once", async () => {
    const { worker, begin, die } = await open();
    await begin();
    await begin();
    const succeed = die();
    worker.wipe();
    await worker.outcomes(admitRequest());
    expect(await position(worker)).toMatchObject({ reserved: reservedAmount });
    succeed();
    await settled();
    await worker.replies({ kind: "position", workspace: "ws-1", key: null });
    expect(await position(worker)).toMatchObject({ reserved: 3n * reservedAmount });
  });

  test("counters that were loaded before a gateway died stay ready for its successor", async () => {
    const { worker, begin, die } = await open();
    await worker.outcomes(admitRequest());
    worker.clock.advance(1);
    await begin();
    const succeed = die();
    let loads = 0;
    const { beginLoad } = worker.counters;
    worker.counters.beginLoad = (workspace) => (loads++, beginLoad.call(worker.counters, workspace));
    succeed();
    await settled();
    expect(await worker.outcomes(admitRequest())).toEqual(["admitted"]);
    expect(loads).toBe(0);
  });

  test("rebuilt counters have no hold for a charged generation, even if its gateway has no confirmation yet", async () => {
    const { worker, gateway, begin } = await open();
    const reservation = await begin();
    const end = endOf(reservation, { promptTokens: 10, completionTokens: 20 });
    await gateway.journal.end(end);
    await worker.ledger.settle([chargeOf(end)]);
    worker.wipe();
    await worker.outcomes(admitRequest());
    expect(gateway.journal.unsettled).toBe(1);
    expect(await position(worker)).toMatchObject({ balance: 950_000n, reserved: reservedAmount });
  });

  test("rebuilt counters hold what its gateway has settled and the ledger has not charged", async () => {
    const { worker, gateway, begin } = await open();
    await gateway.journal.end(endOf(await begin(), { promptTokens: 10, completionTokens: 20 }));
    worker.wipe();
    await worker.replies({ kind: "position", workspace: "ws-1", key: null });
    expect(await position(worker)).toMatchObject({ balance: 1_000_000n, reserved: reservedAmount });
  });

  test("counters are not loaded from data gathered before another load and another wipe", async () => {
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
    await worker.message([admitRequest()], worker.worker());
    expect(await worker.outcomes(admitRequest())).toEqual(["admitted"]);
    const held = (await worker.counters.holds("ws-1")).map(({ generation }) => generation);
    expect(held).toContain(begun[0]?.generation ?? "");
  });

  test("counters are not loaded while a gateway's report cannot be read", async () => {
    const { worker } = await open();
    const invalid = worker.bus.serveScatter("open-generations", () => new TextEncoder().encode('{"holds":[{}],"windows":[]}'));
    worker.wipe();
    expect(await worker.outcomes(admitRequest())).toEqual(["again"]);
    invalid[Symbol.dispose]();
    worker.bus.serveScatter("open-generations", () => encodeOpenReport({ holds: [], windows: [], blocks: [] }));
    expect(await worker.outcomes(admitRequest())).toEqual(["admitted"]);
  });
});
