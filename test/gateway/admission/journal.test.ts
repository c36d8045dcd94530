/** A gateway may die between being admitted and hearing of it: what it asked for is written down first. */
import { expect, test } from "bun:test";
import { GenerationJournal } from "../../../src/gateway/journal/journal.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { ManualClock } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { FakeBus } from "../../support/fake-bus.ts";
import { ScriptedAdmission, caller, wanted } from "../../support/scripted-admission.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("an admission is written down before it is asked for", async () => {
  const scripted = new ScriptedAdmission();
  const order: string[] = [];
  scripted.journal = (asked) => order.push(...asked.map(({ workspace }) => `written for ${workspace}`));
  const admit = scripted.admit;
  scripted.admit = (ask) => {
    order.push("asked");
    return admit(ask);
  };
  await scripted.client.admit(caller, wanted);
  expect(order).toEqual([`written for ${caller.record.workspace}`, "asked"]);
});

test("where it cannot be written down nothing is asked, and the answer is billing_unavailable", async () => {
  const scripted = new ScriptedAdmission();
  scripted.journal = () => {
    throw new Error("The disk is full");
  };
  const refused = await scripted.client.admit(caller, wanted).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "billing_unavailable" });
  expect(scripted.asked("admit")).toEqual([]);
});

test("what could not be asked for is not written down later: a full disk leaves no pile behind", async () => {
  const scripted = new ScriptedAdmission();
  const written: string[] = [];
  scripted.journal = () => {
    throw new Error("The disk is full");
  };
  for (let number = 0; number < 3; number++) await failureOf(scripted.client.admit(caller, wanted));
  scripted.journal = (asked) => written.push(...asked.map(({ generation }) => generation));
  const { reservation } = await scripted.client.admit(caller, wanted);
  expect(written).toEqual([reservation.generation]);
});

test("a successor is told what was asked for and never dispatched", async () => {
  await using folder = await temporaryFolder();
  const parts = { bus: new FakeBus(), clock: new ManualClock(), log: silentLog, folder: folder.path };
  const asked = { workspace: "ws-a", generation: "gen-aaaaaaaaaaaaaaaaaaaaaaaaaa" };
  const dead = new GenerationJournal(parts);
  dead.recordIntents([asked]);
  using successor = new GenerationJournal(parts);
  expect(successor.recover()).toEqual({ settled: 0, interrupted: 0, unknown: 0, pendingAdmissions: [asked] });
});
