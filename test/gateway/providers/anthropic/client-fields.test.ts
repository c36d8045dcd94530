import { describe, expect, test } from "bun:test";
import { checkChat } from "../../../../src/gateway/api/request/chat-request.ts";
import { supportWords } from "../../../../src/gateway/api/request/requested-model.ts";
import type { Model } from "../../../../src/gateway/models/model.ts";
import { GatewayError } from "../../../../src/kernel/errors.ts";
import { aModel } from "../../../support/providers/models.ts";

const supports = Object.keys(supportWords);
const claude = aModel({ supports }, { format: "anthropic" });
const hello = { role: "user", content: "Hello" };
const functionTool = { type: "function", function: { name: "go", parameters: { type: "object" } } };
const call = (argumentsText: string) => ({ id: "a", type: "function", function: { name: "go", arguments: argumentsText } });

/** Code, param and message of the refusal; null if the request passes. */
function refusal(fields: object, model: Model | null = claude): string[] | null {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: "stub/model", messages: [hello], ...fields }));
  try {
    checkChat(bytes, { find: () => model });
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [error.code, error.param ?? "", error.message];
  }
}

describe("a field that the Messages API does not support gets 400 unsupported_parameter with its name, before anything is sent", () => {
  test.each<[string, object]>([
    ["temperature", { temperature: 1.01 }],
    ["temperature", { temperature: 2 }],
    ["stop", { stop: "\n" }],
    ["stop", { stop: ["END", "  "] }],
    ["stop", { stop: "" }],
    ["response_format.type", { response_format: { type: "json_object" } }],
    ["response_format.json_schema.schema", { response_format: { type: "json_schema", json_schema: { name: "a" } } }],
    ["seed", { seed: 7 }],
    ["frequency_penalty", { frequency_penalty: 1 }],
    ["presence_penalty", { presence_penalty: -1 }],
    ["logit_bias", { logit_bias: { "5": 1 } }],
    ["logprobs", { logprobs: true }],
    ["verbosity", { verbosity: "low" }],
    ["prediction", { prediction: { type: "content", content: "x" } }],
    ["functions", { functions: [{ name: "go" }] }],
    ["tools[1].type", { tools: [functionTool, { type: "custom", custom: { name: "free" } }] }],
    [
      "tool_choice.type",
      {
        tools: [functionTool],
        tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [{ type: "function" }] } },
      },
    ],
    ["messages[1].role", { messages: [hello, { role: "function", name: "go", content: "x" }] }],
    ["messages[1].function_call", { messages: [hello, { role: "assistant", function_call: { name: "go", arguments: "{}" } }] }],
    ["messages[1].tool_calls[0].function.arguments", { messages: [hello, { role: "assistant", tool_calls: [call("{")] }] }],
    [
      "messages[1].tool_calls[1].function.arguments",
      { messages: [hello, { role: "assistant", tool_calls: [call("{}"), call("[]")] }] },
    ],
    [
      "messages[1].tool_calls[0].type",
      { messages: [hello, { role: "assistant", tool_calls: [{ id: "a", type: "custom", custom: { name: "go", input: "x" } }] }] },
    ],
    ["messages", { messages: [{ role: "user", content: " " }] }],
    ["messages", { messages: [{ role: "system", content: " " }] }],
  ])("%s in %j", (param, fields) => {
    const [code, at, message] = refusal(fields) ?? [];
    expect([code, at]).toEqual(["unsupported_parameter", param]);
    expect(message).toStartWith(`The model does not support ${param}`);
  });
});

describe("a supported field passes", () => {
  test.each<[string, object]>([
    ["the scale's end", { temperature: 1, top_p: 1 }],
    ["no randomness", { temperature: 0, top_p: 1 }],
    ["one kind of sampling", { temperature: 1, top_p: 0.2 }],
    ["stops", { stop: ["END", " ."] }],
    ["each effort that it knows", { reasoning_effort: "max" }],
    ["no effort", { reasoning_effort: "none" }],
    ["the least effort", { reasoning_effort: "minimal" }],
    ["both sampling fields", { temperature: 0.5, top_p: 0.9 }],
    ["instructions alone", { messages: [{ role: "system", content: "Be brief." }] }],
    ["reasoning of an earlier answer", { messages: [hello, { role: "assistant", content: "x", reasoning_content: "y" }] }],
    ["a schema", { response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "string" } } } }],
    ["plain text asked for by name", { response_format: { type: "text" } }],
    ["tools", { tools: [functionTool], tool_choice: "required", parallel_tool_calls: false }],
    ["a named tool", { tools: [functionTool], tool_choice: { type: "function", function: { name: "go" } } }],
    ["labels", { user: "u", metadata: { a: "b" }, store: false, safety_identifier: "s", prompt_cache_key: "p" }],
    ["nulls, and values that ask for nothing", { seed: null, logprobs: false, frequency_penalty: 0, n: 1, logit_bias: {} }],
    [
      "a call without arguments, and its result",
      { messages: [hello, { role: "assistant", tool_calls: [call("")] }, { role: "tool", tool_call_id: "a", content: "" }] },
    ],
  ])("%s: %j", (_, fields) => {
    expect(refusal(fields)).toBeNull();
  });
});

test("a model with two providers accepts the fields that both support", () => {
  const routes = [
    { provider: "one", upstream_model: "a", prices_per_1m_usd: { input: "1.00", output: "2.00" } },
    { provider: "two", upstream_model: "b", prices_per_1m_usd: { input: "1.00", output: "2.00" } },
  ];
  const model = aModel({ supports, routes });
  const [first, second] = model.routes;
  if (!first || !second) throw new Error("The model of the test has two routes");
  const mixed = { ...model, routes: [first, { ...second, format: "anthropic" as const }] };
  expect(refusal({ temperature: 1.5 }, model)).toBeNull();
  expect(refusal({ temperature: 1.5 }, mixed)?.slice(0, 2)).toEqual(["unsupported_parameter", "temperature"]);
});

describe("a model that takes no forced call", () => {
  const free = aModel({ supports, forced_tools: false }, { format: "anthropic" });
  const choosing = (tool_choice: unknown) => refusal({ tools: [functionTool], tool_choice }, free)?.slice(0, 2) ?? null;

  test.each<[string, unknown]>([
    ["any call", "required"],
    ["a named one", { type: "function", function: { name: "go" } }],
  ])("refuses %s by name", (_, choice) => {
    expect(choosing(choice)).toEqual(["unsupported_parameter", "tool_choice"]);
  });

  test("takes a free choice, and none", () => {
    expect([choosing("auto"), choosing("none")]).toEqual([null, null]);
  });
});

describe("a schema that the API cannot express is refused with the path of its keyword", () => {
  const parts = { type: "object", properties: { tags: { type: "object", additionalProperties: { type: "string" } } } };

  test("in a response format", () => {
    const response_format = { type: "json_schema", json_schema: { name: "a", schema: parts } };
    expect(refusal({ response_format })).toEqual([
      "unsupported_parameter",
      "response_format.json_schema.schema.properties.tags.additionalProperties",
      "The model does not support response_format.json_schema.schema.properties.tags.additionalProperties: an object whose fields are not named",
    ]);
  });

  test("in a strict tool, and in no other", () => {
    const tool = (strict: boolean) => ({ type: "function", function: { name: "go", parameters: parts, strict } });
    const path = "tools[1].function.parameters.properties.tags.additionalProperties";
    expect(refusal({ tools: [functionTool, tool(true)] })?.slice(0, 2)).toEqual(["unsupported_parameter", path]);
    expect(refusal({ tools: [functionTool, tool(false)] })).toBeNull();
  });
});

test("a violation of the official schema is reported first", () => {
  expect(refusal({ temperature: 1.5, top_p: 2 })?.slice(0, 2)).toEqual(["invalid_request", "top_p"]);
});

test("a model outside of the catalog supports no check", () => {
  expect(refusal({ temperature: 1.5 }, null)).toBeNull();
});
