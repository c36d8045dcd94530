/** A gateway may die before it reads an admission: it writes an intent first. */
import { expect, test } from "bun:test";
import { GenerationJournal } from "../../../src/gateway/journal/journal.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { ManualClock } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { FakeBus } from "../../support/servers/fake-bus.ts";
import { ScriptedAdmission, caller, requestFacts } from "../../support/gateway/scripted-admission.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("the gateway writes an admission's intent before it sends the request", async () => {
  const scripted = new ScriptedAdmission();
  const order: string[] = [];
  scripted.recordIntents = (intents) => order.push(...intents.map(({ workspace }) => `written for ${workspace}`));
  const admit = scripted.admit;
  scripted.admit = (request) => {
    order.push("received");
    return admit(request);
  };
  await scripted.client.admit(caller, requestFacts);
  expect(order).toEqual([`written for ${caller.record.workspace}`, "received"]);
});

test("the gateway sends no request if the intent cannot be written, and answers billing_unavailable", async () => {
  const scripted = new ScriptedAdmission();
  scripted.recordIntents = () => {
    throw new Error("The disk is full");
  };
  const refused = await scripted.client.admit(caller, requestFacts).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "billing_unavailable" });
  expect(scripted.received("admit")).toEqual([]);
});

test("the gateway does not write a refused request's intent later: a full disk leaves no backlog", async () => {
  const scripted = new ScriptedAdmission();
  const written: string[] = [];
  scripted.recordIntents = () => {
    throw new Error("The disk is full");
  };
  for (let number = 0; number < 3; number++) await failureOf(scripted.client.admit(caller, requestFacts));
  scripted.recordIntents = (intents) => written.push(...intents.map(({ generation }) => generation));
  const { reservation } = await scripted.client.admit(caller, requestFacts);
  expect(written).toEqual([reservation.generation]);
});

test("a successor recovers the admissions that were requested and never dispatched", async () => {
  await using folder = await temporaryFolder();
  const parts = { bus: new FakeBus(), clock: new ManualClock(), log: silentLog, folder: folder.path };
  const intent = { workspace: "ws-a", generation: "gen-aaaaaaaaaaaaaaaaaaaaaaaaaa" };
  const dead = new GenerationJournal(parts);
  dead.recordIntents([intent]);
  using successor = new GenerationJournal(parts);
  expect(successor.recover()).toEqual({
    settled: 0,
    interrupted: 0,
    unknown: 0,
    pendingAdmissions: [intent],
    blocks: [],
    admitted: new Map(),
  });
});
