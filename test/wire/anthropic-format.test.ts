/** The official package with a model in Anthropic's format sees no difference. */
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { failingStream, message, refusal, type Thought } from "../support/providers/anthropic-answers.ts";
import type { Fleet } from "../support/servers/fleet.ts";
import type { LogRow } from "../support/operator.ts";
import { strictClaude } from "../support/providers/strict-claude.ts";
import type { ProviderStub, StubCall } from "../support/providers/provider-stub.ts";
import type { StubAnswer } from "../support/providers/stub-answers.ts";
import { until } from "../support/until.ts";
import { formatsStage } from "./formats-stage.ts";

const model = "claude/model";
const withFallback = "claude/or-other";
let claude: ProviderStub;
let fleet: Fleet;
let client: OpenAI;
let workspace: string;

beforeAll(async () => {
  const stage = await formatsStage();
  ({ fleet } = stage);
  claude = stage.stub("claude");
  const customer = await fleet.operator().customer({ credit: "10" });
  workspace = customer.workspace;
  client = new OpenAI({ baseURL: `${fleet.url()}/gpt/v1`, apiKey: customer.keys[0]?.key ?? "", maxRetries: 0 });
}, 60_000);
beforeEach(() => claude.answer(message("Hello there")));

const messages = [{ role: "user" as const, content: "Weather in Oslo?" }];
const weather = {
  type: "function" as const,
  function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
};
const call = { id: "toolu_a", name: "weather", input: { city: "Oslo" } };

/** The provider's calls after the first this many. */
function receivedSince(count: number): StubCall[] {
  return claude.calls.slice(count);
}

/** The error that the package throws. Its promises are lazy, so it must be awaited first. */
async function thrownBy(calling: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await calling;
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error;
    throw error;
  }
  throw new Error("The call succeeded");
}

async function rowOf(generation: string): Promise<LogRow> {
  const find = async () => (await fleet.operator().log(`workspace=${workspace}`)).find((row) => row.generation_id === generation);
  await until(async () => (await find()) !== undefined);
  const row = await find();
  if (!row) throw new Error(`There is no row of ${generation}`);
  return row;
}

describe("answers", () => {
  test("complete answers have the provider's counts", async () => {
    const completion = await client.chat.completions.create({ model, messages });
    expect(completion).toMatchObject({ object: "chat.completion", model });
    expect(completion.choices[0]).toMatchObject({ finish_reason: "stop", logprobs: null });
    expect(completion.choices[0]?.message).toEqual({ role: "assistant", content: "Hello there", refusal: null });
    expect(completion.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
  });

  test("the package's helper assembles streamed answers", async () => {
    const helper = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } });
    expect(await helper.finalContent()).toBe("Hello there");
    expect(await helper.totalUsage()).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 });
    expect((await helper.finalChatCompletion()).choices[0]?.finish_reason).toBe("stop");
  });

  test.each([
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "content_filter"],
    ["pause_turn", "stop"],
    ["stop_sequence", "stop"],
  ])("an answer that stopped for %s finishes with %s, streamed or not", async (stop, reason) => {
    claude.answer(message("Hel", { stop }));
    const whole = await client.chat.completions.create({ model, messages });
    expect<string | undefined>(whole.choices[0]?.finish_reason).toBe(reason);
    const reasons: string[] = [];
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
      reasons.push(...chunk.choices.flatMap(({ finish_reason }) => finish_reason ?? []));
    }
    expect(reasons).toEqual([reason]);
  });

  test("answers follow a schema, and the package parses them", async () => {
    claude.answer(message('{"city":"Oslo"}'));
    const before = claude.calls.length;
    const schema = { ...weather.function.parameters, additionalProperties: false };
    const response_format = { type: "json_schema" as const, json_schema: { name: "place", schema, strict: true } };
    const completion = await client.chat.completions.create({ model, messages, response_format, reasoning_effort: "low" });
    expect(JSON.parse(completion.choices[0]?.message.content ?? "")).toEqual({ city: "Oslo" });
    expect(receivedSince(before)[0]?.body).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "low", format: { type: "json_schema", schema } },
    });
  });

  test("the cost is the sum of the costs of each part of the prompt, to the nano-dollar", async () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 1_000, cache_creation_input_tokens: 200, output_tokens: 5 };
    claude.answer(message("Hello there", { usage }));
    for (const stream of [false, true]) {
      const { data, response } = await client.chat.completions.create({ model, messages, stream }).withResponse();
      if ("choices" in data) expect(data.usage?.prompt_tokens_details?.cached_tokens).toBe(1_000);
      else for await (const _ of data);
      const row = await rowOf(response.headers.get("x-generation-id") ?? "");
      // 10 × 3.00 + 1,000 × 0.30 + 200 × 3.75 + 5 × 15.00 USD per million
      expect(row).toMatchObject({ prompt_tokens: 1_210, completion_tokens: 5, cost_usd: "0.001155000", usage_estimated: false });
    }
  });
});

describe("tool calls and their results pass through", () => {
  test("in complete answers", async () => {
    claude.answerOnce(message("Let me look.", { calls: [call] }), message("It rains."));
    const before = claude.calls.length;
    const first = await client.chat.completions.create({ model, messages, tools: [weather], parallel_tool_calls: false });
    expect(first.choices[0]?.finish_reason).toBe("tool_calls");
    const assistant = first.choices[0]?.message;
    if (!assistant) throw new Error("There is no message");
    expect(assistant.tool_calls).toEqual([
      { id: "toolu_a", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
    ]);
    const result = { role: "tool" as const, tool_call_id: "toolu_a", content: "rain" };
    const second = await client.chat.completions.create({ model, messages: [...messages, assistant, result], tools: [weather] });
    expect(second.choices[0]?.message.content).toBe("It rains.");
    const [asked, told] = receivedSince(before);
    expect(asked?.body["tool_choice"]).toEqual({ type: "auto", disable_parallel_tool_use: true });
    expect(asked?.body["tools"]).toEqual([{ name: "weather", input_schema: weather.function.parameters }]);
    expect(told?.body["messages"]).toEqual([
      { role: "user", content: [{ type: "text", text: "Weather in Oslo?" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Let me look." },
          { type: "tool_use", ...call },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_a", content: "rain" }] },
    ]);
  });

  test("in streams, several at a time, one of them without arguments", async () => {
    claude.answer(message("", { calls: [call, { id: "toolu_b", name: "time", input: {} }] }));
    const helper = client.chat.completions.stream({ model, messages, tools: [weather] });
    const final = await helper.finalMessage();
    expect(
      final.tool_calls?.map((one) => one.type === "function" && [one.id, one.function.name, one.function.arguments]),
    ).toEqual([
      ["toolu_a", "weather", '{"city":"Oslo"}'],
      ["toolu_b", "time", "{}"],
    ]);
    expect((await helper.finalChatCompletion()).choices[0]?.finish_reason).toBe("tool_calls");
  });

  test("with the helper that runs them, over a stream", async () => {
    claude.answerOnce(message("Let me look.", { calls: [call] }), message("It rains in Oslo."));
    const asked: string[] = [];
    const runner = client.chat.completions.runTools({
      model,
      messages,
      stream: true,
      tools: [
        {
          type: "function",
          function: {
            ...weather.function,
            description: "Looks out of the window",
            parse: (text: string): { city: string } => JSON.parse(text),
            function: ({ city }: { city: string }) => {
              asked.push(city);
              return "rain";
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe("It rains in Oslo.");
    expect(asked).toEqual(["Oslo"]);
  });
});

describe("a model that thinks before it calls a tool", () => {
  const thoughts: Thought[] = [
    { type: "thinking", thinking: "I need the weather first.", signature: "c2lnbmVkIG9uZQ==" },
    { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
  ];

  /** Refuses, as the API does, a turn whose thoughts are not those that it wrote; it takes them without their summary. */
  const unlessModified: StubAnswer = (response, sent) => {
    const turns = sent.body["messages"] as { role: string; content: Record<string, unknown>[] }[];
    const came = turns.flatMap(({ content }) => content.filter(({ type }) => String(type).endsWith("thinking")));
    const isOwn = (one: Record<string, unknown>, index: number): boolean => {
      const own = thoughts[index];
      return Bun.deepEquals(one, own) || (own?.type === "thinking" && Bun.deepEquals(one, { ...own, thinking: "" }));
    };
    const isWhole = came.length === thoughts.length && came.every(isOwn);
    const words =
      "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified";
    return (isWhole ? message("It rains in Oslo.") : refusal(400, "invalid_request_error", words))(response, sent);
  };

  const tool = {
    type: "function" as const,
    function: {
      ...weather.function,
      description: "Looks out of the window",
      parse: (text: string): { city: string } => JSON.parse(text),
      function: () => "rain",
    },
  };

  test.each([false, true])(
    "gets its thoughts back from the package's tool runner, which drops all but the ids (streamed: %p)",
    async (stream) => {
      claude.answerOnce(message("Let me look.", { thoughts, calls: [call] }), unlessModified);
      const request = { model, messages, tools: [tool], reasoning_effort: "low" as const };
      const { completions } = client.chat;
      const runner = stream ? completions.runTools({ ...request, stream }) : completions.runTools(request);
      expect(await runner.finalContent()).toBe("It rains in Oslo.");
    },
  );

  test.each([false, true])(
    "gets them back with their summary from a client that sends the reasoning (streamed: %p)",
    async (stream) => {
      claude.answerOnce(message("", { thoughts, calls: [call] }), unlessModified);
      const before = claude.calls.length;
      const request = { model, messages, tools: [weather], reasoning_effort: "low" as const };
      const assistant = stream
        ? await reassembled(await client.chat.completions.create({ ...request, stream: true }))
        : (await client.chat.completions.create(request)).choices[0]?.message;
      if (!assistant) throw new Error("There is no message");
      expect(assistant).toMatchObject({ reasoning_content: "I need the weather first." });
      const id = assistant.tool_calls?.[0]?.id ?? "";
      const answer = { role: "tool" as const, tool_call_id: id, content: "rain" };
      const last = await client.chat.completions.create({ ...request, messages: [...messages, assistant, answer] });
      expect(last.choices[0]?.message.content).toBe("It rains in Oslo.");
      const turns = receivedSince(before)[1]?.body["messages"];
      expect(turns).toMatchObject([{}, { content: [...thoughts, { type: "tool_use", id: "toolu_a" }] }, {}]);
    },
  );

  /** As a client puts the chunks together that does not drop what it does not know. */
  async function reassembled(
    chunks: AsyncIterable<OpenAI.ChatCompletionChunk>,
  ): Promise<OpenAI.ChatCompletionAssistantMessageParam> {
    let reasoning = "";
    let id = "";
    let argumentsText = "";
    for await (const chunk of chunks) {
      const delta: OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: string } = chunk.choices[0]?.delta ?? {};
      reasoning += delta.reasoning_content ?? "";
      id ||= delta.tool_calls?.[0]?.id ?? "";
      argumentsText += delta.tool_calls?.[0]?.function?.arguments ?? "";
    }
    const calls = [{ id, type: "function" as const, function: { name: "weather", arguments: argumentsText } }];
    return Object.assign({ role: "assistant" as const, content: null, tool_calls: calls }, { reasoning_content: reasoning });
  }
});

describe.each(["claude/adaptive", "claude/budget"])("%s, which refuses what the vendor refuses, answers", (id) => {
  type Fields = Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>;
  const count = { type: "object", properties: { count: { type: "integer", minimum: 1 } }, required: ["count"] };
  const effort = { reasoning_effort: "low" as const };

  test.each<[string, Fields]>([
    ["with an effort", effort],
    ["with an effort and a forced call", { ...effort, tools: [weather], tool_choice: "required" }],
    ["with an effort and a temperature", { ...effort, temperature: 0.5 }],
    ["with both sampling fields", { temperature: 0.5, top_p: 0.9 }],
    ["with the least effort", { reasoning_effort: "minimal" }],
    ["with the most effort", { reasoning_effort: "xhigh" }],
    ["without thinking", { reasoning_effort: "none" }],
    [
      "by a schema that it would not take",
      { response_format: { type: "json_schema", json_schema: { name: "count", schema: count } } },
    ],
    ["with a strict tool", { tools: [{ type: "function", function: { name: "count", parameters: count, strict: true } }] }],
    ["to instructions alone", { messages: [{ role: "system", content: "Say hello." }] }],
    ["to a conversation that it began", { messages: [{ role: "assistant", content: "Hi" }, ...messages] }],
  ])("%s, whole and streamed", async (_, fields) => {
    claude.answer(strictClaude(message("Hello there")));
    const request = { model: id, messages, ...fields };
    const whole = await client.chat.completions.create(request);
    expect(whole.choices[0]?.message.content).toBe("Hello there");
    let text = "";
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    expect(text).toBe("Hello there");
  });
});

test("the reasoning of a model that is asked for an effort reaches the client, whole and streamed", async () => {
  const thoughts: Thought[] = [{ type: "thinking", thinking: "Let me think.", signature: "c2ln" }];
  claude.answer(strictClaude(message("Hello there", { thoughts })));
  const request = { model: "claude/adaptive", messages, reasoning_effort: "low" as const };
  const whole = await client.chat.completions.create(request);
  expect<object | undefined>(whole.choices[0]?.message).toMatchObject({
    reasoning_content: "Let me think.",
    content: "Hello there",
  });
  const before = claude.calls.length;
  let reasoning = "";
  for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
    const delta: OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: string } = chunk.choices[0]?.delta ?? {};
    reasoning += delta.reasoning_content ?? "";
  }
  expect(reasoning).toBe("Let me think.");
  expect(receivedSince(before)[0]?.body["thinking"]).toEqual({ type: "adaptive", display: "summarized" });
});

describe("failures", () => {
  test.each<[number, string, string, number, string, number]>([
    [401, "authentication_error", "x", 502, "upstream_auth", 1],
    [400, "invalid_request_error", "Your credit balance is too low", 502, "upstream_auth", 1],
    [400, "invalid_request_error", "messages.0: x", 400, "upstream_rejected", 1],
    [404, "not_found_error", "model: x", 400, "upstream_rejected", 1],
    [413, "request_too_large", "x", 400, "upstream_rejected", 1],
    // The gateway and the package each retry once.
    [529, "overloaded_error", "x", 502, "upstream_error", 4],
    [500, "api_error", "x", 502, "upstream_error", 4],
  ])(
    "an error of status %p and type %s (%s) becomes %p %s after %p calls of the provider",
    async (status, type, words, ours, code, calls) => {
      claude.answer(refusal(status, type, words));
      const before = claude.calls.length;
      const error = await thrownBy(client.chat.completions.create({ model, messages }, { maxRetries: 1 }));
      expect(error).toMatchObject({ status: ours, code });
      expect(claude.calls.length - before).toBe(calls);
    },
  );

  test("a rate limit has a Retry-After", async () => {
    claude.answer(refusal(429, "rate_limit_error"));
    const error = await thrownBy(client.chat.completions.create({ model, messages }));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error.code).toBe("upstream_rate_limited");
    expect(error.headers?.get("retry-after-ms")).toBe("5000");
  });

  test("the error of a conversation that is too long has the words that frameworks look for, and none of the provider's", async () => {
    claude.answer(refusal(400, "invalid_request_error", "prompt is too long: 200001 tokens CANARY"));
    const error = await thrownBy(client.chat.completions.create({ model, messages }));
    expect(error.message).toContain("maximum context length");
    expect(error.message).not.toContain("CANARY");
  });

  test("after an error as a stream's first event the other provider answers, and the error costs nothing", async () => {
    claude.answer(failingStream("overloaded_error", { started: true }));
    const { data, response } = await client.chat.completions
      .create({ model: withFallback, messages, stream: true })
      .withResponse();
    let text = "";
    for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? "";
    expect(text).toBe("Hello from the other");
    const row = await rowOf(response.headers.get("x-generation-id") ?? "");
    expect(row).toMatchObject({ provider: "other", status: 200, code: null });
  });

  test("a failure before any text costs nothing, whatever the stream began with", async () => {
    claude.answer(failingStream("overloaded_error", { started: true }));
    const error = await thrownBy(client.chat.completions.create({ model, messages, stream: true }));
    expect(error).toMatchObject({ status: 502, code: "upstream_error" });
    const row = await rowOf(error.headers?.get("x-generation-id") ?? "");
    expect(row).toMatchObject({ prompt_tokens: 0, completion_tokens: 0, cost_usd: "0.000000000" });
  });

  test("a failure in the middle costs the delivered text, and the prompt as the provider counted it", async () => {
    claude.answer(failingStream("api_error", { pieces: ["Hello ", "the"] }));
    const { data, response } = await client.chat.completions.create({ model, messages, stream: true }).withResponse();
    let text = "";
    const reading = (async () => {
      for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? "";
    })();
    expect(await thrownBy(reading)).toMatchObject({ code: "upstream_error", type: "api_error" });
    expect(text).toBe("Hello the");
    const row = await rowOf(response.headers.get("x-generation-id") ?? "");
    expect(row).toMatchObject({ prompt_tokens: 10, completion_tokens: 2, usage_estimated: true });
  });
});

test("a field that the format cannot carry is refused by name, without a call of the provider", async () => {
  const before = claude.calls.length;
  const error = await thrownBy(client.chat.completions.create({ model, messages, temperature: 1.5 }));
  expect(error).toBeInstanceOf(OpenAI.BadRequestError);
  expect(error).toMatchObject({ code: "unsupported_parameter", param: "temperature", type: "invalid_request_error" });
  expect(error.headers?.get("x-generation-id")).toBeNull();
  expect(claude.calls.length).toBe(before);
});
