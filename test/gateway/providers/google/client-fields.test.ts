import { describe, expect, test } from "bun:test";
import { checkChat } from "../../../../src/gateway/api/request/chat-request.ts";
import { supportWords } from "../../../../src/gateway/api/request/requested-model.ts";
import { google } from "../../../../src/gateway/providers/registry.ts";
import { GatewayError } from "../../../../src/kernel/errors.ts";
import { aModel } from "../../../support/providers/models.ts";

const gemini = aModel({ supports: Object.keys(supportWords) }, { format: "google" });
const hello = { role: "user", content: "Hello" };
const tool = { type: "function", function: { name: "go" } };
const call = (text = "{}", id = "a") => ({ id, type: "function", function: { name: "go", arguments: text } });
const calling = (...calls: object[]) => ({ role: "assistant", tool_calls: calls });
const allowed = (mode: string, ...tools: object[]) => ({ type: "allowed_tools", allowed_tools: { mode, tools } });

function checked(fields: object) {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: "stub/model", messages: [hello], ...fields }));
  return checkChat(bytes, { find: () => gemini });
}

/** Code, param and message of the refusal; null if the request passes. */
function refusal(fields: object): string[] | null {
  try {
    checked(fields);
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [error.code, error.param ?? "", error.message];
  }
}

describe("a field that generateContent does not support gets 400 unsupported_parameter with its name, before anything is sent", () => {
  test.each<[string, object]>([
    ["verbosity", { verbosity: "low" }],
    ["cache_control", { cache_control: { type: "ephemeral" } }],
    ["tools[0].cache_control", { tools: [{ ...tool, cache_control: { type: "ephemeral" } }] }],
    [
      "messages[0].content[0].cache_control",
      { messages: [{ role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }] }] },
    ],
    ["logit_bias", { logit_bias: { "5": 1 } }],
    ["logprobs", { logprobs: true }],
    ["prediction", { prediction: { type: "content", content: "x" } }],
    ["functions", { functions: [{ name: "go" }] }],
    ["stop", { stop: "" }],
    ["tools[1].type", { tools: [tool, { type: "custom", custom: { name: "free" } }] }],
    ["tool_choice.type", { tools: [tool], tool_choice: { type: "custom", custom: { name: "free" } } }],
    ["tool_choice.allowed_tools.tools", { tools: [tool], tool_choice: allowed("required") }],
    ["tool_choice.allowed_tools.tools", { tools: [tool], tool_choice: allowed("auto", { type: "mcp" }) }],
    ["messages[1].tool_calls[1].function.arguments", { messages: [hello, calling(call(), call("[]"))] }],
    [
      "messages[1].function_call.arguments",
      { messages: [hello, { role: "assistant", function_call: { name: "go", arguments: "{" } }] },
    ],
    [
      "messages[1].tool_calls[0].type",
      { messages: [hello, calling({ id: "a", type: "custom", custom: { name: "go", input: "x" } })] },
    ],
    ["messages[2].tool_call_id", { messages: [hello, calling(call()), { role: "tool", tool_call_id: "b", content: "x" }] }],
    ["messages[0].tool_call_id", { messages: [{ role: "tool", tool_call_id: "a", content: "x" }, calling(call())] }],
    ["messages", { messages: [{ role: "system", content: "" }] }],
    ["messages", { messages: [{ role: "user", content: "" }] }],
  ])("%s in %j", (param, fields) => {
    const [code, at, message] = refusal(fields) ?? [];
    expect([code, at]).toEqual(["unsupported_parameter", param]);
    expect(message).toStartWith(`The model does not support ${param}`);
  });

  test("more than five stop sequences, should the official schema ever take them", () => {
    const chat = { model: "stub/model", messages: [hello], stop: ["a", "b", "c", "d", "e"] };
    expect(google.unsupportedField?.(chat)).toBeNull();
    expect(google.unsupportedField?.({ ...chat, stop: [...chat.stop, "f"] })?.param).toBe("stop");
  });
});

describe("what it has a place for passes", () => {
  test.each<[string, object]>([
    ["the scale's both ends", { temperature: 2, top_p: 0 }],
    ["instructions alone", { messages: [{ role: "system", content: "Be brief." }] }],
    ["each effort", { reasoning_effort: "max" }],
    ["a format without a schema", { response_format: { type: "json_object" } }],
    ["penalties and a seed", { frequency_penalty: 2, presence_penalty: -2, seed: -7 }],
    ["tools", { tools: [tool], tool_choice: "required", parallel_tool_calls: true }],
    ["one call at most", { tools: [tool, { type: "function", function: { name: "stop" } }], parallel_tool_calls: false }],
    ["a choice among some tools", { tools: [tool], tool_choice: allowed("auto", tool) }],
    ["labels", { user: "u", metadata: { a: "b" }, store: false, safety_identifier: "s", prompt_cache_key: "p" }],
    ["nulls, and values that ask for nothing", { verbosity: null, logprobs: false, frequency_penalty: 0, n: 1, logit_bias: {} }],
    [
      "a call without arguments, and its result",
      { messages: [hello, calling(call("")), { role: "tool", tool_call_id: "a", content: "" }] },
    ],
    [
      "a function of the old kind, and its result",
      {
        messages: [
          hello,
          { role: "assistant", function_call: { name: "go", arguments: "{}" } },
          { role: "function", name: "go", content: "x" },
        ],
      },
    ],
  ])("%s: %j", (_, fields) => {
    expect(refusal(fields)).toBeNull();
  });
});
