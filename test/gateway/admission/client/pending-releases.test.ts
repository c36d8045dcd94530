import { describe, expect, test } from "bun:test";
import { BusUnavailableError } from "../../../../src/backing/bus.ts";
import { holdMs } from "../../../../src/backing/limits.ts";
import { releasesWaitingMax } from "../../../../src/gateway/limits.ts";
import { settled } from "../../../support/clock.ts";
import { ScriptedAdmission } from "../../../support/gateway/scripted-admission.ts";

describe("generations whose admission has an unknown outcome", () => {
  test("they are released even if no worker can be reached for a while", async () => {
    const admission = new ScriptedAdmission();
    const { carry } = admission.bus;
    admission.bus.carry = () => Promise.reject(new BusUnavailableError("no worker"));
    for (let number = 0; number < 300; number++) admission.client.releases.add("ws-1", `gen-${number}`);
    await admission.clock.pass(60_000);
    expect(admission.client.releases.size).toBe(300);
    admission.bus.carry = carry;
    await admission.clock.pass(2_000);
    expect(admission.client.releases.size).toBe(0);
    expect(new Set(admission.received("void").map((request) => request.generation)).size).toBe(300);
    expect(admission.clock.pending).toBe(0);
  });

  test("they are released whenever they are added, also in the tick in which the last release ends", async () => {
    const admission = new ScriptedAdmission();
    const { releases } = admission.client;
    let added = 0;
    const addInTheFirstIdleTick = async () => {
      for (let tick = 0; tick < 40; tick++) {
        await Promise.resolve();
        if (releases.size === 0) return releases.add("ws-1", `gen-${++added}`);
      }
    };
    admission.release = () => {
      if (added < 10) void addInTheFirstIdleTick();
      return { kind: "done" };
    };
    releases.add("ws-1", "gen-0");
    for (let turn = 0; turn < 20; turn++) await settled();
    expect(releases.size).toBe(0);
    expect(admission.received("void").length).toBe(11);
  });

  test("they are left to the sweeper once their hold has ended, and when there are too many", async () => {
    const admission = new ScriptedAdmission();
    admission.release = () => ({ kind: "refused", code: "billing_unavailable" });
    for (let number = 0; number < releasesWaitingMax + 5; number++) admission.client.releases.add("ws-1", `gen-${number}`);
    expect(admission.client.releases.size).toBe(releasesWaitingMax);
    const few = new ScriptedAdmission();
    few.release = () => ({ kind: "refused", code: "billing_unavailable" });
    few.client.releases.add("ws-1", "gen-1");
    await few.clock.pass(holdMs + 1_000);
    expect(few.client.releases.size).toBe(0);
  });
});
