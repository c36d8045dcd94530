import { describe, expect, test } from "bun:test";
import { CountersUnavailableError } from "../../../../src/backing/counters.ts";
import { admitRequest, AdmissionWorker } from "../../../support/gateway/admission-worker.ts";
import { failureOf } from "../../../support/failure-of.ts";
import { hashOf } from "../../../support/gateway/key-records.ts";

const position = { kind: "position", workspace: "ws-1", key: "key-1" } as const;

describe("an admission worker", () => {
  test("the worker sends a key's record with its age, limits as text and without its owner", async () => {
    const worker = new AdmissionWorker();
    worker.addKey("bound", { monthlyLimit: 5n, owner: "secret@example.com" });
    await worker.replies({ kind: "authenticate", hash: hashOf("bound") });
    worker.clock.advance(7_000);
    const [known, unknown] = await worker.replies(
      { kind: "authenticate", hash: hashOf("bound") },
      { kind: "authenticate", hash: hashOf("unknown") },
    );
    expect(known).toMatchObject({ kind: "record", ageMs: 7_000, record: { monthlyLimit: "5", workspace: "ws-1" } });
    expect(JSON.stringify(known)).not.toContain("secret@example.com");
    expect(unknown).toEqual({ kind: "record", ageMs: 0, record: null });
  });

  test("a position includes open holds, and the key's spend if a key is named", async () => {
    const worker = new AdmissionWorker();
    await worker.outcomes(admitRequest());
    expect(await worker.replies(position, { ...position, key: null })).toEqual([
      { kind: "position", balance: "1000000", reserved: "200000", lent: "0", blocks: [], keySpent: "0", month: "2026-11" },
      { kind: "position", balance: "1000000", reserved: "200000", lent: "0", blocks: [], keySpent: null, month: "2026-11" },
    ]);
  });

  test("a position is loaded on first use, and a slow load delays no other request", async () => {
    const worker = new AdmissionWorker();
    expect((await worker.replies(position))[0]).toMatchObject({ kind: "position", reserved: "0", keySpent: "0" });
    worker.wipe();
    worker.ledger.account = () => new Promise(() => {});
    const replying = worker.outcomes(position, { kind: "authenticate", hash: hashOf("key") });
    await worker.clock.pass(40);
    expect(await replying).toEqual(["again", "record"]);
    await worker.clock.pass(2_000);
    expect(worker.clock.pending).toBe(0);
  });

  test("a refresh pushes added credit to the counters, with a ledger read for each request", async () => {
    const worker = new AdmissionWorker();
    await worker.outcomes(admitRequest());
    worker.ledger.append("ws-1", 500n);
    expect(await worker.outcomes({ kind: "refresh", workspace: "ws-1" })).toEqual(["done"]);
    expect((await worker.replies(position))[0]).toMatchObject({ balance: "1000500" });
  });

  test("a refresh ends after a second when the ledger does not answer", async () => {
    const worker = new AdmissionWorker();
    worker.ledger.account = () => new Promise(() => {});
    const replying = worker.outcomes({ kind: "refresh", workspace: "ws-1" });
    await worker.clock.pass(1_000);
    expect(await replying).toEqual(["billing_unavailable"]);
  });

  test("the worker releases all generations of a message in one step, and confirms only when it is done", async () => {
    const worker = new AdmissionWorker();
    const admissions = [admitRequest(), admitRequest()];
    await worker.outcomes(...admissions);
    const releases = admissions.map(({ generation }) => ({ kind: "void", workspace: "ws-1", generation }) as const);
    const resolveMany = worker.counters.resolveMany.bind(worker.counters);
    worker.counters.resolveMany = () => Promise.reject(new CountersUnavailableError("Redis does not answer"));
    expect(await worker.outcomes(...releases)).toEqual(["billing_unavailable", "billing_unavailable"]);
    worker.counters.resolveMany = resolveMany;
    expect(await worker.outcomes(...releases)).toEqual(["done", "done"]);
    expect(await worker.counters.holds("ws-1")).toEqual([]);
  });

  test("every reply carries the counters' time, read at most once a second, or null if they do not answer", async () => {
    const worker = new AdmissionWorker();
    let reads = 0;
    const now = worker.counters.now.bind(worker.counters);
    worker.counters.now = () => (reads++, now());
    const authenticate = { kind: "authenticate", hash: hashOf("key") } as const;
    expect((await worker.message([authenticate])).now).toBe(worker.clock.now());
    worker.clock.advance(999);
    expect((await worker.message([authenticate])).now).toBe(worker.clock.now());
    expect(reads).toBe(1);
    worker.clock.advance(1);
    worker.counters.now = () => Promise.reject(new CountersUnavailableError("Redis does not answer"));
    expect((await worker.message([authenticate])).now).toBeNull();
  });

  test("bytes that are not a message are an error, so they get no reply", async () => {
    const worker = new AdmissionWorker();
    for (const text of ["", "{}", "null", '{"asks":1}', "{"]) {
      expect(await failureOf(worker.service.reply(new TextEncoder().encode(text)))).toBeInstanceOf(Error);
    }
  });
});
