import { describe, expect, test } from "bun:test";
import { BusTimeoutError, BusUnavailableError, type Reply } from "../../../src/backing/bus.ts";
import { CountersUnavailableError } from "../../../src/backing/counters.ts";
import { RefusedError } from "../../../src/gateway/admission/client.ts";
import type { AdmissionReply } from "../../../src/gateway/admission/message.ts";
import { encodeReportRequest } from "../../../src/gateway/journal/open-report.ts";
import { GatewayError } from "../../../src/kernel/errors.ts";
import { settled } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { admitRequest, AdmissionWorker } from "../../support/gateway/admission-worker.ts";
import { hashOf } from "../../support/gateway/key-records.ts";
import { admittedReply, caller, ScriptedAdmission, requestFacts } from "../../support/gateway/scripted-admission.ts";

const refusals = {
  credit: { kind: "refused", code: "insufficient_credit" },
  billing: { kind: "refused", code: "billing_unavailable" },
  internal: { kind: "refused", code: "internal_error" },
} as const satisfies Record<string, AdmissionReply>;

function codeOf(error: unknown): string {
  return error instanceof GatewayError ? error.code : String(error);
}

/** The code of the client's error, while the clock advances. */
async function refusalOf(admission: ScriptedAdmission): Promise<string> {
  const failed = failureOf(admission.client.admit(caller, requestFacts));
  await admission.clock.pass(3_000);
  return codeOf(await failed);
}

/** The worker acts on the next message, and its reply is lost. */
function loseNextReply(admission: ScriptedAdmission): void {
  const { carry } = admission.bus;
  admission.bus.carry = async (deliver) => {
    admission.bus.carry = carry;
    await deliver();
    throw new BusTimeoutError("no reply within 2 s");
  };
}

describe("the authentication of a key", () => {
  test("the client requests a key's record once, and again when it is 30 seconds old or a record changed", async () => {
    const admission = new ScriptedAdmission();
    expect(await admission.client.authenticate(caller.hash)).toEqual(caller);
    await admission.client.authenticate(caller.hash);
    expect(admission.received("authenticate").length).toBe(1);
    admission.bus.broadcast("records-changed");
    await admission.client.authenticate(caller.hash);
    expect(admission.received("authenticate").length).toBe(2);
    admission.clock.advance(30_000);
    await admission.client.authenticate(caller.hash);
    expect(admission.received("authenticate").length).toBe(3);
  });

  test("the client returns null for a key that cannot be used", async () => {
    const admission = new ScriptedAdmission();
    admission.authenticate = () => ({ kind: "record", ageMs: 0, record: null });
    expect(await admission.client.authenticate(caller.hash)).toBeNull();
    expect(await admission.client.authenticate(caller.hash)).toBeNull();
    expect(admission.received("authenticate").length).toBe(1);
  });

  test.each([
    ["no worker runs", new BusUnavailableError("no worker")],
    ["no worker replies", new BusTimeoutError("no reply")],
  ])("the client throws auth_unavailable when %s", async (_, failure) => {
    const admission = new ScriptedAdmission();
    admission.bus.carry = () => Promise.reject(failure);
    expect(codeOf(await failureOf(admission.client.authenticate(caller.hash)))).toBe("auth_unavailable");
  });

  test("the client throws auth_unavailable when a worker cannot read keys, and does not cache that", async () => {
    const admission = new ScriptedAdmission();
    const { authenticate } = admission;
    admission.authenticate = () => ({ kind: "refused", code: "auth_unavailable" });
    expect(codeOf(await failureOf(admission.client.authenticate(caller.hash)))).toBe("auth_unavailable");
    admission.authenticate = authenticate;
    expect(await admission.client.authenticate(caller.hash)).toEqual(caller);
  });
});

describe("the admission of a request", () => {
  test("the client returns a reservation with the decided values", async () => {
    const admission = new ScriptedAdmission();
    const { reservation, window } = await admission.client.admit(caller, requestFacts);
    expect(reservation).toMatchObject({ workspace: "ws-1", key: "key-1", month: "2026-11", amount: 114_000n, admittedAt: 1_000 });
    expect(reservation.generation).toMatch(/^gen-[a-z2-7]{26}$/);
    expect(reservation.request).toMatch(/^req-/);
    expect(window.remaining).toBe(59);
    expect(admission.client.releases.size).toBe(0);
  });

  test("a request has a deadline of 2 seconds by the counters' clock, which the first reply of any kind carries", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.clock.advance(500);
    await admission.client.admit(caller, requestFacts);
    expect(admission.received("admit")[0]?.deadline).toBe(1_000_000 + 500 + 2_000);
  });

  test("the client first requests the counters' time if it has none, and sends no deadline if no reply carries it", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.admit(caller, requestFacts);
    expect(admission.received("admit")[0]?.deadline).toBe(1_002_000);

    const timeless = new ScriptedAdmission();
    timeless.now = null;
    timeless.admit = ({ deadline }) => (deadline === null ? refusals.billing : admittedReply());
    expect(await refusalOf(timeless)).toBe("billing_unavailable");
  });

  test("the client throws the worker's refusal, and releases nothing when the refusal is certain", async () => {
    const admission = new ScriptedAdmission();
    const window = { limit: 60, remaining: 0, resetMs: 100 };
    admission.admit = () => ({ kind: "refused", code: "rate_limited", retryAfterMs: 1_234, window });
    const error = await failureOf(admission.client.admit(caller, requestFacts));
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ code: "rate_limited", retryAfterMs: 1_234, window });
    await settled();
    expect(admission.received("void")).toEqual([]);
  });

  test("without a worker the client throws billing_unavailable at once, and has nothing to release", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.bus.carry = () => Promise.reject(new BusUnavailableError("no worker"));
    expect(codeOf(await failureOf(admission.client.admit(caller, requestFacts)))).toBe("billing_unavailable");
    expect(admission.client.releases.size).toBe(0);
  });

  test("without a reply the client throws billing_unavailable, and requests a release until a worker confirms it", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    loseNextReply(admission);
    admission.release = () => refusals.billing;
    expect(codeOf(await failureOf(admission.client.admit(caller, requestFacts)))).toBe("billing_unavailable");
    const [{ generation } = { generation: "" }] = admission.received("admit");
    await admission.clock.pass(1_600);
    expect(admission.received("void").length).toBe(4);
    expect(new Set(admission.received("void").map((request) => request.generation))).toEqual(new Set([generation]));
    expect(admission.client.releases.size).toBe(1);

    admission.release = () => ({ kind: "done" });
    await admission.clock.pass(500);
    expect(admission.client.releases.size).toBe(0);
    const releases = admission.received("void").length;
    await admission.clock.pass(5_000);
    expect(admission.received("void").length).toBe(releases);
    expect(admission.clock.pending).toBe(0);
  });

  test.each(["billing", "internal"] as const)(
    "an admission refused as %s is released, since the counters may hold it",
    async (name) => {
      const admission = new ScriptedAdmission();
      admission.admit = () => refusals[name];
      expect(await refusalOf(admission)).toBe(refusals[name].code);
      expect(admission.received("void").map((request) => request.generation)).toEqual(
        admission.received("admit").map((request) => request.generation),
      );
    },
  );

  test("an admission refused by the second of two workers is released, since the first may have admitted it", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.admit = () => refusals.credit;
    admission.bus.carry = async (deliver) => ({ payload: await deliver(), resent: true });
    expect(await refusalOf(admission)).toBe("insufficient_credit");
    expect(admission.received("void").length).toBe(1);
  });

  test("the caller's release of an unused admission leaves no hold", async () => {
    const admission = new ScriptedAdmission();
    const { reservation } = await admission.client.admit(caller, requestFacts);
    admission.client.release(reservation);
    await settled();
    expect(admission.received("void")).toEqual([{ kind: "void", workspace: "ws-1", generation: reservation.generation }]);
  });

  test("the client repeats the request under the same id for a second while counters are loaded, then throws billing_unavailable", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.admit = () => ({ kind: "again" });
    const began = admission.clock.monotonic();
    let ended = began;
    const failed = failureOf(admission.client.admit(caller, requestFacts)).finally(() => (ended = admission.clock.monotonic()));
    await admission.clock.pass(3_000);
    expect(codeOf(await failed)).toBe("billing_unavailable");
    expect(ended - began).toBeGreaterThanOrEqual(1_000);
    expect(ended - began).toBeLessThan(1_100);
    expect(new Set(admission.received("admit").map((request) => request.generation)).size).toBe(1);
    expect(admission.received("admit").length).toBeGreaterThan(10);
    // It was certainly not admitted, so there is nothing to release.
    expect(admission.received("void")).toEqual([]);
  });

  test("the client admits a request as soon as its counters are loaded", async () => {
    const admission = new ScriptedAdmission();
    let requests = 0;
    admission.admit = () => (++requests < 4 ? { kind: "again" } : admittedReply());
    const admitted = admission.client.admit(caller, requestFacts);
    await admission.clock.pass(60);
    expect((await admitted).reservation.amount).toBe(114_000n);
    expect(admission.clock.pending).toBe(0);
  });

  test("an admission that two workers may have seen is released when then no worker runs", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.admit = () => ({ kind: "again" });
    const replies: ((deliver: () => Promise<Uint8Array>) => Promise<Reply>)[] = [
      async (deliver) => ({ payload: await deliver(), resent: true }),
      () => Promise.reject(new BusUnavailableError("no worker")),
    ];
    const { carry } = admission.bus;
    admission.bus.carry = (deliver) => (replies.shift() ?? carry)(deliver);
    expect(await refusalOf(admission)).toBe("billing_unavailable");
    expect(admission.received("void").length).toBe(1);
  });

  test("the client repeats a request whose counters were rebuilt before its reply, since its hold may be lost", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    const { carry } = admission.bus;
    admission.bus.carry = async (deliver) => {
      admission.bus.carry = carry;
      const payload = await deliver();
      await admission.bus.scatter("open-generations", encodeReportRequest({ workspace: "ws-1" }));
      return { payload, resent: false };
    };
    const admitted = admission.client.admit(caller, requestFacts);
    await admission.clock.pass(100);
    await admitted;
    expect(admission.received("admit").length).toBe(2);
    expect(new Set(admission.received("admit").map((request) => request.generation)).size).toBe(1);
  });

  test("the client does not repeat a request when another workspace's counters were rebuilt", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.bus.carry = async (deliver) => {
      const payload = await deliver();
      await admission.bus.scatter("open-generations", encodeReportRequest({ workspace: "ws-2" }));
      return { payload, resent: false };
    };
    await admission.client.admit(caller, requestFacts);
    expect(admission.received("admit").length).toBe(1);
  });

  test("the client releases an admission after a second of repeated rebuilds", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.bus.carry = async (deliver) => {
      const payload = await deliver();
      await admission.bus.scatter("open-generations", encodeReportRequest({ workspace: "ws-1" }));
      return { payload, resent: false };
    };
    expect(await refusalOf(admission)).toBe("billing_unavailable");
    expect(admission.received("void").length).toBe(1);
  });
});

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
