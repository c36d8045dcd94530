/** What a dead gateway's successor charges for a request whose provider had closed the connection that was kept. */
import { expect, test } from "bun:test";
import type { Gateway } from "../../../src/gateway/api/gateway.ts";
import { GenerationLifecycle } from "../../../src/gateway/api/lifecycle.ts";
import { StopSignal } from "../../../src/kernel/clock.ts";
import { reservation } from "../../support/gateway/intents.ts";
import { TestJournals } from "../../support/gateway/test-journals.ts";
import { candidate } from "../../support/providers/candidates.ts";

test.each([
  ["is free while it waits for a new one", false],
  ["is owed as soon as it leaves on a new one", true],
])("such a request %s", async (_, isSentAgain) => {
  await using journals = await TestJournals.make();
  const journal = journals.open();
  const inFlight = { begin: () => new StopSignal(), done() {} };
  const gateway = { journal, clock: journals.clock, inFlight } as unknown as Gateway;
  const first = candidate("acme");
  const facts = { fingerprint: "f0", model: first.model.id, streamed: true, promptEstimate: 1_000, candidate: first };
  const none = { isRouted: false, trace: null, prompt: null, decision: { askedAt: 0, decidedAt: 0 } };
  const opened = GenerationLifecycle.open(reservation(), { ...facts, ...none }, gateway);
  journal.flush();
  const lifecycle = await opened;

  lifecycle.startCall(first);
  lifecycle.markSent();
  lifecycle.noteUnlessSent();
  lifecycle.noteResent();
  if (isSentAgain) lifecycle.markSent();

  expect(lifecycle.sentAt !== null).toBe(isSentAgain);
  journal[Symbol.dispose]();
  expect(journals.open().recover()).toMatchObject({ interrupted: isSentAgain ? 1 : 0, unknown: isSentAgain ? 0 : 1 });
});
