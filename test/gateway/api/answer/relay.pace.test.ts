import { describe, expect, test } from "bun:test";
import { DrainLimit } from "../../../../src/gateway/api/answer/drains.ts";
import { drainMsMax, drainsMax, drainsPerWorkspaceMax, lastEventsMsMax, lastTokensMax } from "../../../../src/gateway/limits.ts";
import { settled } from "../../../support/clock.ts";
import { end, FakeEvents, finish, text, usage } from "../../../support/providers/fake-events.ts";
import { allOf, openRelay, drainSlotIn } from "../../../support/providers/open-relay.ts";

describe("pace", () => {
  test("a quiet stream gets a comment every 15 s, and the time to the first text is the provider's", async () => {
    const { stream, events, clock, outcomes } = openRelay();
    const body = allOf(stream);
    await clock.pass(14_999);
    await clock.pass(15_002);
    events.give(text("a"));
    await settled();
    await clock.pass(14_000);
    events.give(finish(), end);
    const lines = (await body).split("\n").map((line) => line.slice(0, 6));
    const event = ["data: ", ""];
    expect(lines).toEqual([": keep", ": keep", ...event, ...event, ...event, ...event, ""]);
    expect(outcomes[0]?.firstTokenMs).toBe(30_001);
    expect(clock.pending).toBe(0);
  });

  test("a stream that starts late starts with a comment", async () => {
    const { stream, events } = openRelay({ options: { quiet: true } });
    const reader = stream.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(": keep-alive\n");
    events.give(text("a"));
    expect(new TextDecoder().decode((await reader.read()).value)).toStartWith("data: ");
  });
});

describe("a client that hangs up", () => {
  const acquireDrainSlot = (drainLimit: DrainLimit) => () => drainSlotIn(drainLimit, 0);

  test("the relay stops a provider that then stops billing, and settles what was produced", async () => {
    const { stream, events, outcomes, clock } = openRelay({
      events: new FakeEvents([usage(9, 1), text("Hello"), text("never")]),
    });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    await clock.pass(lastEventsMsMax - 1);
    expect(events.closed).toBe(false);
    await clock.pass(1);
    expect(events.closed).toBe(true);
    const produced = { producedTokens: 1, usage: { promptTokens: 9 } };
    // The route's speed does not include the time in which the gateway only waited for the usage.
    expect(outcomes).toMatchObject([{ how: "client_gone", final: false, ...produced, heldUpMs: lastEventsMsMax }]);
    await settled();
    expect(clock.pending).toBe(0);
  });

  test("without a slot for draining, the relay still reads the usage that is about to come", async () => {
    const { stream, events, outcomes, clock } = openRelay();
    const reader = stream.getReader();
    const first = reader.read();
    events.give(text("The answer. END"));
    await first;
    await reader.cancel();
    await clock.pass(lastEventsMsMax / 2);
    expect(outcomes).toEqual([]);
    events.give(finish(), usage(5, 700), end);
    expect(outcomes).toMatchObject([{ how: "client_gone", final: true, usage: { promptTokens: 5, completionTokens: 700 } }]);
    expect(clock.pending).toBe(0);
  });

  test("an answer that goes on after its client left is stopped after a few tokens", async () => {
    const { stream, events, outcomes, clock } = openRelay();
    const reader = stream.getReader();
    const first = reader.read();
    events.give(text("Hello"));
    await first;
    await reader.cancel();
    events.give(text(" and"), text(" more"));
    expect(outcomes).toEqual([]);
    events.give(text(" word".repeat(lastTokensMax)));
    expect(outcomes).toMatchObject([{ how: "client_gone", final: false }]);
    expect(outcomes[0]?.producedTokens).toBeGreaterThan(lastTokensMax);
    expect(events.closed).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test("a stream whose client left before any text is stopped at once", async () => {
    const { stream, events, outcomes } = openRelay({ events: new FakeEvents([usage(9, 1)]) });
    await stream.cancel();
    expect(events.closed).toBe(true);
    expect(outcomes).toMatchObject([{ how: "client_gone", producedTokens: 0 }]);
  });

  test("the relay drains a stream whose count it needs, and settles its true usage", async () => {
    const drainLimit = new DrainLimit();
    const { stream, events, outcomes, clock } = openRelay({ options: { acquireDrainSlot: acquireDrainSlot(drainLimit) } });
    const reader = stream.getReader();
    const first = reader.read();
    events.give(text("Hello"));
    await first;
    await reader.cancel();
    expect(drainLimit.active).toBe(1);
    events.give(text(" and more"), finish(), usage(5, 700));
    await settled();
    expect(outcomes).toEqual([]);
    events.give(end);
    await settled();
    expect(outcomes).toMatchObject([{ how: "client_gone", final: true, producedTokens: 3, usage: { completionTokens: 700 } }]);
    expect(drainLimit.active).toBe(0);
    expect(clock.pending).toBe(0);
  });

  test("the relay reports that only the usage is missing when the client leaves after the full answer", async () => {
    const asked: boolean[] = [];
    const { stream, events } = openRelay({ options: { acquireDrainSlot: (finished) => (asked.push(finished), null) } });
    const reader = stream.getReader();
    const first = reader.read();
    events.give(text("Hello"));
    await first;
    // The finish reason is held, so this read gets nothing.
    void reader.read();
    events.give(finish());
    await settled();
    await reader.cancel();
    expect(asked).toEqual([true]);
  });

  test("the relay drains a stream for at most 60 s", async () => {
    const drainLimit = new DrainLimit();
    const { stream, events, outcomes, clock } = openRelay({ options: { acquireDrainSlot: acquireDrainSlot(drainLimit) } });
    await stream.cancel();
    await clock.pass(drainMsMax - 1);
    expect(events.closed).toBe(false);
    await clock.pass(1);
    expect(events.closed).toBe(true);
    expect(outcomes).toMatchObject([{ how: "client_gone", final: false }]);
    expect(drainLimit.active).toBe(0);
  });

  test("DrainLimit gives at most 16 slots to a workspace and 1,024 in all", () => {
    const drainLimit = new DrainLimit();
    const releases = Array.from({ length: drainsPerWorkspaceMax }, () => drainLimit.acquire("ws-1"));
    expect(drainLimit.acquire("ws-1")).toBeNull();
    expect(drainLimit.acquire("ws-2")).not.toBeNull();
    releases[0]?.();
    releases[0]?.();
    expect(drainLimit.acquire("ws-1")).not.toBeNull();
    expect(drainLimit.acquire("ws-1")).toBeNull();
    for (let number = drainLimit.active; number < drainsMax; number++) drainLimit.acquire(`ws-of-${number}`);
    expect(drainLimit.acquire("ws-3")).toBeNull();
  });

  test("the request's signal reports a client that left before the stream began", async () => {
    const { events, outcomes } = openRelay({ options: { clientSignal: AbortSignal.abort() } });
    expect(events.closed).toBe(true);
    expect(outcomes).toMatchObject([{ how: "client_gone", producedTokens: 0 }]);
  });

  test("an abort of the signal after the end has no effect, since some runtimes abort it then", async () => {
    const client = new AbortController();
    const { stream, outcomes } = openRelay({
      events: new FakeEvents([text("a"), finish(), end]),
      options: { clientSignal: client.signal },
    });
    await allOf(stream);
    client.abort();
    expect(outcomes).toMatchObject([{ how: "completed" }]);
  });
});
