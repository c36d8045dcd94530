/** The official client with a model in Google's format sees no difference. */
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { RunnableToolFunctionWithParse } from "openai/lib/RunnableFunction";
import { googleChat, googleError, googleUsage } from "../support/providers/google-answers.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import { json } from "../support/providers/stub-answers.ts";
import { formatsStage } from "./formats-stage.ts";

let provider: ProviderStub;
let client: OpenAI;

beforeAll(async () => {
  const { fleet, stub } = await formatsStage();
  provider = stub("google");
  const { keys } = await fleet.operator().customer({ credit: "10" });
  client = new OpenAI({ apiKey: keys[0]?.key ?? "", baseURL: `${fleet.url()}/gpt/v1`, maxRetries: 0 });
}, 60_000);
beforeEach(() => provider.answer(googleChat("Hello there")));

const model = "google/model";
const ask = (content: string) => [{ role: "user" as const, content }];
const thought = { text: "Hm.", thought: true };
const calling = { functionCall: { name: "look_up", args: { word: "weir" } }, thoughtSignature: "c2lnbmVk" };
const described = {
  name: "look_up",
  description: "Looks a word up",
  parameters: { type: "object", properties: { word: { type: "string" } } },
};
const lookUp = { type: "function" as const, function: described };

function lastBody(): Record<string, unknown> {
  return provider.calls.at(-1)?.body ?? {};
}

async function thrownBy(call: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await call;
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error;
    throw error;
  }
  throw new Error("The call succeeded");
}

describe("a client that takes one call at a time", () => {
  test("the client gets only the first call, streamed or not", async () => {
    provider.answer(googleChat([calling, { functionCall: { name: "look_up", args: { word: "dam" } } }]));
    const oneCall = { model, messages: ask("Hi"), tools: [lookUp], parallel_tool_calls: false };
    const { choices } = await client.chat.completions.create(oneCall);
    const message = await client.chat.completions.stream(oneCall).finalMessage();
    for (const calls of [choices[0]?.message.tool_calls, message.tool_calls]) {
      expect(calls).toMatchObject([{ function: { name: "look_up", arguments: '{"word":"weir"}' } }]);
    }
  });
});

describe("a complete answer", () => {
  test("a complete answer has every field of the client's types, and the model's own id", async () => {
    const { id, created, ...answer } = await client.chat.completions.create({ model, messages: ask("Hi") });
    expect<unknown>(answer).toEqual({
      object: "chat.completion",
      model,
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello there", refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 2,
        total_tokens: 12,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
    expect([typeof id, typeof created]).toEqual(["string", "number"]);
  });

  test("a complete answer counts cached and reasoning tokens separately", async () => {
    const usage = { ...googleUsage(100, 5), cachedContentTokenCount: 80, thoughtsTokenCount: 40, totalTokenCount: 145 };
    provider.answer(googleChat([thought, { text: "Hello" }], { usage }));
    const answer = await client.chat.completions.create({ model, messages: ask("Hi"), reasoning_effort: "low" });
    expect(answer.choices[0]?.message).toMatchObject({ content: "Hello", reasoning_content: "Hm." });
    expect(answer.usage).toMatchObject({ prompt_tokens: 100, completion_tokens: 45, total_tokens: 145 });
    expect(answer.usage?.prompt_tokens_details?.cached_tokens).toBe(80);
    expect(answer.usage?.completion_tokens_details?.reasoning_tokens).toBe(40);
    expect(lastBody()["generationConfig"]).toMatchObject({ thinkingConfig: { thinkingLevel: "LOW" } });
  });

  test("the answer to a prompt that the provider blocks is empty, with content_filter", async () => {
    provider.answer(json({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 10 } }));
    const answer = await client.chat.completions.create({ model, messages: ask("Hi") });
    expect(answer.choices[0]).toMatchObject({ message: { content: "" }, finish_reason: "content_filter" });
  });
});

describe("a stream", () => {
  test("the client reads a stream chunk by chunk to its finish reason and its usage", async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: ask("Hi"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("Hello there");
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? [])).toEqual(["stop"]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 2 } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  test("the client's helper assembles a stream with its tool calls", async () => {
    provider.answer(googleChat([{ text: "Let me see." }, calling]));
    const helper = client.chat.completions.stream({ model, messages: ask("Hi"), tools: [lookUp] });
    const message = await helper.finalMessage();
    expect(message.content).toBe("Let me see.");
    expect(message.tool_calls).toMatchObject([
      { id: "call_R3sp0nse_0.sig.gemini-3_5-flash.c2lnbmVk", function: { name: "look_up", arguments: '{"word":"weir"}' } },
    ]);
    expect((await helper.finalChatCompletion()).choices[0]?.finish_reason).toBe("tool_calls");
  });

  test("an interrupted stream is an error", async () => {
    provider.answer(googleChat("Hello there", { finish: "FINISH_REASON_UNSPECIFIED" }));
    const stream = await client.chat.completions.create({ model, messages: ask("Hi"), stream: true });
    expect((await thrownBy(Array.fromAsync(stream))).code).toBe("upstream_error");
  });
});

test.each([false, true])(
  "the client's tool runner sends a tool's result back, with the model's signature (streamed: %p)",
  async (stream) => {
    const before = provider.calls.length;
    provider.answerOnce(googleChat([calling]), googleChat("It is a low dam."));
    const words: object[] = [];
    const look = (word: object): string => {
      words.push(word);
      return "a low dam";
    };
    const parse = (text: string): object => JSON.parse(text);
    const tool: RunnableToolFunctionWithParse<object> = { type: "function", function: { ...described, parse, function: look } };
    const request = { model, messages: ask("What is a weir?"), tools: [tool] };
    const { completions } = client.chat;
    const runner = stream ? completions.runTools({ ...request, stream }) : completions.runTools(request);
    expect(await runner.finalContent()).toBe("It is a low dam.");
    expect(words).toEqual([{ word: "weir" }]);
    expect(provider.calls).toHaveLength(before + 2);
    const id = "call_R3sp0nse_0";
    expect<unknown>(lastBody()["contents"]).toEqual([
      { role: "user", parts: [{ text: "What is a weir?" }] },
      { role: "model", parts: [{ ...calling, functionCall: { id, ...calling.functionCall } }] },
      { role: "user", parts: [{ functionResponse: { id, name: "look_up", response: { output: "a low dam" } } }] },
    ]);
  },
);

describe("an error", () => {
  test.each([
    [400, "INVALID_ARGUMENT", "CANARY", 400, "upstream_rejected"],
    [400, "INVALID_ARGUMENT", "API key not valid. CANARY", 502, "upstream_auth"],
    [404, "NOT_FOUND", "CANARY", 400, "upstream_rejected"],
    [429, "RESOURCE_EXHAUSTED", "CANARY", 429, "upstream_rate_limited"],
    [503, "UNAVAILABLE", "CANARY", 502, "upstream_error"],
  ])(
    "an error of the provider, %i %s, becomes Weir's error, streamed or not, without any of its text",
    async (code, status, text, ours, name) => {
      provider.answer(googleError(code, status, text));
      for (const stream of [false, true]) {
        const error = await thrownBy(client.chat.completions.create({ model, messages: ask("Hi"), stream }));
        expect([error.status, error.code]).toEqual([ours, name]);
        expect(JSON.stringify(error)).not.toMatch(/CANARY|AIza/);
      }
    },
  );

  test("the error names what is too long", async () => {
    provider.answer(
      googleError(400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed (7)."),
    );
    expect((await thrownBy(client.chat.completions.create({ model, messages: ask("Hi") }))).message).toContain(
      "maximum context length",
    );
  });

  test("the error names a field that the format cannot carry, before the provider is called", async () => {
    const before = provider.calls.length;
    const call = client.chat.completions.create({ model, messages: ask("Hi"), logit_bias: { 5: 1 } });
    const error = await thrownBy(call);
    expect([error.status, error.code, error.param]).toEqual([400, "unsupported_parameter", "logit_bias"]);
    expect(provider.calls).toHaveLength(before);
  });
});
