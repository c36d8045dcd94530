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
import { thrownBy } from "./thrown-by.ts";

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

async function rowOf(generation: string): Promise<LogRow> {
  const find = async () => (await fleet.operator().log(`workspace=${workspace}`)).find((row) => row.generation_id === generation);
  await until(async () => (await find()) !== undefined);
  const row = await find();
  if (!row) throw new Error(`There is no row of ${generation}`);
  return row;
}

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
