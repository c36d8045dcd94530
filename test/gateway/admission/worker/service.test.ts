import { describe, expect, test } from "bun:test";
import { CountersUnavailableError } from "../../../../src/backing/counters.ts";
import { admitAsk, AdmissionWorker, askedAmount } from "../../../support/admission-worker.ts";
import { hashOf } from "../../../support/key-records.ts";
import { MemoryLedger } from "../../../support/memory-ledger.ts";

const position = { kind: "position", workspace: "ws-1", key: "key-1" } as const;

describe("a message of admissions", () => {
  test("is decided in the order of checks: key, platform, rate, model, credit, key's limit, workspace's limit", async () => {
    const worker = new AdmissionWorker();
    const off = worker.addKey("off", { enabled: false });
    const once = worker.addKey("once", { requestsPerMinute: 1 });
    const poor = worker.addKey("poor", { monthlyLimit: askedAmount - 1n, workspaceLimit: askedAmount - 1n });
    const bound = worker.addKey("bound", { workspaceLimit: askedAmount - 1n });
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
    const bound = worker.addKey("bound", { monthlyLimit: 2n * askedAmount, workspaceLimit: 3n * askedAmount });
    const other = worker.addKey("other", { workspaceLimit: 3n * askedAmount });
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
    expect(await worker.words(admitAsk({ generation: ask.generation, inputTokens: 37 }))).toEqual(["internal_error"]);
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
    const fresh = worker.addKey("fresh");
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
    const elsewhere = worker.addKey("elsewhere", { workspace: "ws-2" });
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
