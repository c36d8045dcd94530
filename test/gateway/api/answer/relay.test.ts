import { describe, expect, test } from "bun:test";
import { UpstreamFailure, type FinishReason, type ProviderEvent } from "../../../../src/gateway/providers/provider.ts";
import { StopSignal } from "../../../../src/kernel/clock.ts";
import { settled } from "../../../support/clock.ts";
import { end, FakeEvents, finish, text, usage } from "../../../support/providers/fake-events.ts";
import { allOf, dataOf, openRelay } from "../../../support/providers/open-relay.ts";

const timeout: ProviderEvent = { kind: "failure", failure: new UpstreamFailure("upstream_timeout", "900 s") };
const broken: ProviderEvent = { kind: "failure", failure: new UpstreamFailure("upstream_rate_limited", "in the middle") };
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
  test("a stream has a role, deltas, one finish reason and [DONE]", async () => {
    const events = new FakeEvents([text("Hel"), text("lo"), finish(), usage(5, 7), end]);
    const { stream, outcomes, clock } = openRelay({ events });
    const body = await allOf(stream);
    expect(dataOf(body)).toEqual([opening, chunk({ content: "Hel" }), chunk({ content: "lo" }), chunk({}, "stop"), "[DONE]"]);
    expect(outcomes).toEqual([
      {
        how: "completed",
        failure: null,
        usage: { promptTokens: 5, completionTokens: 7, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
        final: true,
        producedTokens: 1,
        uncountedTokens: 0,
        firstTokenMs: 0,
        heldUpMs: 0,
        isComplete: true,
      },
    ]);
    expect(events.closed).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test("a stream gets a finish reason if the provider sent none", async () => {
    const calls: ProviderEvent = { kind: "delta", delta: { tool_calls: [{ index: 0, id: "a" }] }, finishReason: null };
    expect(dataOf(await allOf(openRelay({ events: new FakeEvents([end]) }).stream))).toEqual([
      opening,
      chunk({}, "stop"),
      "[DONE]",
    ]);
    expect(dataOf(await allOf(openRelay({ events: new FakeEvents([calls, end]) }).stream))).toContainEqual(
      chunk({}, "tool_calls"),
    );
  });

  test("a stream has one role, one finish reason and no empty deltas, although the provider repeats them", async () => {
    const events = new FakeEvents([
      { kind: "delta", delta: { role: "assistant", content: "", refusal: null }, finishReason: null },
      { kind: "delta", delta: { role: "assistant", content: "A" }, finishReason: null },
      { kind: "delta", delta: { content: "B" }, finishReason: "stop" },
      { kind: "delta", delta: {}, finishReason: "stop" },
      end,
    ]);
    const lines = dataOf(await allOf(openRelay({ events }).stream));
    expect(lines).toEqual([opening, chunk({ content: "A" }), chunk({ content: "B" }), chunk({}, "stop"), "[DONE]"]);
  });

  const call = (index: number, finishReason: FinishReason | null): ProviderEvent => {
    const called = { index, id: `call_${index}`, type: "function", function: { name: "now", arguments: "{}" } };
    return { kind: "delta", delta: { tool_calls: [called] }, finishReason };
  };

  test.each<[string, ProviderEvent[], FinishReason]>([
    ["a text", [finish("stop"), text("late")], "stop"],
    ["a text that is cut off", [finish("stop"), { ...text("late"), finishReason: "length" } as ProviderEvent], "length"],
    ["a call", [finish("stop"), call(0, null)], "tool_calls"],
    ["another call", [call(0, "tool_calls"), call(1, "stop")], "tool_calls"],
    [
      "the filter's word",
      [text("A"), finish("stop"), { kind: "delta", delta: {}, finishReason: "content_filter" }],
      "content_filter",
    ],
  ])("what follows a finish reason is delivered, and the one finish reason comes last: %s", async (_, given, reason) => {
    const lines = dataOf(await allOf(openRelay({ events: new FakeEvents([...given, end]) }).stream));
    const deltas = given.flatMap((event) => (event.kind === "delta" && Object.keys(event.delta).length > 0 ? [event.delta] : []));
    expect(lines).toEqual([opening, ...deltas.map((delta) => chunk(delta)), chunk({}, reason), "[DONE]"]);
  });

  const older: ProviderEvent = {
    kind: "delta",
    delta: { function_call: { name: "now", arguments: "{" } },
    finishReason: null,
  };

  test.each([
    ["a call", call(1, null)],
    ["a call in the older form", older],
  ])("a stream that breaks off within %s after the finish reason has failed", async (_, begun) => {
    const { stream, outcomes } = openRelay({ events: new FakeEvents([call(0, "tool_calls"), begun, broken]) });
    expect(dataOf(await allOf(stream)).slice(-2)).toMatchObject([{ error: { code: "upstream_error" } }, "[DONE]"]);
    expect(outcomes).toMatchObject([{ how: "failed", isComplete: false }]);
  });

  test("the text before a finish reason is not held with it", async () => {
    const { stream, events } = openRelay();
    const reader = stream.getReader();
    const first = reader.read();
    events.give({ kind: "delta", delta: { content: "All of it" }, finishReason: "stop" });
    expect(new TextDecoder().decode((await first).value)).toContain("All of it");
    await reader.cancel();
  });

  test("a stream is complete although the provider breaks off after the finish reason", async () => {
    const { stream, outcomes } = openRelay({ events: new FakeEvents([text("Hi"), finish(), broken]) });
    expect(dataOf(await allOf(stream)).at(-1)).toBe("[DONE]");
    expect(outcomes).toMatchObject([{ how: "completed", final: false, failure: { code: "upstream_rate_limited" } }]);
  });

  test("a provider's text cannot end a line of the stream", async () => {
    const evil = 'x\r\ndata: {"error":1}\n\nid: 7\nretry: 1\n\u2028';
    const body = await allOf(openRelay({ events: new FakeEvents([text(evil), finish(), end]) }).stream);
    expect(dataOf(body)).toContainEqual(chunk({ content: evil }));
    expect(body.split("\n").every((line) => line === "" || line.startsWith("data: {") || line === "data: [DONE]")).toBe(true);
  });
});

describe("a stream that fails in the middle", () => {
  test("a failed stream ends with an error event of type api_error, the usage chunk and [DONE]", async () => {
    const { stream, outcomes } = openRelay({ events: new FakeEvents([text("Hel"), broken]), includeUsage: true });
    const lines = dataOf(await allOf(stream));
    expect(lines.slice(2)).toMatchObject([
      { error: { type: "api_error", code: "upstream_error", param: null } },
      { choices: [], usage: usageShown },
      "[DONE]",
    ]);
    expect(outcomes).toMatchObject([{ how: "failed", final: false, usage: null, producedTokens: 1 }]);
  });

  test("a stream that timed out ends with upstream_timeout", async () => {
    const lines = dataOf(await allOf(openRelay({ events: new FakeEvents([text("a"), timeout]) }).stream));
    expect(lines.slice(2)).toMatchObject([{ error: { type: "api_error", code: "upstream_timeout" } }, "[DONE]"]);
  });

  test("a stream fails if the provider's stream stops without an end", async () => {
    const lines = dataOf(await allOf(openRelay({ events: new FakeEvents([text("a"), null]) }).stream));
    expect(lines.slice(2)).toMatchObject([{ error: { code: "upstream_error" } }, "[DONE]"]);
  });

  test("a stream that fails at once delivers no text", async () => {
    const { stream, outcomes } = openRelay({ events: new FakeEvents([timeout]) });
    expect(dataOf(await allOf(stream))).toMatchObject([{ error: { code: "upstream_timeout" } }, "[DONE]"]);
    expect(outcomes).toMatchObject([{ how: "failed", producedTokens: 0, firstTokenMs: null }]);
  });

  test("a stream fails when the process cannot wait any longer", async () => {
    const stop = new StopSignal();
    const { stream, events, outcomes } = openRelay({ options: { stop } });
    const body = allOf(stream);
    events.give(text("a"));
    await settled();
    stop.stop();
    expect(dataOf(await body).slice(2)).toMatchObject([{ error: { code: "upstream_error" } }, "[DONE]"]);
    expect(outcomes).toMatchObject([{ how: "failed" }]);
    expect(events.closed).toBe(true);
  });

  test("a stream breaks off without [DONE] when it cannot be settled", async () => {
    const onEnd = (): never => {
      throw new Error("disk full");
    };
    const { stream } = openRelay({ events: new FakeEvents([text("a"), end]), options: { onEnd } });
    await expect(allOf(stream)).rejects.toThrow("disk full");
  });
});
