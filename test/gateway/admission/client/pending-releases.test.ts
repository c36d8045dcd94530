import { describe, expect, test } from "bun:test";
import { BusUnavailableError } from "../../../../src/backing/bus.ts";
import { holdMs } from "../../../../src/backing/limits.ts";
import { releasesWaitingMax } from "../../../../src/gateway/limits.ts";
import { settled } from "../../../support/clock.ts";
import { ScriptedAdmission } from "../../../support/scripted-admission.ts";

describe("generations of which it is not known whether they are held", () => {
  test("are given up even when nobody can be reached for a while", async () => {
    const admission = new ScriptedAdmission();
    const { carry } = admission.bus;
    admission.bus.carry = () => Promise.reject(new BusUnavailableError("nobody"));
    for (let number = 0; number < 300; number++) admission.client.releases.add("ws-1", `gen-${number}`);
    await admission.clock.pass(60_000);
    expect(admission.client.releases.size).toBe(300);
    admission.bus.carry = carry;
    await admission.clock.pass(2_000);
    expect(admission.client.releases.size).toBe(0);
    expect(new Set(admission.asked("void").map((ask) => ask.generation)).size).toBe(300);
    expect(admission.clock.pending).toBe(0);
  });

  test("are given up whenever they are added, also in the very moment in which the last one is done", async () => {
    const admission = new ScriptedAdmission();
    const { releases: voids } = admission.client;
    let added = 0;
    const addInTheFirstIdleTick = async () => {
      for (let tick = 0; tick < 40; tick++) {
        await Promise.resolve();
        if (voids.size === 0) return voids.add("ws-1", `gen-${++added}`);
      }
    };
    admission.giveUp = () => {
      if (added < 10) void addInTheFirstIdleTick();
      return { kind: "done" };
    };
    voids.add("ws-1", "gen-0");
    for (let turn = 0; turn < 20; turn++) await settled();
    expect(voids.size).toBe(0);
    expect(admission.asked("void").length).toBe(11);
  });

  test("are left to the sweeper once their hold has ended, and when there are too many", async () => {
    const admission = new ScriptedAdmission();
    admission.giveUp = () => ({ kind: "refused", code: "billing_unavailable" });
    for (let number = 0; number < releasesWaitingMax + 5; number++) admission.client.releases.add("ws-1", `gen-${number}`);
    expect(admission.client.releases.size).toBe(releasesWaitingMax);
    const few = new ScriptedAdmission();
    few.giveUp = () => ({ kind: "refused", code: "billing_unavailable" });
    few.client.releases.add("ws-1", "gen-1");
    await few.clock.pass(holdMs + 1_000);
    expect(few.client.releases.size).toBe(0);
  });
});
