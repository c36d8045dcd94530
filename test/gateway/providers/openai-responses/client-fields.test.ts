import { expect, test } from "bun:test";
import type { ChatBody } from "../../../../src/gateway/providers/provider.ts";
import { responses } from "../../../../src/gateway/providers/registry.ts";
import { check, refusal } from "../../../support/gateway/check-chat.ts";
import { body, bounded, rejected } from "../../../support/gateway/rejected.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { route } from "../../../support/providers/routes.ts";

const user = { role: "user", content: "Hi" };
const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };

function refused(chat: Partial<ChatBody>): string | null {
  return responses.unsupportedField?.({ model: "stub/model", messages: [user], ...chat })?.param ?? null;
}

test.each([
  [{ stop: "END" }, "stop"],
  [{ seed: 7 }, "seed"],
  [{ logit_bias: { "1": 1 } }, "logit_bias"],
  [{ frequency_penalty: 1 }, "frequency_penalty"],
  [{ presence_penalty: 1 }, "presence_penalty"],
  [{ prediction: { type: "content", content: "x" } }, "prediction"],
  [{ functions: [{ name: "f" }] }, "functions"],
  [{ function_call: "auto" }, "function_call"],
  [{ response_format: { type: "json_schema", json_schema: { name: "x" } } }, "response_format.json_schema.schema"],
  [{ messages: [{ role: "function", name: "f", content: "1" }] }, "messages[0].role"],
  [{ messages: [user, { role: "assistant", function_call: { name: "f", arguments: "{}" } }] }, "messages[1].function_call"],
  [{ messages: [user, { role: "tool", tool_call_id: "a", content: "1" }] }, "messages[1].tool_call_id"],
  [
    { messages: [{ role: "user", content: [{ type: "text", text: "x", cache_control: { type: "ephemeral" } }] }] },
    "messages[0].content[0].cache_control",
  ],
])("%j is refused by name", (chat, param) => {
  expect(refused(chat)).toBe(param);
});

test("the reference names what the API refuses and other models with tools take", async () => {
  const page = await Bun.file(new URL("../../../../docs/reference/inference.md", import.meta.url)).text();
  const functions = [{ name: "f" }];
  const fields = { stop: "END", functions, function_call: "auto" };
  for (const [field, value] of Object.entries(fields)) {
    expect(refusal({ functions, [field]: value }, chatModel(["tools"]))).toBeNull();
    expect(refused({ [field]: value })).toBe(field);
  }
  const told = /OpenAI's models since gpt-5\.4 accept no (.*) below 16/.exec(page)?.[1]?.match(/\w+(?=`)/g);
  expect<unknown>(told).toEqual([...Object.keys(fields), "max_tokens"]);
});

test("a tool loop and everything that the API takes is not refused", () => {
  const messages = [
    { role: "system", content: "x", name: "s" },
    user,
    { role: "assistant", content: "x", refusal: "y", name: "h", reasoning_content: "z", tool_calls: [call] },
    { role: "tool", tool_call_id: "a", content: "1" },
  ];
  const sampling = { temperature: 0.5, top_p: 0.5, logprobs: true, top_logprobs: 2, verbosity: "low", reasoning_effort: "low" };
  const tools = [{ type: "custom", custom: { name: "shell" } }];
  const format = { type: "json_schema", json_schema: { name: "x", schema: { type: "object" } } };
  expect(
    refused({ messages, ...sampling, tools, tool_choice: "auto", parallel_tool_calls: true, response_format: format }),
  ).toBeNull();
});

test("a bound on output below the API's least is refused by the name that the client used", () => {
  const model = chatModel([], { routes: [route("acme", { format: "openai-responses" })] });
  for (const name of ["max_tokens", "max_completion_tokens"]) {
    expect(refusal({ [name]: 15 }, model)).toBe(`invalid_request ${name}`);
    expect(check({ [name]: 16 }, model).maxTokens).toBe(16);
  }
  expect(check({ max_tokens: 1 }, chatModel()).maxTokens).toBe(1);
});

test.each([
  ["input[0].content", "messages[0]"],
  ["input[3].call_id", "messages[2]"],
  ["input[5].output", "messages[3]"],
  ["input[7].content[0].text", "messages[5]"],
  ["input[99]", "messages"],
  ["input", "messages"],
  ["max_output_tokens", "max_tokens"],
  ["reasoning.effort", "reasoning_effort"],
  ["text.format.schema", "response_format.json_schema.schema"],
  ["text.format", "response_format"],
  ["tools[0].parameters", "tools[0].function.parameters"],
  ["temperature", "temperature"],
  ["text.verbosity", null],
  ["include", null],
  ["stream_options", null],
])("%s of the Responses API is made from %s of a chat", (param, field) => {
  const error = { message: "CANARY", type: "invalid_request_error", param, code: "invalid_value" };
  expect(rejected("openai-responses", { error }).param).toBe(field);
});

test("behind reasoning in the id of a call no message is named, since it makes items of its own", () => {
  const [system, user, assistant, ...results] = body.messages;
  if (!system || !user || !assistant) throw new Error("The body has three messages at least");
  const call = { id: "call_a.sig.m.c2ln", type: "function", function: { name: "weather", arguments: "{}" } };
  const sent = { ...bounded, body: { ...body, messages: [system, user, { ...assistant, tool_calls: [call] }, ...results] } };
  const told = (param: string) => ({ error: { message: "CANARY", type: "invalid_request_error", param, code: null } });
  expect(rejected("openai-responses", told("input[1].content"), { sent }).param).toBe("messages[1]");
  expect(rejected("openai-responses", told("input[4].call_id"), { sent }).param).toBe("messages");
});
