import { describe, expect, test } from "bun:test";
import { UpstreamFailure, type ProviderEvent } from "../../src/providers/provider.ts";
import { Drains } from "../../src/inference/drains.ts";
import { relay, type RelayOptions, type StreamOutcome } from "../../src/inference/stream.ts";
import { drainMsMax, drainsMax } from "../../src/limits/constants.ts";
import { ManualClock, settled } from "../support/clock.ts";
import { end, FakeEvents, finish, text, usage } from "../support/fake-events.ts";

const charged = { promptTokens: 5, completionTokens: 7, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const timeout: ProviderEvent = { kind: "failure", failure: new UpstreamFailure("upstream_timeout", "900 s") };
const broken: ProviderEvent = { kind: "failure", failure: new UpstreamFailure("upstream_rate_limited", "in the middle") };

interface Given {
  events?: FakeEvents;
  includeUsage?: boolean;
  options?: Partial<RelayOptions>;
}

function open({ events = new FakeEvents(), includeUsage = false, options = {} }: Given = {}) {
  const clock = new ManualClock();
  const outcomes: StreamOutcome[] = [];
  const stream = relay({
    events,
    facts: { id: "gen-a", created: 1_795_000_000, model: "sandbox/echo", includeUsage },
    quiet: false,
    cancelStopsBilling: true,
    drains: new Drains(),
    gone: new AbortController().signal,
    stop: new AbortController().signal,
    clock,
    startedAt: 0,
    onEnd: (outcome) => (outcomes.push(outcome), charged),
    ...options,
  });
  return { stream, clock, events, outcomes };
}

async function allOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}

/** The JSON of each `data:` line, "[DONE]" as it is. */
function dataOf(body: string): unknown[] {
  const events = body.split("\n\n").filter((event) => event.startsWith("data: "));
  return events.map((event) => (event === "data: [DONE]" ? "[DONE]" : JSON.parse(event.slice(6))));
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "gen-a",
  object: "chat.completion.chunk",
  created: 1_795_000_000,
  model: "sandbox/echo",
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
});
const opening = chunk({ role: "assistant", content: "", refusal: null });
const usageShown = {
  prompt_tokens: 5,
  completion_tokens: 7,
  total_tokens: 12,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

describe("a stream that ends well", () => {
  test("is a role, deltas, one finish reason and [DONE]", async () => {
    const events = new FakeEvents([text("Hel"), text("lo"), finish(), usage(5, 7), end]);
    const { stream, outcomes, clock } = open({ events });
    const body = await allOf(stream);
    expect(dataOf(body)).toEqual([opening, chunk({ content: "Hel" }), chunk({ content: "lo" }), chunk({}, "stop"), "[DONE]"]);
    expect(outcomes).toEqual([
      {
        how: "completed",
        failure: null,
        usage: { promptTokens: 5, completionTokens: 7, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
        final: true,
        deliveredTokens: 2,
        firstTokenMs: 0,
      },
    ]);
    expect(events.closed).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test("has a usage chunk without choices before [DONE] where it was asked for, and null usage elsewhere", async () => {
    const { stream } = open({ events: new FakeEvents([text("Hi"), finish("length"), usage(5, 7), end]), includeUsage: true });
    const lines = dataOf(await allOf(stream));
    expect(lines.slice(0, 3)).toEqual(
      [opening, chunk({ content: "Hi" }), chunk({}, "length")].map((c) => ({ ...c, usage: null })),
    );
    expect(lines[3]).toEqual({ ...chunk({}), choices: [], usage: usageShown });
    expect(lines[4]).toBe("[DONE]");
  });

  test("gets a finish reason where the provider named none", async () => {
    const calls: ProviderEvent = { kind: "delta", delta: { tool_calls: [{ index: 0, id: "a" }] }, finishReason: null };
    expect(dataOf(await allOf(open({ events: new FakeEvents([end]) }).stream))).toEqual([opening, chunk({}, "stop"), "[DONE]"]);
    expect(dataOf(await allOf(open({ events: new FakeEvents([calls, end]) }).stream))).toContainEqual(chunk({}, "tool_calls"));
  });

  test("shows one role and one finish reason although the provider repeats both, and no empty deltas", async () => {
    const events = new FakeEvents([
      { kind: "delta", delta: { role: "assistant", content: "", refusal: null }, finishReason: null },
      { kind: "delta", delta: { role: "assistant", content: "A" }, finishReason: null },
      { kind: "delta", delta: { content: "B" }, finishReason: "stop" },
      { kind: "delta", delta: { content: "late" }, finishReason: "length" },
      end,
    ]);
    const lines = dataOf(await allOf(open({ events }).stream));
    expect(lines).toEqual([opening, chunk({ content: "A" }), chunk({ content: "B" }), chunk({}, "stop"), "[DONE]"]);
  });

  test("is whole although the provider breaks off after the finish reason", async () => {
    const { stream, outcomes } = open({ events: new FakeEvents([text("Hi"), finish(), broken]) });
    expect(dataOf(await allOf(stream)).at(-1)).toBe("[DONE]");
    expect(outcomes).toMatchObject([{ how: "completed", final: false, failure: { code: "upstream_rate_limited" } }]);
  });

  test("cannot be broken into by a provider's text", async () => {
    const evil = 'x\r\ndata: {"error":1}\n\nid: 7\nretry: 1\n\u2028';
    const body = await allOf(open({ events: new FakeEvents([text(evil), finish(), end]) }).stream);
    expect(dataOf(body)).toContainEqual(chunk({ content: evil }));
    expect(body.split("\n").every((line) => line === "" || line.startsWith("data: {") || line === "data: [DONE]")).toBe(true);
  });

  test("counts what was told last, field by field, and no zero", async () => {
    const { stream, outcomes } = open({
      events: new FakeEvents([usage(9, 1), text("a"), usage(0, 4), usage(0, 0), finish(), end]),
    });
    await allOf(stream);
    expect(outcomes[0]?.usage).toMatchObject({ promptTokens: 9, completionTokens: 4 });
  });
});

describe("a stream that fails in the middle", () => {
  test("ends with an error event of type api_error, the usage chunk and [DONE]", async () => {
    const { stream, outcomes } = open({ events: new FakeEvents([text("Hel"), broken]), includeUsage: true });
    const lines = dataOf(await allOf(stream));
    expect(lines.slice(2)).toMatchObject([
      { error: { type: "api_error", code: "upstream_error", param: null } },
      { choices: [], usage: usageShown },
      "[DONE]",
    ]);
    expect(outcomes).toMatchObject([{ how: "failed", final: false, usage: null, deliveredTokens: 1 }]);
  });

  test("says upstream_timeout where a clock ran out", async () => {
    const lines = dataOf(await allOf(open({ events: new FakeEvents([text("a"), timeout]) }).stream));
    expect(lines.slice(2)).toMatchObject([{ error: { type: "api_error", code: "upstream_timeout" } }, "[DONE]"]);
  });

  test("fails where the provider's stream just stops", async () => {
    const lines = dataOf(await allOf(open({ events: new FakeEvents([text("a"), null]) }).stream));
    expect(lines.slice(2)).toMatchObject([{ error: { code: "upstream_error" } }, "[DONE]"]);
  });

  test("has no text, so nothing is delivered, where it fails at once", async () => {
    const { stream, outcomes } = open({ events: new FakeEvents([timeout]) });
    expect(dataOf(await allOf(stream))).toMatchObject([{ error: { code: "upstream_timeout" } }, "[DONE]"]);
    expect(outcomes).toMatchObject([{ how: "failed", deliveredTokens: 0, firstTokenMs: null }]);
  });

  test("fails when the process can wait no longer", async () => {
    const stop = new AbortController();
    const { stream, events, outcomes } = open({ options: { stop: stop.signal } });
    const body = allOf(stream);
    events.give(text("a"));
    await settled();
    stop.abort();
    expect(dataOf(await body).slice(2)).toMatchObject([{ error: { code: "upstream_error" } }, "[DONE]"]);
    expect(outcomes).toMatchObject([{ how: "failed" }]);
    expect(events.closed).toBe(true);
  });

  test("breaks off without [DONE] when it cannot be settled", async () => {
    const onEnd = (): never => {
      throw new Error("disk full");
    };
    const { stream } = open({ events: new FakeEvents([text("a"), end]), options: { onEnd } });
    await expect(allOf(stream)).rejects.toThrow("disk full");
  });
});

describe("pace", () => {
  test("no event is asked for before the client has room for it", async () => {
    const { stream, events } = open({ events: new FakeEvents([text("a"), text("b"), text("c")]) });
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
    const { stream, events, clock, outcomes } = open();
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
    const { stream, events } = open({ options: { quiet: true } });
    const reader = stream.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(": keep-alive\n\n");
    events.give(text("a"));
    expect(new TextDecoder().decode((await reader.read()).value)).toStartWith("data: ");
  });

  test("a client that takes nothing for 60 s counts as gone", async () => {
    const { stream, events, clock, outcomes } = open({ events: new FakeEvents([text("a"), text("b")]) });
    const reader = stream.getReader();
    await reader.read();
    await clock.pass(59_999);
    expect(outcomes).toEqual([]);
    await clock.pass(1);
    expect(outcomes).toMatchObject([{ how: "client_gone", deliveredTokens: 1 }]);
    expect(events.closed).toBe(true);
    await expect(reader.read()).rejects.toThrow("took nothing");
  });
});

describe("a client that hangs up", () => {
  test("stops a provider that bills nothing then, and what was produced is settled", async () => {
    const { stream, events, outcomes, clock } = open({ events: new FakeEvents([usage(9, 1), text("Hello"), text("never")]) });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    expect(events.closed).toBe(true);
    expect(outcomes).toMatchObject([{ how: "client_gone", final: false, deliveredTokens: 2, usage: { promptTokens: 9 } }]);
    await settled();
    expect(clock.pending).toBe(0);
  });

  test("lets a provider that bills anyway finish, and its true usage is settled", async () => {
    const drains = new Drains();
    const { stream, events, outcomes, clock } = open({ options: { cancelStopsBilling: false, drains } });
    const reader = stream.getReader();
    const first = reader.read();
    events.give(text("Hello"));
    await first;
    await reader.cancel();
    expect(drains.active).toBe(1);
    events.give(text(" and more"), finish(), usage(5, 700));
    await settled();
    expect(outcomes).toEqual([]);
    events.give(end);
    await settled();
    expect(outcomes).toMatchObject([{ how: "client_gone", final: true, deliveredTokens: 2, usage: { completionTokens: 700 } }]);
    expect(drains.active).toBe(0);
    expect(clock.pending).toBe(0);
  });

  test("is drained for 30 s at most", async () => {
    const drains = new Drains();
    const { stream, events, outcomes, clock } = open({ options: { cancelStopsBilling: false, drains } });
    await stream.cancel();
    await clock.pass(drainMsMax - 1);
    expect(events.closed).toBe(false);
    await clock.pass(1);
    expect(events.closed).toBe(true);
    expect(outcomes).toMatchObject([{ how: "client_gone", final: false }]);
    expect(drains.active).toBe(0);
  });

  test("is not drained while 64 others are", async () => {
    const drains = new Drains();
    for (let i = 0; i < drainsMax; i++) drains.take();
    const { stream, events, outcomes } = open({ options: { cancelStopsBilling: false, drains } });
    await stream.cancel();
    expect(events.closed).toBe(true);
    expect(outcomes).toHaveLength(1);
    expect(drains.active).toBe(drainsMax);
  });

  test("before the stream began is noticed by the request's signal", async () => {
    const { events, outcomes } = open({ options: { gone: AbortSignal.abort() } });
    expect(events.closed).toBe(true);
    expect(outcomes).toMatchObject([{ how: "client_gone", deliveredTokens: 0 }]);
  });

  test("after the end is nothing: some runtimes abort the signal then", async () => {
    const gone = new AbortController();
    const { stream, outcomes } = open({ events: new FakeEvents([text("a"), finish(), end]), options: { gone: gone.signal } });
    await allOf(stream);
    gone.abort();
    expect(outcomes).toMatchObject([{ how: "completed" }]);
  });
});
