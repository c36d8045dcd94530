import { describe, expect, test } from "bun:test";
import { DrainLimit } from "../../../../src/gateway/api/stream/drain-limit.ts";
import { drainMsMax, drainsMax, drainsPerWorkspaceMax } from "../../../../src/gateway/limits.ts";
import { settled } from "../../../support/clock.ts";
import { end, FakeEvents, finish, text, usage } from "../../../support/providers/fake-events.ts";
import { allOf, openRelay, drainSlotIn } from "../../../support/providers/open-relay.ts";

describe("pace", () => {
  test("no event is asked for before the client has room for it", async () => {
    const { stream, events } = openRelay({ events: new FakeEvents([text("a"), text("b"), text("c")]) });
    await settled();
    expect(events.asked).toBe(0);
    const reader = stream.getReader();
    await reader.read();
    await settled();
    expect(events.asked).toBe(1);
    await reader.read();
    expect(events.asked).toBe(2);
  });

  test("a quiet stream gets a comment every 15 s, and the time to the first text is the provider's", async () => {
    const { stream, events, clock, outcomes } = openRelay();
    const body = allOf(stream);
    await clock.pass(14_999);
    await clock.pass(15_002);
    events.give(text("a"));
    await settled();
    await clock.pass(14_000);
    events.give(finish(), end);
    expect((await body).split("\n\n").map((part) => part.slice(0, 6))).toEqual([
      ": keep",
      ": keep",
      "data: ",
      "data: ",
      "data: ",
      "data: ",
      "",
    ]);
    expect(outcomes[0]?.firstTokenMs).toBe(30_001);
    expect(clock.pending).toBe(0);
  });

  test("a stream that starts late starts with a comment", async () => {
    const { stream, events } = openRelay({ options: { quiet: true } });
    const reader = stream.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(": keep-alive\n\n");
    events.give(text("a"));
    expect(new TextDecoder().decode((await reader.read()).value)).toStartWith("data: ");
  });

  test("a client that takes nothing for 60 s counts as gone", async () => {
    const { stream, events, clock, outcomes } = openRelay({ events: new FakeEvents([text("a"), text("b")]) });
    const reader = stream.getReader();
    await reader.read();
    await clock.pass(59_999);
    expect(outcomes).toEqual([]);
    await clock.pass(1);
    expect(outcomes).toMatchObject([{ how: "client_gone", producedTokens: 1 }]);
    expect(events.closed).toBe(true);
    await expect(reader.read()).rejects.toThrow("read nothing");
  });
});

describe("a client that hangs up", () => {
  const acquireDrainSlot = (drainLimit: DrainLimit) => () => drainSlotIn(drainLimit, 0);

  test("stops a provider that bills nothing then, and what was produced is settled", async () => {
    const { stream, events, outcomes, clock } = openRelay({
      events: new FakeEvents([usage(9, 1), text("Hello"), text("never")]),
    });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    expect(events.closed).toBe(true);
    expect(outcomes).toMatchObject([{ how: "client_gone", final: false, producedTokens: 2, usage: { promptTokens: 9 } }]);
    await settled();
    expect(clock.pending).toBe(0);
  });

  test("has a stream read on whose count is wanted, and its true usage is settled", async () => {
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
    expect(outcomes).toMatchObject([{ how: "client_gone", final: true, producedTokens: 4, usage: { completionTokens: 700 } }]);
    expect(drainLimit.active).toBe(0);
    expect(clock.pending).toBe(0);
  });

  test("once the answer is whole waits for nothing but its count", async () => {
    const asked: boolean[] = [];
    const { stream, events } = openRelay({ options: { acquireDrainSlot: (finished) => (asked.push(finished), null) } });
    const reader = stream.getReader();
    const first = reader.read();
    events.give(text("Hello"), finish());
    await first;
    await reader.read();
    await reader.cancel();
    expect(asked).toEqual([true]);
  });

  test("has its stream read on for 60 s at most", async () => {
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

  test("finds no place beside 16 of its workspace, and does while others of 1,024 are free", () => {
    const drainLimit = new DrainLimit();
    const places = Array.from({ length: drainsPerWorkspaceMax }, () => drainLimit.acquire("ws-1"));
    expect(drainLimit.acquire("ws-1")).toBeNull();
    expect(drainLimit.acquire("ws-2")).not.toBeNull();
    places[0]?.();
    places[0]?.();
    expect(drainLimit.acquire("ws-1")).not.toBeNull();
    expect(drainLimit.acquire("ws-1")).toBeNull();
    for (let number = drainLimit.active; number < drainsMax; number++) drainLimit.acquire(`ws-of-${number}`);
    expect(drainLimit.acquire("ws-3")).toBeNull();
  });

  test("before the stream began is noticed by the request's signal", async () => {
    const { events, outcomes } = openRelay({ options: { clientSignal: AbortSignal.abort() } });
    expect(events.closed).toBe(true);
    expect(outcomes).toMatchObject([{ how: "client_gone", producedTokens: 0 }]);
  });

  test("after the end is nothing: some runtimes abort the signal then", async () => {
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
