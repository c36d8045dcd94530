import { describe, expect, test } from "bun:test";
import { CountersUnavailableError } from "../../../../src/backing/counters.ts";
import { admitAsk, AdmissionWorker } from "../../../support/admission-worker.ts";
import { failureOf } from "../../../support/failure-of.ts";
import { hashOf } from "../../../support/key-records.ts";

const position = { kind: "position", workspace: "ws-1", key: "key-1" } as const;

describe("other questions", () => {
  test("a key's record is told with its age, limits as text and without its owner", async () => {
    const worker = new AdmissionWorker();
    worker.addKey("bound", { monthlyLimit: 5n, owner: "secret@example.com" });
    await worker.answers({ kind: "authenticate", hash: hashOf("bound") });
    worker.clock.advance(7_000);
    const [answer, unknown] = await worker.answers(
      { kind: "authenticate", hash: hashOf("bound") },
      { kind: "authenticate", hash: hashOf("nobody") },
    );
    expect(answer).toMatchObject({ kind: "record", ageMs: 7_000, record: { monthlyLimit: "5", workspace: "ws-1" } });
    expect(JSON.stringify(answer)).not.toContain("secret@example.com");
    expect(unknown).toEqual({ kind: "record", ageMs: 0, record: null });
  });

  test("a position counts open holds, and is that of the key where one is named", async () => {
    const worker = new AdmissionWorker();
    await worker.words(admitAsk());
    expect(await worker.answers(position, { ...position, key: null })).toEqual([
      { kind: "position", balance: "1000000", reserved: "200000", available: "800000", keySpent: "0", month: "2026-11" },
      { kind: "position", balance: "1000000", reserved: "200000", available: "800000", keySpent: null, month: "2026-11" },
    ]);
  });

  test("a position is loaded on first use, and holds up nobody while that takes long", async () => {
    const worker = new AdmissionWorker();
    expect((await worker.answers(position))[0]).toMatchObject({ kind: "position", available: "1000000", keySpent: "0" });
    worker.wipe();
    worker.ledger.account = () => new Promise(() => {});
    const answering = worker.words(position, { kind: "authenticate", hash: hashOf("key") });
    await worker.clock.pass(40);
    expect(await answering).toEqual(["again", "record"]);
    await worker.clock.pass(2_000);
    expect(worker.clock.pending).toBe(0);
  });

  test("a refresh tells the counters of credit that was added, each by a read of its own", async () => {
    const worker = new AdmissionWorker();
    await worker.words(admitAsk());
    worker.ledger.append("ws-1", 500n);
    expect(await worker.words({ kind: "refresh", workspace: "ws-1" })).toEqual(["done"]);
    expect((await worker.answers(position))[0]).toMatchObject({ balance: "1000500" });
  });

  test("a refresh that the ledger does not answer ends after a second", async () => {
    const worker = new AdmissionWorker();
    worker.ledger.account = () => new Promise(() => {});
    const answering = worker.words({ kind: "refresh", workspace: "ws-1" });
    await worker.clock.pass(1_000);
    expect(await answering).toEqual(["billing_unavailable"]);
  });

  test("giving up is done in one step for all of a message, and says so only when it is done", async () => {
    const worker = new AdmissionWorker();
    const asks = [admitAsk(), admitAsk()];
    await worker.words(...asks);
    const voids = asks.map(({ generation }) => ({ kind: "void", workspace: "ws-1", generation }) as const);
    const resolveMany = worker.counters.resolveMany.bind(worker.counters);
    worker.counters.resolveMany = () => Promise.reject(new CountersUnavailableError("Redis does not answer"));
    expect(await worker.words(...voids)).toEqual(["billing_unavailable", "billing_unavailable"]);
    worker.counters.resolveMany = resolveMany;
    expect(await worker.words(...voids)).toEqual(["done", "done"]);
    expect(await worker.counters.holds("ws-1")).toEqual([]);
  });

  test("every answer brings the counters' clock, asked for at most once a second; none where they do not answer", async () => {
    const worker = new AdmissionWorker();
    let asked = 0;
    const now = worker.counters.now.bind(worker.counters);
    worker.counters.now = () => (asked++, now());
    const authenticate = { kind: "authenticate", hash: hashOf("key") } as const;
    expect((await worker.message([authenticate])).now).toBe(worker.clock.now());
    worker.clock.advance(999);
    expect((await worker.message([authenticate])).now).toBe(worker.clock.now());
    expect(asked).toBe(1);
    worker.clock.advance(1);
    worker.counters.now = () => Promise.reject(new CountersUnavailableError("Redis does not answer"));
    expect((await worker.message([authenticate])).now).toBeNull();
  });

  test("bytes that are no message are an error, hence left unanswered", async () => {
    const worker = new AdmissionWorker();
    for (const text of ["", "{}", "null", '{"asks":1}', "{"]) {
      expect(await failureOf(worker.service.reply(new TextEncoder().encode(text)))).toBeInstanceOf(Error);
    }
  });
});
