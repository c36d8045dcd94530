import { expect, test } from "bun:test";
import { body, bounded, rejected } from "../../../support/gateway/rejected.ts";

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
