/** The official package with a model behind OpenAI's Responses API sees chat completions, and is charged for what it got. */
import { beforeAll, beforeEach, expect, test } from "bun:test";
import OpenAI from "openai";
import type { RunnableToolFunctionWithParse } from "openai/lib/RunnableFunction";
import type { Fleet } from "../support/servers/fleet.ts";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import type { Customer } from "../support/operator.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import { response, responseUsage } from "../support/providers/responses-answers.ts";
import { formatsStage } from "./formats-stage.ts";

const model = "responses/model";
const credit = "10";
let provider: ProviderStub;
let fleet: Fleet;
let customer: Customer;
let client: OpenAI;

beforeAll(async () => {
  const stage = await formatsStage();
  ({ fleet } = stage);
  provider = stage.stub("responses");
}, 60_000);
beforeEach(async () => {
  customer = await fleet.operator().customer({ credit });
  client = new OpenAI({ apiKey: customer.keys[0]?.key ?? "", baseURL: `${fleet.url()}/gpt/v1`, maxRetries: 0 });
});

const messages = [{ role: "user" as const, content: "Weather in Oslo?" }];
const encrypted = `${Buffer.from("?>".repeat(200)).toString("base64url")}==`;
const described = {
  name: "weather",
  description: "Tells the weather",
  parameters: { type: "object", properties: { city: { type: "string" } } },
};
const tools = [{ type: "function" as const, function: described }];

async function answered(streamed: boolean, given: object = {}): Promise<OpenAI.ChatCompletion> {
  const request = { model, messages, ...given };
  if (!streamed) return client.chat.completions.create(request);
  return client.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion();
}

test.each([false, true])("an answer has its reasoning and its counts, at their prices (streamed: %p)", async (streamed) => {
  const usage = responseUsage(1_000, 400, { cached: 600, reasoning: 300 });
  provider.answerOnce(response("It rains.", { summary: ["I look.", "I tell."], encrypted, usage }));
  const answer = await answered(streamed, { reasoning_effort: "high", verbosity: "low" });
  expect(answer.choices[0]).toMatchObject({
    // The package's stream helper keeps only the last piece of a field that is an addition.
    message: { content: "It rains.", reasoning_content: streamed ? "\n\nI tell." : "I look.\n\nI tell." },
    finish_reason: "stop",
  });
  expect(answer.usage).toMatchObject({
    prompt_tokens: 1_000,
    completion_tokens: 400,
    total_tokens: 1_400,
    prompt_tokens_details: { cached_tokens: 600 },
    completion_tokens_details: { reasoning_tokens: 300 },
  });
  expect(provider.calls.at(-1)?.body).toMatchObject({
    model: "gpt-5.6-sol",
    store: false,
    reasoning: { effort: "high", summary: "auto" },
    text: { verbosity: "low" },
  });
  // 400 tokens at 5.00, 600 from the cache at 0.50, 400 at 30.00 USD per 1M.
  await expectExactLedger(fleet.operator(), customer, { credit, generations: 1, costNano: 2_000_000n + 300_000n + 12_000_000n });
});

test.each([false, true])("the package's tool runner gets the model its reasoning back (streamed: %p)", async (stream) => {
  const calls = [{ call_id: "call_1", name: "weather", arguments: '{"city":"Oslo"}' }];
  const before = provider.calls.length;
  provider.answerOnce(response("", { calls, encrypted }), response("It rains."));
  const parse = (text: string): object => JSON.parse(text);
  const tool: RunnableToolFunctionWithParse<object> = {
    type: "function",
    function: { ...described, parse, function: () => "rain" },
  };
  const runner = stream
    ? client.chat.completions.runTools({ model, messages, tools: [tool], stream: true })
    : client.chat.completions.runTools({ model, messages, tools: [tool] });
  expect(await runner.finalContent()).toBe("It rains.");
  expect(provider.calls.slice(before)[1]?.body["input"]).toEqual([
    ...messages,
    { type: "reasoning", summary: [], encrypted_content: encrypted },
    { type: "function_call", ...calls[0] },
    { type: "function_call_output", call_id: "call_1", output: "rain" },
  ]);
});

test("another model of the same provider takes the conversation over, without the reasoning", async () => {
  const calls = [{ call_id: "call_1", name: "weather", arguments: "{}" }];
  provider.answerOnce(response("", { calls, encrypted }));
  const calling = (await answered(false, { tools })).choices[0]?.message;
  if (!calling) throw new Error("There is no message");
  const id = calling.tool_calls?.[0]?.id ?? "";
  expect(id).toStartWith("call_1.sig.");
  const turns = [...messages, calling, { role: "tool", tool_call_id: id, content: "rain" }];
  expect((await answered(false, { model: "responses/older", messages: turns, tools })).choices[0]?.message.content).toBe("Hello");
  expect(provider.calls.at(-1)).toMatchObject({ path: "/v1/chat/completions" });
  expect(provider.calls.at(-1)?.rawBody).not.toContain(".sig.");
  expect(provider.calls.at(-1)?.body["messages"]).toMatchObject([
    {},
    { tool_calls: [{ id: "call_1" }] },
    { tool_call_id: "call_1" },
  ]);
});
