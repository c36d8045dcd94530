import { describe, expect, test } from "bun:test";
import type { Answer } from "../../src/admission/message.ts";
import { CountersUnavailableError } from "../../src/backing/counters.ts";
import { EmbeddedCounters } from "../../src/backing/embedded/counters.ts";
import { admitAsk, AdmissionWorker, askedAmount } from "../support/admission-worker.ts";
import { ManualClock, settled } from "../support/clock.ts";
import { failureOf } from "../support/failure-of.ts";
import { hashOf, keyRecord } from "../support/key-records.ts";
import { MemoryLedger } from "../support/memory-ledger.ts";

const position = { kind: "position", workspace: "ws-1", key: "key-1" } as const;

function admitted(answers: Answer[]): number {
  return answers.filter((answer) => answer.kind === "admitted").length;
}

function key(worker: AdmissionWorker, name: string, fields: Parameters<typeof keyRecord>[0] = {}): string {
  worker.records.set(hashOf(name), keyRecord({ id: `key-${name}`, ...fields }));
  return hashOf(name);
}

describe("a message of admissions", () => {
  test("is decided in the order of checks: key, platform, rate, model, credit, key's limit, workspace's limit", async () => {
    const worker = new AdmissionWorker();
    const off = key(worker, "off", { enabled: false });
    const once = key(worker, "once", { requestsPerMinute: 1 });
    const poor = key(worker, "poor", { monthlyLimit: askedAmount - 1n, workspaceLimit: askedAmount - 1n });
    const bound = key(worker, "bound", { workspaceLimit: askedAmount - 1n });
    await worker.answers({ ...position, key: "key-once" });
    const unknown = { model: "nobody/nothing" };
    const dear = { inputTokens: 100_000 };
    expect(
      await worker.words(
        admitAsk({ hash: hashOf("nobody"), ...unknown, ...dear }),
        admitAsk({ hash: off, ...unknown, ...dear }),
        admitAsk({ hash: once }),
        admitAsk({ hash: once, ...unknown, ...dear }),
        admitAsk({ ...unknown, ...dear }),
        admitAsk({ hash: poor, ...dear }),
        admitAsk({ hash: poor }),
        admitAsk({ hash: bound }),
      ),
    ).toEqual([
      "invalid_api_key",
      "gateway_disabled",
      "admitted",
      "rate_limited",
      "model_not_found",
      "insufficient_credit",
      "key_spend_limit_exceeded",
      "account_spend_limit_exceeded",
    ]);
  });

  test("admits exactly as many as the credit bounds, in the order of asking", async () => {
    const worker = new AdmissionWorker();
    const words = await worker.words(...Array.from({ length: 12 }, () => admitAsk()));
    expect(words).toEqual([...Array(5).fill("admitted"), ...Array(7).fill("insufficient_credit")]);
    const [told] = await worker.answers(position);
    expect(told).toMatchObject({ balance: "1000000", reserved: "1000000", available: "0" });
  });

  test("admits exactly as many as a key's and a workspace's monthly limit bound, open holds counted in", async () => {
    const worker = new AdmissionWorker();
    const bound = key(worker, "bound", { monthlyLimit: 2n * askedAmount, workspaceLimit: 3n * askedAmount });
    const other = key(worker, "other", { workspaceLimit: 3n * askedAmount });
    expect(await worker.words(...Array.from({ length: 3 }, () => admitAsk({ hash: bound })))).toEqual([
      "admitted",
      "admitted",
      "key_spend_limit_exceeded",
    ]);
    expect(await worker.words(admitAsk({ hash: other }), admitAsk({ hash: other }))).toEqual([
      "admitted",
      "account_spend_limit_exceeded",
    ]);
  });

  test("says how many output tokens would be affordable", async () => {
    const worker = new AdmissionWorker();
    const [answer] = await worker.answers(admitAsk({ maxTokens: 4_096 }));
    expect(answer).toMatchObject({ code: "insufficient_credit", window: { limit: 60, remaining: 60 } });
    // 1,000,000 nano-USD less 100 × 1,000 of input leave 450 output tokens of 2,000.
    expect(answer?.kind === "refused" && answer.message).toEndWith(
      "enough for max_tokens up to 450; add credit or lower max_tokens",
    );
    expect(await worker.words(admitAsk({ maxTokens: 450 }))).toEqual(["admitted"]);
  });

  test("carries to each what was reserved, the bound that was priced, and the month of the counters' clock", async () => {
    const worker = new AdmissionWorker();
    const [answer] = await worker.answers(admitAsk({ maxTokens: null, inputTokens: 0 }));
    expect(answer).toMatchObject({ code: "insufficient_credit" });
    worker.ledger.append("ws-1", 10_000_000n);
    await worker.answers({ kind: "refresh", workspace: "ws-1" });
    const [second] = await worker.answers(admitAsk({ maxTokens: null, inputTokens: 0 }));
    expect(second).toMatchObject({
      kind: "admitted",
      amount: String(64 * 1_000 + 4_096 * 2_000),
      maxOutputTokens: 4_096,
      month: "2026-11",
      at: worker.clock.now(),
      window: { limit: 60, remaining: 59, resetMs: 60_000 },
    });
  });

  test("twice does no harm: the same ids hold once and are told the same", async () => {
    const worker = new AdmissionWorker();
    const ask = admitAsk();
    const [first] = await worker.answers(ask);
    const [second] = await worker.answers(ask);
    expect(second).toEqual(first);
    expect((await worker.counters.holds("ws-1")).length).toBe(1);
  });

  test("is not admitted at a price that was held for less: another worker may know other prices", async () => {
    const worker = new AdmissionWorker();
    const ask = admitAsk();
    expect(await worker.words(ask)).toEqual(["admitted"]);
    const dear = { input: 2_000_000n, output: 2_000_000n, cacheRead: 0n, cacheWrite: 0n };
    worker.models.usableRoutes = ({ routes }) => ({ routes: routes.map((route) => ({ ...route, prices: dear })), reason: null });
    expect(await worker.words(ask)).toEqual(["billing_unavailable"]);
  });

  test("refuses an id that another request has, and one that was given up before", async () => {
    const worker = new AdmissionWorker();
    const ask = admitAsk();
    await worker.words(ask);
    expect(await worker.words({ ...ask, inputTokens: 37 })).toEqual(["internal_error"]);
    const late = admitAsk();
    expect(await worker.words({ kind: "void", workspace: "ws-1", generation: late.generation })).toEqual(["done"]);
    expect(await worker.words(late)).toEqual(["billing_unavailable"]);
  });

  test("past its deadline by the counters' clock, or without one, admits nothing", async () => {
    const worker = new AdmissionWorker();
    expect(await worker.words(admitAsk({ deadline: worker.clock.now() - 1 }), admitAsk({ deadline: null }), admitAsk())).toEqual([
      "billing_unavailable",
      "billing_unavailable",
      "admitted",
    ]);
  });

  test("is refused as billing_unavailable while charges do not reach the ledger", async () => {
    const worker = new AdmissionWorker();
    worker.isBehind = true;
    expect(await worker.words(admitAsk(), admitAsk({ hash: hashOf("nobody") }))).toEqual([
      "billing_unavailable",
      "invalid_api_key",
    ]);
    worker.isBehind = false;
    expect(await worker.words(admitAsk())).toEqual(["admitted"]);
  });

  test("with the database down is decided for keys that are known and young; the others are auth_unavailable", async () => {
    const worker = new AdmissionWorker();
    const fresh = key(worker, "fresh");
    await worker.words(admitAsk());
    worker.isDatabaseDown = true;
    const asks = [admitAsk(), admitAsk({ hash: fresh }), { kind: "authenticate", hash: hashOf("key") } as const];
    expect(await worker.words(...asks)).toEqual(["admitted", "auth_unavailable", "record"]);
    worker.clock.advance(30_000);
    expect(await worker.words(admitAsk(), { kind: "authenticate", hash: hashOf("key") })).toEqual([
      "auth_unavailable",
      "auth_unavailable",
    ]);
  });

  test("with counters that do not answer is billing_unavailable, and everything else in it is answered", async () => {
    const worker = new AdmissionWorker();
    worker.counters.admitMany = () => Promise.reject(new CountersUnavailableError("Redis does not answer"));
    expect(
      await worker.words(admitAsk(), { kind: "authenticate", hash: hashOf("key") }, admitAsk({ hash: hashOf("x") })),
    ).toEqual(["billing_unavailable", "record", "invalid_api_key"]);
  });

  test("loses no decision when the counters stop answering between two rounds of it", async () => {
    const worker = new AdmissionWorker({ ledger: new MemoryLedger().open("ws-1", 1_000_000n).open("ws-2", 1_000_000n) });
    const elsewhere = key(worker, "elsewhere", { workspace: "ws-2" });
    await worker.words(admitAsk());
    const { counters } = worker;
    let calls = 0;
    const admitMany = counters.admitMany.bind(counters);
    counters.admitMany = (batch) =>
      ++calls === 1 ? admitMany(batch) : Promise.reject(new CountersUnavailableError("Redis does not answer"));
    expect(await worker.words(admitAsk(), admitAsk({ hash: elsewhere }))).toEqual(["admitted", "billing_unavailable"]);
  });

  test("a request that cannot be priced spoils nobody else's answer", async () => {
    const worker = new AdmissionWorker();
    expect(await worker.words(admitAsk({ inputTokens: -65 }), admitAsk())).toEqual(["internal_error", "admitted"]);
  });

  test("an unreadable catalog is model_unavailable, after the rate and before the money", async () => {
    const worker = new AdmissionWorker();
    worker.models.isReadable = false;
    const [answer] = await worker.answers(admitAsk({ inputTokens: 10_000_000 }));
    expect(answer).toMatchObject({ code: "model_unavailable", reason: "catalog_unreadable", param: "model" });
  });
});

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
    worker.ledger.account = () => Promise.reject(new Error("the database is down"));
    expect(await worker.words(admitAsk())).toEqual(["again"]);
    worker.ledger.account = account;
    expect(await worker.words(admitAsk())).toEqual(["admitted"]);
  });

  test("of a workspace that does not exist are never loaded, and nothing else waits for them", async () => {
    const worker = new AdmissionWorker();
    const lost = key(worker, "lost", { workspace: "ws-gone" });
    expect(await worker.words(admitAsk({ hash: lost }), admitAsk())).toEqual(["again", "admitted"]);
  });

  test("of a new month begin at zero, and the month is that of the counters' clock", async () => {
    const clock = new ManualClock(Date.UTC(2026, 10, 30, 23, 59, 59, 900));
    const worker = new AdmissionWorker({ clock });
    const bound = key(worker, "bound", { monthlyLimit: askedAmount });
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

describe("other questions", () => {
  test("a key's record is told with its age, limits as text and without its owner", async () => {
    const worker = new AdmissionWorker();
    key(worker, "bound", { monthlyLimit: 5n, owner: "secret@example.com" });
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
      expect(await failureOf(worker.service.answer(new TextEncoder().encode(text)))).toBeInstanceOf(Error);
    }
  });
});
