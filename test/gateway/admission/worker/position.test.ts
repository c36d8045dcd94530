import { describe, expect, test } from "bun:test";
import type { AdmissionReply } from "../../../../src/gateway/admission/message.ts";
import { BusTimeoutError, BusUnavailableError } from "../../../../src/backing/bus.ts";
import { ScriptedAdmission } from "../../../support/scripted-admission.ts";

describe("asking for a position", () => {
  const position: AdmissionReply = {
    kind: "position",
    balance: "10",
    reserved: "4",
    available: "6",
    keySpent: "3",
    month: "2026-11",
  };

  test("tells it in nano-USD, waiting for counters that are being loaded", async () => {
    const admission = new ScriptedAdmission();
    let asked = 0;
    admission.other = () => (++asked < 3 ? { kind: "again" } : position);
    const told = admission.client.position("ws-1", "key-1");
    await admission.clock.pass(40);
    expect(await told).toEqual({ balance: 10n, reserved: 4n, available: 6n, keySpent: 3n, month: "2026-11" });
  });

  test("tells null where nobody can answer for the money", async () => {
    const admission = new ScriptedAdmission();
    admission.other = () => ({ kind: "refused", code: "billing_unavailable" });
    expect(await admission.client.position("ws-1", null)).toBeNull();
    admission.other = () => ({ kind: "again" });
    const told = admission.client.position("ws-1", null);
    await admission.clock.pass(1_100);
    expect(await told).toBeNull();
    admission.bus.carry = () => Promise.reject(new BusTimeoutError("no answer"));
    expect(await admission.client.position("ws-1", null)).toBeNull();
  });

  test("a refresh that nobody hears of fails nobody", async () => {
    const admission = new ScriptedAdmission();
    admission.bus.carry = () => Promise.reject(new BusUnavailableError("nobody"));
    await admission.client.refresh("ws-1");
    expect(admission.asked("refresh")).toEqual([]);
  });

  test("the check for readiness says what does not answer", async () => {
    const admission = new ScriptedAdmission();
    expect(await admission.client.problem()).toBeNull();
    admission.now = null;
    expect(await admission.client.problem()).toBe("the counters do not answer");
    admission.authenticate = () => ({ kind: "refused", code: "auth_unavailable" });
    expect(await admission.client.problem()).toBe("keys cannot be read");
  });
});
