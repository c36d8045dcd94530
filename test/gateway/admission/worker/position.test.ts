import { describe, expect, test } from "bun:test";
import type { AdmissionReply } from "../../../../src/gateway/admission/message.ts";
import { BusTimeoutError, BusUnavailableError } from "../../../../src/backing/bus.ts";
import { ScriptedAdmission } from "../../../support/gateway/scripted-admission.ts";

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
