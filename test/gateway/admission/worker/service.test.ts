import { describe, expect, test } from "bun:test";
import { BusTimeoutError, BusUnavailableError } from "../../../../src/backing/bus.ts";
import { CountersUnavailableError } from "../../../../src/backing/counters.ts";
import type { AdmissionReply } from "../../../../src/gateway/admission/message.ts";
import { admitRequest, AdmissionWorker, reservedAmount } from "../../../support/gateway/admission-worker.ts";
import { hashOf } from "../../../support/gateway/key-records.ts";
import { MemoryLedger } from "../../../support/gateway/memory-ledger.ts";
import { ScriptedAdmission } from "../../../support/gateway/scripted-admission.ts";

const position = { kind: "position", workspace: "ws-1", key: "key-1" } as const;

describe("a message of admissions", () => {
  test("the worker decides in the order of checks: key, platform, rate, model, credit, key's limit, workspace's limit", async () => {
    const worker = new AdmissionWorker();
    const off = worker.addKey("off", { enabled: false });
    const once = worker.addKey("once", { requestsPerMinute: 1 });
    const poor = worker.addKey("poor", { monthlyLimit: reservedAmount - 1n, workspaceLimit: reservedAmount - 1n });
    const bound = worker.addKey("bound", { workspaceLimit: reservedAmount - 1n });
    await worker.replies({ ...position, key: "key-once" });
    const unknown = { model: "unknown/model" };
    const expensive = { inputTokens: 100_000 };
    expect(
      await worker.outcomes(
        admitRequest({ hash: hashOf("unknown"), ...unknown, ...expensive }),
        admitRequest({ hash: off, ...unknown, ...expensive }),
        admitRequest({ hash: once }),
        admitRequest({ hash: once, ...unknown, ...expensive }),
        admitRequest({ ...unknown, ...expensive }),
        admitRequest({ hash: poor, ...expensive }),
        admitRequest({ hash: poor }),
        admitRequest({ hash: bound }),
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

  test("the refusal of an unknown model names the nearest one and ends with the requested id", async () => {
    const worker = new AdmissionWorker();
    worker.models.nearest = () => "stub/model";
    const [reply] = await worker.replies(admitRequest({ model: "model" }));
    expect(reply).toMatchObject({ message: "Did you mean stub/model? There is no model with the id model" });
  });

  test("the worker admits exactly as many requests as the credit covers, in order", async () => {
    const worker = new AdmissionWorker();
    const outcomes = await worker.outcomes(...Array.from({ length: 12 }, () => admitRequest()));
    expect(outcomes).toEqual([...Array(5).fill("admitted"), ...Array(7).fill("insufficient_credit")]);
    const [reply] = await worker.replies(position);
    expect(reply).toMatchObject({ balance: "1000000", reserved: "1000000" });
  });

  test("the worker admits exactly as many requests as the monthly limits of key and workspace allow, including open holds", async () => {
    const worker = new AdmissionWorker();
    const bound = worker.addKey("bound", { monthlyLimit: 2n * reservedAmount, workspaceLimit: 3n * reservedAmount });
    const other = worker.addKey("other", { workspaceLimit: 3n * reservedAmount });
    expect(await worker.outcomes(...Array.from({ length: 3 }, () => admitRequest({ hash: bound })))).toEqual([
      "admitted",
      "admitted",
      "key_spend_limit_exceeded",
    ]);
    expect(await worker.outcomes(admitRequest({ hash: other }), admitRequest({ hash: other }))).toEqual([
      "admitted",
      "account_spend_limit_exceeded",
    ]);
  });

  test("the refusal names the affordable number of output tokens", async () => {
    const worker = new AdmissionWorker();
    const [reply] = await worker.replies(admitRequest({ maxTokens: 4_096 }));
    expect(reply).toMatchObject({ code: "insufficient_credit", window: { limit: 60, remaining: 60 } });
    // 1,000,000 nano-USD less 100 × 1,000 of input leave 450 output tokens of 2,000.
    expect(reply?.kind === "refused" && reply.message).toEndWith(
      "enough for max_tokens up to 450; add credit or lower max_tokens",
    );
    expect(await worker.outcomes(admitRequest({ maxTokens: 450 }))).toEqual(["admitted"]);
  });

  test("each reply carries the reserved amount, the priced bound and the month of the counters' clock", async () => {
    const worker = new AdmissionWorker();
    const [reply] = await worker.replies(admitRequest({ maxTokens: null, inputTokens: 0 }));
    expect(reply).toMatchObject({ code: "insufficient_credit" });
    worker.ledger.append("ws-1", 10_000_000n);
    await worker.replies({ kind: "refresh", workspace: "ws-1" });
    const [second] = await worker.replies(admitRequest({ maxTokens: null, inputTokens: 0 }));
    expect(second).toMatchObject({
      kind: "admitted",
      amount: String(64 * 1_000 + 4_096 * 2_000),
      maxOutputTokens: 4_096,
      month: "2026-11",
      at: worker.clock.now(),
      window: { limit: 60, remaining: 59, resetMs: 60_000 },
    });
  });

  test("a repeated request is held once and gets the same reply", async () => {
    const worker = new AdmissionWorker();
    const request = admitRequest();
    const [first] = await worker.replies(request);
    const [second] = await worker.replies(request);
    expect(second).toEqual(first);
    expect((await worker.counters.holds("ws-1")).length).toBe(1);
  });

  test("the worker does not admit a request whose existing hold is smaller: another worker may have other prices", async () => {
    const worker = new AdmissionWorker();
    const request = admitRequest();
    expect(await worker.outcomes(request)).toEqual(["admitted"]);
    const expensive = { input: 2_000_000n, output: 2_000_000n, cacheRead: 0n, cacheWrite: 0n };
    worker.models.usableRoutes = ({ routes }) => ({
      routes: routes.map((route) => ({ ...route, prices: expensive })),
      reason: null,
    });
    expect(await worker.outcomes(request)).toEqual(["billing_unavailable"]);
  });

  test("the worker refuses a generation id of another request, and one that was released before", async () => {
    const worker = new AdmissionWorker();
    const request = admitRequest();
    await worker.outcomes(request);
    expect(await worker.outcomes(admitRequest({ generation: request.generation, inputTokens: 37 }))).toEqual(["internal_error"]);
    const late = admitRequest();
    expect(await worker.outcomes({ kind: "void", workspace: "ws-1", generation: late.generation })).toEqual(["done"]);
    expect(await worker.outcomes(late)).toEqual(["billing_unavailable"]);
  });

  test("the worker refuses a request past its deadline by the counters' clock, or without a deadline", async () => {
    const worker = new AdmissionWorker();
    expect(
      await worker.outcomes(admitRequest({ deadline: worker.clock.now() - 1 }), admitRequest({ deadline: null }), admitRequest()),
    ).toEqual(["billing_unavailable", "billing_unavailable", "admitted"]);
  });

  test("the worker refuses with billing_unavailable while charges do not reach the ledger", async () => {
    const worker = new AdmissionWorker();
    worker.isBehind = true;
    expect(await worker.outcomes(admitRequest(), admitRequest({ hash: hashOf("unknown") }))).toEqual([
      "billing_unavailable",
      "invalid_api_key",
    ]);
    worker.isBehind = false;
    expect(await worker.outcomes(admitRequest())).toEqual(["admitted"]);
  });

  test("without the database the worker decides for keys with a valid cached record; others are auth_unavailable", async () => {
    const worker = new AdmissionWorker();
    const fresh = worker.addKey("fresh");
    await worker.outcomes(admitRequest());
    worker.isDatabaseDown = true;
    const requests = [admitRequest(), admitRequest({ hash: fresh }), { kind: "authenticate", hash: hashOf("key") } as const];
    expect(await worker.outcomes(...requests)).toEqual(["admitted", "auth_unavailable", "record"]);
    worker.clock.advance(30_000);
    expect(await worker.outcomes(admitRequest(), { kind: "authenticate", hash: hashOf("key") })).toEqual([
      "auth_unavailable",
      "auth_unavailable",
    ]);
  });

  test("without a part of the counters the worker refuses the admissions of its workspaces alone", async () => {
    const worker = new AdmissionWorker({ ledger: new MemoryLedger().open("ws-1", 1_000_000n).open("ws-2", 1_000_000n) });
    const elsewhere = admitRequest({ hash: worker.addKey("elsewhere", { workspace: "ws-2" }) });
    await worker.outcomes(admitRequest(), elsewhere);
    const { counters } = worker;
    const admitMany = counters.admitMany.bind(counters);
    counters.admitMany = async (batch) => {
      const { now, replies } = await admitMany(batch);
      const isDown = (place: number) => batch.requests[place]?.workspace === "ws-2";
      return { now, replies: replies.map((reply, place) => (isDown(place) ? { outcome: "unreachable" } : reply)) };
    };
    expect(await worker.outcomes(admitRequest(), elsewhere)).toEqual(["admitted", "billing_unavailable"]);
  });

  test("without counters admissions are billing_unavailable, and the message's other requests get their replies", async () => {
    const worker = new AdmissionWorker();
    worker.counters.admitMany = () => Promise.reject(new CountersUnavailableError("Redis does not answer"));
    expect(
      await worker.outcomes(admitRequest(), { kind: "authenticate", hash: hashOf("key") }, admitRequest({ hash: hashOf("x") })),
    ).toEqual(["billing_unavailable", "record", "invalid_api_key"]);
  });

  test("no decision is lost when the counters stop answering between two rounds of a message", async () => {
    const worker = new AdmissionWorker({ ledger: new MemoryLedger().open("ws-1", 1_000_000n).open("ws-2", 1_000_000n) });
    const elsewhere = worker.addKey("elsewhere", { workspace: "ws-2" });
    await worker.outcomes(admitRequest());
    const { counters } = worker;
    let calls = 0;
    const admitMany = counters.admitMany.bind(counters);
    counters.admitMany = (batch) =>
      ++calls === 1 ? admitMany(batch) : Promise.reject(new CountersUnavailableError("Redis does not answer"));
    expect(await worker.outcomes(admitRequest(), admitRequest({ hash: elsewhere }))).toEqual(["admitted", "billing_unavailable"]);
  });

  test("a request that cannot be priced affects no other reply", async () => {
    const worker = new AdmissionWorker();
    expect(await worker.outcomes(admitRequest({ inputTokens: -65 }), admitRequest())).toEqual(["internal_error", "admitted"]);
  });

  test("an unreadable catalog is model_unavailable, after the rate check and before the credit check", async () => {
    const worker = new AdmissionWorker();
    worker.models.isReadable = false;
    const [reply] = await worker.replies(admitRequest({ inputTokens: 10_000_000 }));
    expect(reply).toMatchObject({ code: "model_unavailable", reason: "catalog_unreadable", param: "model" });
  });
});

describe("the client of admission", () => {
  const position: AdmissionReply = {
    kind: "position",
    balance: "10",
    reserved: "4",
    lent: "0",
    blocks: [],
    keySpent: "3",
    month: "2026-11",
  };

  test("the client returns a position in nano-USD, after it waited for counters that were being loaded", async () => {
    const admission = new ScriptedAdmission();
    let requests = 0;
    admission.other = () => (++requests < 3 ? { kind: "again" } : position);
    const reading = admission.client.position("ws-1", "key-1");
    await admission.clock.pass(40);
    expect(await reading).toEqual({ balance: 10n, reserved: 4n, available: 6n, keySpent: 3n, month: "2026-11" });
  });

  test("the client returns null when the counters cannot be read", async () => {
    const admission = new ScriptedAdmission();
    admission.other = () => ({ kind: "refused", code: "billing_unavailable" });
    expect(await admission.client.position("ws-1", null)).toBeNull();
    admission.other = () => ({ kind: "again" });
    const reading = admission.client.position("ws-1", null);
    await admission.clock.pass(1_100);
    expect(await reading).toBeNull();
    admission.bus.carry = () => Promise.reject(new BusTimeoutError("no reply"));
    expect(await admission.client.position("ws-1", null)).toBeNull();
  });

  test("a refresh that no worker receives does not throw", async () => {
    const admission = new ScriptedAdmission();
    admission.bus.carry = () => Promise.reject(new BusUnavailableError("no worker"));
    await admission.client.refresh("ws-1");
    expect(admission.received("refresh")).toEqual([]);
  });

  test("the readiness check reports which part does not answer", async () => {
    const admission = new ScriptedAdmission();
    expect(await admission.client.problem()).toBeNull();
    admission.now = null;
    expect(await admission.client.problem()).toBe("the counters do not answer");
    admission.authenticate = () => ({ kind: "refused", code: "auth_unavailable" });
    expect(await admission.client.problem()).toBe("keys cannot be read");
  });
});
