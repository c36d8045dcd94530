import { describe, expect, test } from "bun:test";
import { EmbeddedCounters } from "../../../../src/backing/embedded/counters.ts";
import type { AdmissionReply } from "../../../../src/gateway/admission/message.ts";
import { ManualClock, settled } from "../../../support/clock.ts";
import { admitRequest, AdmissionWorker, reservedAmount } from "../../../support/gateway/admission-worker.ts";
import { hashOf } from "../../../support/gateway/key-records.ts";

function admitted(replies: AdmissionReply[]): number {
  return replies.filter(({ kind }) => kind === "admitted").length;
}

describe("counters that are not loaded", () => {
  test("they are loaded on first use, within the same message", async () => {
    const worker = new AdmissionWorker();
    expect(await worker.outcomes(admitRequest())).toEqual(["admitted"]);
    expect(worker.clock.pending).toBe(0);
  });

  test("each of two workers loads them once for many waiting requests", async () => {
    const worker = new AdmissionWorker();
    let reads = 0;
    const account = worker.ledger.account.bind(worker.ledger);
    worker.ledger.account = async (workspace, generations) => (reads++, await settled(), account(workspace, generations));
    const [one, two] = [worker.worker(), worker.worker()];
    const requests = () => Array.from({ length: 10 }, () => admitRequest());
    const messages = await Promise.all([
      worker.message(requests(), one),
      worker.message(requests(), two),
      worker.message(requests(), one),
    ]);
    expect(admitted(messages.flatMap(({ answers }) => answers))).toBe(5);
    expect(reads).toBe(2);
    expect(await worker.counters.read("ws-1", null)).toMatchObject({ account: { reserved: 1_000_000n, balance: 1_000_000n } });
  });

  test("the worker replies 'again' when a load takes longer than a message waits, and goes on loading", async () => {
    const worker = new AdmissionWorker();
    const account = worker.ledger.account.bind(worker.ledger);
    const { promise, resolve } = Promise.withResolvers<void>();
    worker.ledger.account = async (workspace, generations) => (await promise, account(workspace, generations));
    const replying = worker.outcomes(admitRequest(), { kind: "authenticate", hash: hashOf("key") });
    await worker.clock.pass(40);
    expect(await replying).toEqual(["again", "record"]);
    resolve();
    await worker.clock.pass(1);
    expect(await worker.outcomes(admitRequest())).toEqual(["admitted"]);
    expect(worker.clock.pending).toBe(0);
  });

  test("the worker replies 'again' when a load fails, and the next request starts another load", async () => {
    const worker = new AdmissionWorker();
    const { account } = worker.ledger;
    let reads = 0;
    worker.ledger.account = () => (reads++, Promise.reject(new Error("the database is down")));
    expect(await worker.outcomes(admitRequest())).toEqual(["again"]);
    expect(reads).toBe(1);
    worker.ledger.account = account;
    expect(await worker.outcomes(admitRequest())).toEqual(["admitted"]);
  });

  test("those of an unknown workspace are never loaded, and no other request waits for them", async () => {
    const worker = new AdmissionWorker();
    const lost = worker.addKey("lost", { workspace: "ws-gone" });
    expect(await worker.outcomes(admitRequest({ hash: lost }), admitRequest())).toEqual(["again", "admitted"]);
  });

  test("a new month begins at zero, by the counters' clock", async () => {
    const clock = new ManualClock(Date.UTC(2026, 10, 30, 23, 59, 59, 900));
    const worker = new AdmissionWorker({ clock });
    const bound = worker.addKey("bound", { monthlyLimit: reservedAmount });
    const months = async () =>
      (await worker.replies(admitRequest({ hash: bound }))).map((reply) => ("month" in reply ? reply.month : "none"));
    expect(await months()).toEqual(["2026-11"]);
    expect(await worker.outcomes(admitRequest({ hash: bound }))).toEqual(["key_spend_limit_exceeded"]);
    clock.advance(100);
    expect(await months()).toEqual(["2026-12"]);
  });

  test("the month comes from the counters' clock, also when the worker's clock differs", async () => {
    const worker = new AdmissionWorker();
    const ahead = new ManualClock(Date.UTC(2026, 11, 1, 0, 0, 5));
    worker.counters = new EmbeddedCounters(ahead);
    expect(await worker.outcomes(admitRequest())).toEqual(["again"]);
    const [reply] = await worker.replies(admitRequest());
    expect(reply).toMatchObject({ kind: "admitted", month: "2026-12" });
  });
});
