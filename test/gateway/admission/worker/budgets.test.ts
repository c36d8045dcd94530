import { afterEach, describe, expect, test } from "bun:test";
import { settle } from "../../../../src/gateway/metering/settle.ts";
import { ManualClock } from "../../../support/clock.ts";
import { admitRequest, AdmissionWorker, reservedAmount } from "../../../support/gateway/admission-worker.ts";
import { hashOf, keyRecord } from "../../../support/gateway/key-records.ts";
import { settlement } from "../../../support/gateway/settlements.ts";
import { TestGateway } from "../../../support/test-gateway.ts";
import { temporaryFolder, type TemporaryFolder } from "../../../support/temporary-folder.ts";

const folders: TemporaryFolder[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await folder[Symbol.asyncDispose]();
});

const memberBudget = { caller: "mbr-1", limit: reservedAmount };

describe("budgets", () => {
  test("each refuses with the code of the limit that it tightens, and the message names it", async () => {
    const worker = new AdmissionWorker();
    const limit = reservedAmount - 1n;
    const refused = [
      worker.addKey("day", { dailyLimit: limit, workspaceDailyLimit: limit }),
      worker.addKey("space", { workspaceDailyLimit: limit, memberBudget: { caller: "mbr-1", limit } }),
      worker.addKey("member", { memberBudget: { caller: "mbr-1", limit } }),
      worker.addKey("workbench", { id: "mbr-1", memberBudget: { caller: "mbr-1", limit } }),
    ];
    expect(await worker.replies(...refused.map((hash) => admitRequest({ hash })))).toMatchObject([
      { code: "key_spend_limit_exceeded", message: expect.stringContaining("would pass this key's daily spend limit: it may") },
      {
        code: "account_spend_limit_exceeded",
        message: expect.stringContaining("would pass the workspace's daily spend limit: it"),
      },
      {
        code: "account_spend_limit_exceeded",
        message: expect.stringContaining("pass the monthly spend limit of this key's owner"),
      },
      {
        code: "account_spend_limit_exceeded",
        message: expect.stringContaining("pass this member's monthly spend limit: it may"),
      },
    ]);
  });

  test("the keys of a member share a budget, and a new day begins at zero by the counters' clock", async () => {
    const clock = new ManualClock(Date.UTC(2026, 10, 20, 23, 59, 59, 900));
    const worker = new AdmissionWorker({ clock });
    const [first, second] = ["first", "second"].map((name) => worker.addKey(name, { memberBudget })) as [string, string];
    const daily = worker.addKey("daily", { dailyLimit: reservedAmount });
    const ask = () => worker.outcomes(...[first, second, daily, daily].map((hash) => admitRequest({ hash })));
    expect(await ask()).toEqual(["admitted", "account_spend_limit_exceeded", "admitted", "key_spend_limit_exceeded"]);
    clock.advance(100);
    expect((await ask()).slice(2)).toEqual(["admitted", "key_spend_limit_exceeded"]);
  });

  test("a charge counts in place of its hold, also one from before the budget was set", async () => {
    const worker = new AdmissionWorker();
    const hash = worker.addKey("late", {});
    const endAll = async (): Promise<void> => {
      const ends = (await worker.counters.holds("ws-1")).map(({ generation, key, admittedAt }) =>
        settlement({ workspace: "ws-1", generation, key, admittedAt, reserved: String(reservedAmount) }),
      );
      await settle(ends, { store: worker.ledger, counters: worker.counters });
    };
    await worker.outcomes(admitRequest({ hash }));
    await endAll();
    worker.records.set(hash, keyRecord({ id: "key-late", dailyLimit: 3n * reservedAmount }));
    worker.service.keyRecords.clear();
    expect(await worker.outcomes(admitRequest({ hash }))).toEqual(["admitted"]);
    expect([...worker.ledger.budgetTotals.values()]).toEqual([reservedAmount]);
    await endAll();
    expect([...worker.ledger.budgetTotals.values()]).toEqual([2n * reservedAmount]);
    expect(await worker.outcomes(admitRequest({ hash }), admitRequest({ hash }))).toEqual([
      "admitted",
      "key_spend_limit_exceeded",
    ]);
  });

  test("counters that were emptied are rebuilt with the holds of every budget", async () => {
    const folder = await temporaryFolder();
    folders.push(folder);
    const worker = new AdmissionWorker();
    const limit = 3n * reservedAmount;
    const record = keyRecord({ dailyLimit: limit, memberBudget: { caller: "mbr-1", limit } });
    worker.records.set(hashOf("key"), record);
    worker.ledger.owners.set(record.id, "mbr-1");
    await worker.bus.serve("admission", (payload) => worker.service.reply(payload));
    using gateway = new TestGateway({ bus: worker.bus, clock: worker.clock, folder: folder.path });
    for (let count = 0; count < 2; count++) await gateway.begin(hashOf("key"), record);
    worker.wipe();
    const outcomes = await worker.outcomes(admitRequest(), admitRequest());
    expect(outcomes).toEqual(["admitted", "key_spend_limit_exceeded"]);
  });
});
