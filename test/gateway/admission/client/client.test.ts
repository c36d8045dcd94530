import { describe, expect, test } from "bun:test";
import { RefusedError } from "../../../../src/gateway/admission/client/client.ts";
import type { AdmissionReply } from "../../../../src/gateway/admission/message.ts";
import { BusTimeoutError, BusUnavailableError, type Reply } from "../../../../src/backing/bus.ts";
import { encodeReportRequest } from "../../../../src/gateway/journal/open-report.ts";
import { GatewayError } from "../../../../src/kernel/errors.ts";
import { settled } from "../../../support/clock.ts";
import { failureOf } from "../../../support/failure-of.ts";
import { admittedAnswer, caller, ScriptedAdmission, wanted } from "../../../support/scripted-admission.ts";

const refusals = {
  credit: { kind: "refused", code: "insufficient_credit" },
  billing: { kind: "refused", code: "billing_unavailable" },
  internal: { kind: "refused", code: "internal_error" },
} as const satisfies Record<string, AdmissionReply>;

function codeOf(error: unknown): string {
  return error instanceof GatewayError ? error.code : String(error);
}

/** Its error, with the clock going on until there is one. */
async function refusalOf(admission: ScriptedAdmission): Promise<string> {
  const failed = failureOf(admission.client.admit(caller, wanted));
  await admission.clock.pass(3_000);
  return codeOf(await failed);
}

/** Once: the handler acts, and what it said is lost. */
function loseNextAnswer(admission: ScriptedAdmission): void {
  const { carry } = admission.bus;
  admission.bus.carry = async (deliver) => {
    admission.bus.carry = carry;
    await deliver();
    throw new BusTimeoutError("no answer within 2 s");
  };
}

describe("asking who calls", () => {
  test("is done once, then known until it is 30 seconds old or something changed", async () => {
    const admission = new ScriptedAdmission();
    expect(await admission.client.authenticate(caller.hash)).toEqual(caller);
    await admission.client.authenticate(caller.hash);
    expect(admission.asked("authenticate").length).toBe(1);
    admission.bus.broadcast("records-changed");
    await admission.client.authenticate(caller.hash);
    expect(admission.asked("authenticate").length).toBe(2);
    admission.clock.advance(30_000);
    await admission.client.authenticate(caller.hash);
    expect(admission.asked("authenticate").length).toBe(3);
  });

  test("ends with null for a key that is not usable", async () => {
    const admission = new ScriptedAdmission();
    admission.authenticate = () => ({ kind: "record", ageMs: 0, record: null });
    expect(await admission.client.authenticate(caller.hash)).toBeNull();
    expect(await admission.client.authenticate(caller.hash)).toBeNull();
    expect(admission.asked("authenticate").length).toBe(1);
  });

  test.each([
    ["nobody is there", new BusUnavailableError("nobody")],
    ["nobody answers", new BusTimeoutError("no answer")],
  ])("ends with auth_unavailable where %s", async (_, failure) => {
    const admission = new ScriptedAdmission();
    admission.bus.carry = () => Promise.reject(failure);
    expect(codeOf(await failureOf(admission.client.authenticate(caller.hash)))).toBe("auth_unavailable");
  });

  test("ends with auth_unavailable where a worker cannot read keys, and that is not remembered", async () => {
    const admission = new ScriptedAdmission();
    const { authenticate } = admission;
    admission.authenticate = () => ({ kind: "refused", code: "auth_unavailable" });
    expect(codeOf(await failureOf(admission.client.authenticate(caller.hash)))).toBe("auth_unavailable");
    admission.authenticate = authenticate;
    expect(await admission.client.authenticate(caller.hash)).toEqual(caller);
  });
});

describe("asking for admission", () => {
  test("gives a reservation of what was decided", async () => {
    const admission = new ScriptedAdmission();
    const { reservation, window } = await admission.client.admit(caller, wanted);
    expect(reservation).toMatchObject({ workspace: "ws-1", key: "key-1", month: "2026-11", amount: 114_000n, admittedAt: 1_000 });
    expect(reservation.generation).toMatch(/^gen-[a-z2-7]{26}$/);
    expect(reservation.request).toMatch(/^req-/);
    expect(window.remaining).toBe(59);
    expect(admission.client.releases.size).toBe(0);
  });

  test("bears a deadline of 2 seconds by the counters' clock, which the first answer of any kind tells", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.clock.advance(500);
    await admission.client.admit(caller, wanted);
    expect(admission.asked("admit")[0]?.deadline).toBe(1_000_000 + 500 + 2_000);
  });

  test("asks for the time first where it is not known, and goes without a deadline where nobody tells it", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.admit(caller, wanted);
    expect(admission.asked("admit")[0]?.deadline).toBe(1_002_000);

    const timeless = new ScriptedAdmission();
    timeless.now = null;
    timeless.admit = ({ deadline }) => (deadline === null ? refusals.billing : admittedAnswer());
    expect(await refusalOf(timeless)).toBe("billing_unavailable");
  });

  test("ends with the worker's refusal, and nothing is given up where it is certain", async () => {
    const admission = new ScriptedAdmission();
    const window = { limit: 60, remaining: 0, resetMs: 100 };
    admission.admit = () => ({ kind: "refused", code: "rate_limited", retryAfterMs: 1_234, window });
    const error = await failureOf(admission.client.admit(caller, wanted));
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ code: "rate_limited", retryAfterMs: 1_234, window });
    await settled();
    expect(admission.asked("void")).toEqual([]);
  });

  test("is not repeated under another id: with nobody there it ends at once in billing_unavailable, and nothing is owed", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.bus.carry = () => Promise.reject(new BusUnavailableError("nobody"));
    expect(codeOf(await failureOf(admission.client.admit(caller, wanted)))).toBe("billing_unavailable");
    expect(admission.client.releases.size).toBe(0);
  });

  test("without an answer ends in billing_unavailable, and its generation is given up until a worker says done", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    loseNextAnswer(admission);
    admission.giveUp = () => refusals.billing;
    expect(codeOf(await failureOf(admission.client.admit(caller, wanted)))).toBe("billing_unavailable");
    const [{ generation } = { generation: "" }] = admission.asked("admit");
    await admission.clock.pass(1_600);
    expect(admission.asked("void").length).toBe(4);
    expect(new Set(admission.asked("void").map((ask) => ask.generation))).toEqual(new Set([generation]));
    expect(admission.client.releases.size).toBe(1);

    admission.giveUp = () => ({ kind: "done" });
    await admission.clock.pass(500);
    expect(admission.client.releases.size).toBe(0);
    const asked = admission.asked("void").length;
    await admission.clock.pass(5_000);
    expect(admission.asked("void").length).toBe(asked);
    expect(admission.clock.pending).toBe(0);
  });

  test.each(["billing", "internal"] as const)("refused as %s may have been done all the same: it is given up", async (name) => {
    const admission = new ScriptedAdmission();
    admission.admit = () => refusals[name];
    expect(await refusalOf(admission)).toBe(refusals[name].code);
    expect(admission.asked("void").map((ask) => ask.generation)).toEqual(admission.asked("admit").map((ask) => ask.generation));
  });

  test("refused by the second of two workers is given up, for the first may have admitted it", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.admit = () => refusals.credit;
    admission.bus.carry = async (deliver) => ({ payload: await deliver(), resent: true });
    expect(await refusalOf(admission)).toBe("insufficient_credit");
    expect(admission.asked("void").length).toBe(1);
  });

  test("given up by who had no use for it leaves nothing held", async () => {
    const admission = new ScriptedAdmission();
    const { reservation } = await admission.client.admit(caller, wanted);
    admission.client.release(reservation);
    await settled();
    expect(admission.asked("void")).toEqual([{ kind: "void", workspace: "ws-1", generation: reservation.generation }]);
  });

  test("is asked again under the same id for as long as a second while counters are loaded, then is billing_unavailable", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.admit = () => ({ kind: "again" });
    const began = admission.clock.monotonic();
    let ended = began;
    const failed = failureOf(admission.client.admit(caller, wanted)).finally(() => (ended = admission.clock.monotonic()));
    await admission.clock.pass(3_000);
    expect(codeOf(await failed)).toBe("billing_unavailable");
    expect(ended - began).toBeGreaterThanOrEqual(1_000);
    expect(ended - began).toBeLessThan(1_100);
    expect(new Set(admission.asked("admit").map((ask) => ask.generation)).size).toBe(1);
    expect(admission.asked("admit").length).toBeGreaterThan(10);
    // It was certainly not admitted, so nothing has to be given up.
    expect(admission.asked("void")).toEqual([]);
  });

  test("is admitted as soon as its counters are there", async () => {
    const admission = new ScriptedAdmission();
    let asked = 0;
    admission.admit = () => (++asked < 4 ? { kind: "again" } : admittedAnswer());
    const admitted = admission.client.admit(caller, wanted);
    await admission.clock.pass(60);
    expect((await admitted).reservation.amount).toBe(114_000n);
    expect(admission.clock.pending).toBe(0);
  });

  test("that two workers may have seen, then 'again', then nobody there, is given up", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.admit = () => ({ kind: "again" });
    const replies: ((deliver: () => Promise<Uint8Array>) => Promise<Reply>)[] = [
      async (deliver) => ({ payload: await deliver(), resent: true }),
      () => Promise.reject(new BusUnavailableError("nobody")),
    ];
    const { carry } = admission.bus;
    admission.bus.carry = (deliver) => (replies.shift() ?? carry)(deliver);
    expect(await refusalOf(admission)).toBe("billing_unavailable");
    expect(admission.asked("void").length).toBe(1);
  });

  test("answered after the counters were rebuilt without it is asked again, for its hold may be gone", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    const { carry } = admission.bus;
    admission.bus.carry = async (deliver) => {
      admission.bus.carry = carry;
      const payload = await deliver();
      await admission.bus.scatter("open-generations", encodeReportRequest({ workspace: "ws-1" }));
      return { payload, resent: false };
    };
    const admitted = admission.client.admit(caller, wanted);
    await admission.clock.pass(100);
    await admitted;
    expect(admission.asked("admit").length).toBe(2);
    expect(new Set(admission.asked("admit").map((ask) => ask.generation)).size).toBe(1);
  });

  test("is not asked again when another workspace was rebuilt", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.bus.carry = async (deliver) => {
      const payload = await deliver();
      await admission.bus.scatter("open-generations", encodeReportRequest({ workspace: "ws-2" }));
      return { payload, resent: false };
    };
    await admission.client.admit(caller, wanted);
    expect(admission.asked("admit").length).toBe(1);
  });

  test("whose counters are rebuilt again and again is given up after a second", async () => {
    const admission = new ScriptedAdmission();
    await admission.client.authenticate(caller.hash);
    admission.bus.carry = async (deliver) => {
      const payload = await deliver();
      await admission.bus.scatter("open-generations", encodeReportRequest({ workspace: "ws-1" }));
      return { payload, resent: false };
    };
    expect(await refusalOf(admission)).toBe("billing_unavailable");
    expect(admission.asked("void").length).toBe(1);
  });
});
