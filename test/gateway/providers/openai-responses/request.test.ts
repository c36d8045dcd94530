import { describe, expect, test } from "bun:test";
import type { ChatBody, ProviderCall } from "../../../../src/gateway/providers/provider.ts";
import { responses } from "../../../../src/gateway/providers/registry.ts";
import { aRoute } from "../../../support/providers/models.ts";

const route = aRoute({ format: "openai-responses" }, { upstream_model: "gpt-5.6-sol" });
const user = (content: unknown, more: object = {}) => ({ role: "user", content, ...more });
const text = (words: string) => ({ type: "text", text: words });
const input = (words: string) => ({ type: "input_text", text: words });
const call = (id: string, name: string, written: string) => ({ id, type: "function", function: { name, arguments: written } });
const result = (id: string, content: unknown) => ({ role: "tool", tool_call_id: id, content });
const longId = `chatcmpl-tool-${"0123456789abcdef".repeat(4)}`;

function sent(chat: Partial<ChatBody>, more: Partial<ProviderCall> = {}): Record<string, unknown> {
  const body = { model: "stub/model", messages: [user("Hello")], ...chat };
  const generation = "gen-abcdefghijklmnopqrstuvwxyz";
  const encoded = responses.encode({ generation, route, chat: body, maxOutputTokens: 100, streamed: false, ...more });
  expect(encoded).toMatchObject({ path: "/responses", headers: { "x-client-request-id": generation } });
  return JSON.parse(encoded.body);
}

const inputOf = (...messages: ChatBody["messages"]): unknown => sent({ messages })["input"];

describe("a request", () => {
  test("asks the provider to store nothing, and for the reasoning that it will want back", () => {
    const plain = {
      model: "gpt-5.6-sol",
      input: [user("Hello")],
      store: false,
      include: ["reasoning.encrypted_content"],
      max_output_tokens: 100,
    };
    expect(sent({})).toEqual(plain);
    expect(sent({}, { streamed: true })).toMatchObject({ ...plain, stream: true });
  });

  test("asks for a stream without padding, which no client receives", () => {
    expect(sent({}, { streamed: true })["stream_options"]).toEqual({ include_obfuscation: false });
    expect(sent({})).not.toHaveProperty("stream_options");
  });

  test("asks for a summary of the reasoning where the client sets an effort", () => {
    expect(sent({ reasoning_effort: "high" })["reasoning"]).toEqual({ effort: "high", summary: "auto" });
    expect(sent({ reasoning_effort: "none" })["reasoning"]).toEqual({ effort: "none" });
  });

  test("carries the options, under the names of the API", () => {
    const schema = { name: "x", description: "d", schema: { type: "object" }, strict: true };
    const chat = { temperature: 0, top_p: 0.5, logprobs: true, top_logprobs: 3, verbosity: "low" };
    expect(sent({ ...chat, response_format: { type: "json_schema", json_schema: schema } })).toMatchObject({
      temperature: 0,
      top_p: 0.5,
      top_logprobs: 3,
      include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
      text: { verbosity: "low", format: { type: "json_schema", ...schema } },
    });
    expect(sent({ response_format: { type: "json_object" } })["text"]).toEqual({ format: { type: "json_object" } });
    expect(sent({ verbosity: "high" })["text"]).toEqual({ verbosity: "high" });
  });

  test("carries tools flat; a function that is not strict in chat completions is not strict here", () => {
    const parameters = { type: "object", properties: { city: { type: "string" } } };
    const grammar = { syntax: "lark", definition: "start: /a+/" };
    const tools = [
      { type: "function", function: { name: "now" } },
      { type: "function", function: { name: "then", parameters: { type: "object", additionalProperties: false } } },
      { type: "function", function: { name: "weather", description: "d", parameters, strict: true } },
      { type: "custom", custom: { name: "shell", description: "s", format: { type: "grammar", grammar } } },
      { type: "custom", custom: { name: "note", format: { type: "text" } } },
    ];
    expect(sent({ tools, parallel_tool_calls: false })).toMatchObject({
      tools: [
        { type: "function", name: "now", parameters: { type: "object", properties: {} }, strict: false },
        { name: "then", parameters: { type: "object", properties: {}, additionalProperties: false } },
        { type: "function", name: "weather", description: "d", parameters, strict: true },
        { type: "custom", name: "shell", description: "s", format: { type: "grammar", ...grammar } },
        { type: "custom", name: "note", format: { type: "text" } },
      ],
      parallel_tool_calls: false,
    });
  });

  test.each<[unknown, unknown]>([
    ["required", "required"],
    [
      { type: "function", function: { name: "now" } },
      { type: "function", name: "now" },
    ],
    [
      { type: "custom", custom: { name: "shell" } },
      { type: "custom", name: "shell" },
    ],
    [
      { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "now" } }] } },
      { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "now" }] },
    ],
  ])("chooses tools: %j", (choice, chosen) => {
    expect(sent({ tool_choice: choice })["tool_choice"]).toEqual(chosen);
  });
});

describe("a conversation", () => {
  test("keeps each message in its place, and a text a text", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      user([text("Hi"), text("there")], { name: "ann" }),
      { role: "assistant", content: [text("Good "), text("day")], name: "host" },
      { role: "developer", content: "Be kind." },
      user("", { name: "bob" }),
      { role: "assistant", content: "", refusal: "I must not" },
      { role: "assistant", content: "" },
      user("And?", { name: "bob" }),
    ];
    expect(inputOf(...messages)).toEqual([
      { role: "system", content: "Be brief." },
      user([input("ann: Hi"), input("there")]),
      { role: "assistant", content: "Good day", phase: "final_answer" },
      { role: "developer", content: "Be kind." },
      user("bob: "),
      { role: "assistant", content: "I must not", phase: "final_answer" },
      user("bob: And?"),
    ]);
  });

  test("carries calls and their results as items of their own, and tells the text before a call from an answer", () => {
    const calls = [call("a", "weather", '{"city":"Oslo"}'), { id: "b", type: "custom", custom: { name: "shell", input: "ls" } }];
    const items = inputOf(
      user("Hi"),
      { role: "assistant", content: "Let me look.", tool_calls: [...calls, call("c", "now", "")] },
      result("c", "9"),
      result("b", [text("a.txt"), text("\nb.txt")]),
      result("a", "rain"),
    );
    expect(items).toEqual([
      user("Hi"),
      { role: "assistant", content: "Let me look.", phase: "commentary" },
      { type: "function_call", call_id: "a", name: "weather", arguments: '{"city":"Oslo"}' },
      { type: "custom_tool_call", call_id: "b", name: "shell", input: "ls" },
      { type: "function_call", call_id: "c", name: "now", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "9" },
      { type: "custom_tool_call_output", call_id: "b", output: "a.txt\nb.txt" },
      { type: "function_call_output", call_id: "a", output: "rain" },
    ]);
  });

  test("has each call's id once where other providers number the calls of each answer anew, and each result with its call", () => {
    const long = "x".repeat(64);
    const turn = (id: string, city: string) => [
      { role: "assistant", content: null, tool_calls: [call(id, "weather", city), call(`${id.slice(1)}1`, "time", city)] },
      result(`${id.slice(1)}1`, `noon in ${city}`),
      result(id, `rain in ${city}`),
    ];
    const items = inputOf(
      user("Hi"),
      ...turn("call_0", "Oslo"),
      ...turn("call_0", "Rome"),
      ...turn(long, "Bonn"),
      ...turn(long, "Kyiv"),
    );
    const found = items as { type?: string; call_id: string; arguments?: string; output?: string }[];
    const calls = found.filter(({ type }) => type === "function_call");
    expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(8);
    for (const { call_id } of calls) expect(call_id.length).toBeLessThanOrEqual(64);
    for (const { call_id, output } of found.filter(({ type }) => type === "function_call_output")) {
      const [city] = calls.flatMap((one) => (one.call_id === call_id ? [one.arguments ?? ""] : []));
      expect(output).toEndWith(`in ${city}`);
    }
    expect(calls.slice(0, 2).map(({ call_id }) => call_id)).toEqual(["call_0", "all_01"]);
  });

  test("shortens the ids of other providers, which the API refuses beyond 64 characters, always to the same", () => {
    const turn = [
      { role: "assistant", tool_calls: [call(longId, "now", "{}"), call(`${longId}2`, "now", "{}")] },
      result(longId, "9"),
    ];
    const items = inputOf(user("Hi"), ...turn) as { call_id?: string }[];
    const [, first, second, answered] = items.map(({ call_id }) => call_id);
    expect(first).toMatch(/^call_[\w-]{43}$/);
    expect(answered).toBe(first);
    expect(second).not.toBe(first);
    const fits = "x".repeat(64);
    expect(inputOf(user("Hi"), { role: "assistant", tool_calls: [call(fits, "now", "{}")] })).toMatchObject([
      {},
      { call_id: fits },
    ]);
  });
});
