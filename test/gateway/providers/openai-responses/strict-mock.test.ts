/** The mock of the Responses API refuses what OpenAI refuses. Otherwise no test against it could fail. */
import { expect, test } from "bun:test";
import { responsesRefusal } from "../../../support/providers/strict-responses.ts";

const user = { role: "user", content: "Weather?" };
const call = { type: "function_call", call_id: "call_1", name: "weather", arguments: "{}" };
const result = { type: "function_call_output", call_id: "call_1", output: "rain" };
const thought = { type: "reasoning", summary: [], encrypted_content: "gAAA" };
const schema = { type: "object", properties: { city: { type: "string" } } };
const weather = { type: "function", name: "weather", parameters: schema, strict: false };

const refusal = (fields: object, own?: ReadonlyMap<string, string>) =>
  responsesRefusal({ path: "/v1/responses", body: { model: "gpt-5.4", input: [user], ...fields } }, own);

test.each<[object, string]>([
  [{ stop: ["END"] }, "stop"],
  [{ reasoning_effort: "low" }, "reasoning_effort"],
  [{ stream_options: { include_obfuscation: false } }, "stream_options"],
  [{ max_output_tokens: 15 }, "max_output_tokens"],
  [{ include: ["reasoning"] }, "include[0]"],
  [{ reasoning: { effort: "minimal" } }, "reasoning.effort"],
  [{ reasoning: { effort: "low", max_tokens: 5 } }, "reasoning.max_tokens"],
  [{ reasoning: { effort: "low" }, temperature: 0.5 }, "temperature"],
  [{ model: "gpt-6-astra", reasoning: { effort: "none" } }, "reasoning.effort"],
  [{ model: "gpt-6-astra", top_p: 0.5 }, "top_p"],
  [{ tools: [{ type: "function", function: { name: "weather" } }] }, "tools[0].name"],
  [{ tools: [{ ...weather, name: "weather.now" }] }, "tools[0].name"],
  [{ tools: [{ ...weather, name: "w".repeat(65) }] }, "tools[0].name"],
  [{ tools: [{ ...weather, parameters: { type: "object" } }] }, "tools[0].parameters"],
  [{ tools: [{ ...weather, strict: undefined }] }, "tools[0].parameters"],
  [{ tools: [weather], tool_choice: { type: "function", name: "now" } }, "tool_choice"],
  [{ text: { format: { type: "json_schema", json_schema: { name: "x", schema } } } }, "text.format.name"],
  [{ text: { format: { type: "json_schema", name: "x" } } }, "text.format.schema"],
  [{ input: [{ ...user, name: "ann" }] }, "input[0].name"],
  [{ input: [{ role: "tool", content: "rain" }] }, "input[0].role"],
  [{ input: [{ role: "user", content: null }] }, "input[0].content"],
  [{ input: [{ role: "user", content: [{ type: "text", text: "x" }] }] }, "input[0].content"],
  [{ input: [{ role: "assistant", content: [{ type: "input_text", text: "x" }] }] }, "input[0].content"],
  [{ input: [{ role: "assistant", content: "x", phase: "answer" }] }, "input[0].phase"],
  [{ input: [{ role: "assistant", content: "x", id: "resp_1" }] }, "input[0].id"],
  [{ input: [{ ...call, id: "call_1" }, result] }, "input[0].id"],
  [{ input: [{ ...call, call_id: "c".repeat(65) }] }, "input[0].call_id"],
  [{ input: [{ ...call, call_id: "" }] }, "input[0].call_id"],
  [{ input: [{ ...call, arguments: {} }, result] }, "input[0].arguments"],
  [{ input: [{ ...call, name: "weather now" }, result] }, "input[0].name"],
  [{ input: [call, { ...result, output: null }] }, "input[1].output"],
  [{ input: [call, user] }, "input"],
  [{ input: [result] }, "input"],
  [{ input: [call, { ...result, type: "custom_tool_call_output" }] }, "input"],
  [{ input: [{ ...thought, summary: undefined }, call, result] }, "input[0].summary"],
  [{ input: [{ ...thought, content: [{ type: "reasoning_text", text: "x" }] }, call, result] }, "input[0].content"],
  [{ input: [{ ...thought, status: "completed" }, call, result] }, "input[0].status"],
  [{ input: [{ ...thought, id: "item_1" }, call, result] }, "input[0].id"],
  [{ input: [{ ...thought, encrypted_content: undefined }, call, result] }, "input"],
  [{ input: [thought] }, "input"],
  [{ input: [thought, user] }, "input"],
  [{ input: [{ type: "item_reference", id: "rs_1" }] }, "input[0]"],
])("%j is refused for its %s", (fields, param) => {
  expect(refusal(fields)?.param).toBe(param);
});

test("reasoning that another model has encrypted is refused, and the model's own is not where it led to the call", () => {
  const input = [user, thought, call, result];
  expect(refusal({ input }, new Map())?.code).toBe("invalid_encrypted_content");
  expect(refusal({ input }, new Map([["gAAA", "call_1"]]))).toBeNull();
  expect(refusal({ input }, new Map([["gAAA", "call_2"]]))?.message).toEndWith("without its required following item.");
});

test("a call of chat completions is refused, and a whole conversation is not", () => {
  expect(responsesRefusal({ path: "/v1/chat/completions", body: {} })?.param).toBe("path");
  const said = { role: "assistant", content: "I look.", phase: "commentary" };
  expect(refusal({ input: [user, thought, said, call, result], tools: [weather], temperature: 0.5 })).toBeNull();
});
