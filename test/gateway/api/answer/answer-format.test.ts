import { describe, expect, test } from "bun:test";
import { textCompletionBody, TextChunkWriter } from "../../../../src/gateway/api/answer/answer-format.ts";
import type { FinishReason } from "../../../../src/gateway/providers/provider.ts";
import { end, FakeEvents, finish, text } from "../../../support/providers/fake-events.ts";
import { allOf, charged, dataOf, openRelay } from "../../../support/providers/open-relay.ts";

const facts = { id: "gen-a", created: 1_795_000_000, model: "sandbox/echo" };
const head = { id: "gen-a", object: "text_completion", created: 1_795_000_000, model: "sandbox/echo" };
const usage = {
  prompt_tokens: 5,
  completion_tokens: 7,
  total_tokens: 12,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

describe("a whole completion", () => {
  const body = (message: Record<string, unknown>, finishReason: FinishReason = "stop") =>
    textCompletionBody(
      {
        message: { role: "assistant", content: null, refusal: null, ...message },
        finishReason,
        logprobs: undefined,
        usage: null,
      },
      { ...facts, usage: charged },
    );

  test.each<[Record<string, unknown>, FinishReason, object]>([
    [{ content: "" }, "length", { text: "", finish_reason: "length" }],
    [{ content: null }, "content_filter", { text: "", finish_reason: "content_filter" }],
    [{ content: "", refusal: "I cannot" }, "stop", { text: "I cannot", finish_reason: "content_filter" }],
    [{ content: null, tool_calls: [{}] }, "tool_calls", { text: "", finish_reason: "stop" }],
    [{ content: null, function_call: {} }, "function_call", { text: "", finish_reason: "stop" }],
  ])("%j with the reason %s gives %j", (message, reason, expected) => {
    expect(body(message, reason).choices).toMatchObject([expected]);
  });
});

describe("a streamed completion", () => {
  const piece = (delta: Record<string, unknown>) => ({ kind: "delta" as const, delta, finishReason: null });
  const sent = async (events: FakeEvents, includeUsage = false) => {
    const options = { writer: new TextChunkWriter({ ...facts, includeUsage }) };
    return dataOf(await allOf(openRelay({ events, options }).stream));
  };
  const chunk = (words: string, reason: string | null, more: object = {}) => ({
    ...head,
    choices: [{ text: words, index: 0, logprobs: null, finish_reason: reason }],
    ...more,
  });

  test("has the usage chunk with empty choices if it was requested, and null in all others", async () => {
    const events = new FakeEvents([text("Hello"), finish(), end]);
    expect(await sent(events, true)).toEqual([
      chunk("Hello", null, { usage: null }),
      chunk("", "stop", { usage: null }),
      { ...head, choices: [], usage },
      "[DONE]",
    ]);
  });

  test("leaves reasoning and calls of tools out", async () => {
    const calls = [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } }];
    const events = new FakeEvents([piece({ reasoning_content: "hm" }), piece({ tool_calls: calls }), text("Hi"), end]);
    expect(await sent(events)).toEqual([chunk("Hi", null), chunk("", "stop"), "[DONE]"]);
  });

  test("ends with content_filter after a refusal, which is its text", async () => {
    const events = new FakeEvents([piece({ refusal: "I can" }), piece({ refusal: "not" }), finish(), end]);
    expect(await sent(events)).toEqual([chunk("I can", null), chunk("not", null), chunk("", "content_filter"), "[DONE]"]);
  });
});
