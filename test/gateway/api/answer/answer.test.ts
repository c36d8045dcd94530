import { expect, test, describe } from "bun:test";
import { completionText, usageBody, usageText, logprobsBody } from "../../../../src/gateway/api/answer/answer.ts";

test("an answer is in the official form, with usage", () => {
  const text = completionText(
    { message: { role: "assistant", content: "Hi", refusal: null }, finishReason: "length", logprobs: undefined, usage: null },
    {
      id: "gen-a",
      created: 1_795_000_000,
      model: "sandbox/echo",
      usage: { promptTokens: 9, cachedTokens: 4, cacheWriteTokens: 1, completionTokens: 3, reasoningTokens: 2 },
    },
  );
  expect(JSON.parse(text)).toEqual({
    id: "gen-a",
    object: "chat.completion",
    created: 1_795_000_000,
    model: "sandbox/echo",
    choices: [
      { index: 0, message: { role: "assistant", content: "Hi", refusal: null }, logprobs: null, finish_reason: "length" },
    ],
    usage: {
      prompt_tokens: 9,
      completion_tokens: 3,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  });
});

test("an answer without text can be sent back: its content is null only beside calls or a refusal", () => {
  const usage = { promptTokens: 9, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 3, reasoningTokens: 3 };
  const contentOf = (fields: object): unknown => {
    const message = { role: "assistant" as const, content: null, refusal: null, ...fields };
    const text = completionText(
      { message, finishReason: "length", logprobs: null, usage: null },
      { id: "gen-a", created: 1, model: "m", usage },
    );
    return JSON.parse(text).choices[0].message.content;
  };
  expect(contentOf({ reasoning_content: "thinking" })).toBe("");
  expect(contentOf({})).toBe("");
  expect(contentOf({ tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }] })).toBeNull();
  expect(contentOf({ function_call: { name: "f", arguments: "{}" } })).toBeNull();
  expect(contentOf({ refusal: "No" })).toBeNull();
});

test("the text of an answer is JSON whatever the model wrote, with its probabilities", () => {
  const message = { role: "assistant" as const, content: '"}\n\u2028 \ud83d', refusal: null, reasoning_content: "\u0000" };
  const logprobs = { content: [{ token: '"', logprob: -1, bytes: [34], top_logprobs: [] }], refusal: null };
  const usage = { promptTokens: 9, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 3, reasoningTokens: 0, cost: 860n };
  const facts = { id: "gen-a", created: 1, model: 'a/"b"', usage };
  const text = completionText({ message, finishReason: "stop", logprobs, usage: null }, facts);
  expect(text).toBe(
    JSON.stringify({
      id: "gen-a",
      object: "chat.completion",
      created: 1,
      model: 'a/"b"',
      choices: [{ index: 0, message, logprobs, finish_reason: "stop" }],
      usage: usageBody(usage),
    }),
  );
});

test("the text of a usage is its body as JSON", () => {
  const usage = { promptTokens: 9, cachedTokens: 4, cacheWriteTokens: 1, completionTokens: 3, reasoningTokens: 2 };
  for (const one of [usage, { ...usage, cost: 860n }]) expect(usageText(one)).toBe(JSON.stringify(usageBody(one)));
});

test("the charge is a number and an exact text, only if it is to be shown", () => {
  const usage = { promptTokens: 9, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 3, reasoningTokens: 0 };
  expect(JSON.stringify(usageBody({ ...usage, cost: 860n }))).toEndWith(
    ',"cost":8.6e-7,"cost_details":{"cost_usd":"0.000000860"}}',
  );
  expect(usageBody({ ...usage, cost: 0n })).toMatchObject({ cost: 0, cost_details: { cost_usd: "0.000000000" } });
  expect(usageBody({ ...usage, cost: 12_345_678_901n })).toMatchObject({ cost: 12.345678901 });
  expect(Object.keys(usageBody(usage)).filter((name) => name.startsWith("cost"))).toEqual([]);
});

describe("log probabilities", () => {
  test("complete log probabilities stay unchanged", () => {
    const hello = { token: "Hello", logprob: -0.5, bytes: [72, 101, 108, 108, 111] };
    const reported = { content: [{ ...hello, top_logprobs: [hello] }], refusal: null };
    expect(logprobsBody(reported)).toEqual(reported);
  });

  test("fields that a provider omits become null or empty lists, and fields that it adds are dropped", () => {
    const reported = {
      content: [{ token: "Hi", logprob: -1, id: 7, top_logprobs: [{ token: "Ho", logprob: -2 }, "nonsense"] }, 7],
    };
    expect(logprobsBody(reported)).toEqual({
      content: [{ token: "Hi", logprob: -1, bytes: null, top_logprobs: [{ token: "Ho", logprob: -2, bytes: null }] }],
      refusal: null,
    });
    expect(logprobsBody({ refusal: [{}] })).toEqual({
      content: null,
      refusal: [{ token: "", logprob: 0, bytes: null, top_logprobs: [] }],
    });
  });

  test("absent log probabilities become null", () => {
    for (const reported of [null, undefined, "none", [], {}, { content: "Hi" }, { content: [], refusal: null }]) {
      expect(logprobsBody(reported)).toBeNull();
    }
  });
});
