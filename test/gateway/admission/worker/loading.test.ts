import { describe, expect, test } from "bun:test";
import type { AdmissionReply } from "../../../../src/gateway/admission/message.ts";
import { EmbeddedCounters } from "../../../../src/backing/embedded/counters.ts";
import { admitAsk, AdmissionWorker, askedAmount } from "../../../support/admission-worker.ts";
import { ManualClock, settled } from "../../../support/clock.ts";
import { hashOf } from "../../../support/key-records.ts";

function admitted(answers: AdmissionReply[]): number {
  return answers.filter((answer) => answer.kind === "admitted").length;
}

describe("counters that are not loaded", () => {
  test("are loaded on first use, within the same message", async () => {
    const worker = new AdmissionWorker();
    expect(await worker.words(admitAsk())).toEqual(["admitted"]);
    expect(worker.clock.pending).toBe(0);
  });

  test("are loaded once for many that wait for them, also by two workers at a time", async () => {
    const worker = new AdmissionWorker();
    let reads = 0;
    const account = worker.ledger.account.bind(worker.ledger);
    worker.ledger.account = async (workspace, generations) => (reads++, await settled(), account(workspace, generations));
    const [one, two] = [worker.worker(), worker.worker()];
    const asks = () => Array.from({ length: 10 }, () => admitAsk());
    const messages = await Promise.all([worker.message(asks(), one), worker.message(asks(), two), worker.message(asks(), one)]);
    expect(admitted(messages.flatMap(({ answers }) => answers))).toBe(5);
    expect(reads).toBe(2);
    expect(await worker.counters.read("ws-1", null)).toMatchObject({ account: { reserved: 1_000_000n, balance: 1_000_000n } });
  });

  test("that take longer than a message waits are answered 'again', and loading goes on", async () => {
    const worker = new AdmissionWorker();
    const account = worker.ledger.account.bind(worker.ledger);
    const { promise, resolve } = Promise.withResolvers<void>();
    worker.ledger.account = async (workspace, generations) => (await promise, account(workspace, generations));
    const answering = worker.words(admitAsk(), { kind: "authenticate", hash: hashOf("key") });
    await worker.clock.pass(40);
    expect(await answering).toEqual(["again", "record"]);
    resolve();
    await worker.clock.pass(1);
    expect(await worker.words(admitAsk())).toEqual(["admitted"]);
    expect(worker.clock.pending).toBe(0);
  });

  test("whose load fails are answered 'again', and the next question tries it anew", async () => {
    const worker = new AdmissionWorker();
    const { account } = worker.ledger;
    let reads = 0;
    worker.ledger.account = () => (reads++, Promise.reject(new Error("the database is down")));
    expect(await worker.words(admitAsk())).toEqual(["again"]);
    expect(reads).toBe(1);
    worker.ledger.account = account;
    expect(await worker.words(admitAsk())).toEqual(["admitted"]);
  });

  test("of a workspace that does not exist are never loaded, and nothing else waits for them", async () => {
    const worker = new AdmissionWorker();
    const lost = worker.addKey("lost", { workspace: "ws-gone" });
    expect(await worker.words(admitAsk({ hash: lost }), admitAsk())).toEqual(["again", "admitted"]);
  });

  test("of a new month begin at zero, and the month is that of the counters' clock", async () => {
    const clock = new ManualClock(Date.UTC(2026, 10, 30, 23, 59, 59, 900));
    const worker = new AdmissionWorker({ clock });
    const bound = worker.addKey("bound", { monthlyLimit: askedAmount });
    const months = async () =>
      (await worker.answers(admitAsk({ hash: bound }))).map((answer) => ("month" in answer ? answer.month : "none"));
    expect(await months()).toEqual(["2026-11"]);
    expect(await worker.words(admitAsk({ hash: bound }))).toEqual(["key_spend_limit_exceeded"]);
    clock.advance(100);
    expect(await months()).toEqual(["2026-12"]);
  });

  test("are asked with the month of their own clock, wherever that of the worker stands", async () => {
    const worker = new AdmissionWorker();
    const ahead = new ManualClock(Date.UTC(2026, 11, 1, 0, 0, 5));
    worker.counters = new EmbeddedCounters(ahead);
    expect(await worker.words(admitAsk())).toEqual(["again"]);
    const [answer] = await worker.answers(admitAsk());
    expect(answer).toMatchObject({ kind: "admitted", month: "2026-12" });
  });
});
