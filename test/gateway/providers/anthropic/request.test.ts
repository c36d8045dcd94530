import { describe, expect, test } from "bun:test";
import { anthropic } from "../../../../src/gateway/providers/registry.ts";
import type { ChatBody, ProviderCall } from "../../../../src/gateway/providers/provider.ts";
import { aRoute } from "../../../support/providers/models.ts";

const user = (content: unknown) => ({ role: "user", content });
const text = (words: string) => ({ type: "text", text: words });
const tool = (name: string, more: object = {}) => ({ type: "function", function: { name, ...more } });
const call = (id: string, name: string, argumentsText: string) => ({
  id,
  type: "function",
  function: { name, arguments: argumentsText },
});
const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });

function encoded(chat: Partial<ChatBody>, more: Partial<ProviderCall> = {}) {
  const body = { model: "stub/model", messages: [user("Hello")], ...chat };
  const generation = "gen-abcdefghijklmnopqrstuvwxyz";
  return anthropic.encode({ generation, route: aRoute(), chat: body, maxOutputTokens: 100, streamed: false, ...more });
}

function sent(chat: Partial<ChatBody>, more: Partial<ProviderCall> = {}): Record<string, unknown> {
  return JSON.parse(encoded(chat, more).body);
}

function turnsOf(...messages: ChatBody["messages"]): unknown {
  return sent({ messages })["messages"];
}

describe("a call", () => {
  test("is posted to /messages with the API version", () => {
    const { path, headers } = encoded({});
    expect(path).toBe("/messages");
    expect(headers).toEqual({ "anthropic-version": "2023-06-01" });
    expect(anthropic.authorization("sk-ours")).toEqual({ "x-api-key": "sk-ours" });
  });

  test("contains the required fields and nothing else", () => {
    expect(sent({})).toEqual({
      model: "stub-model",
      max_tokens: 100,
      messages: [{ role: "user", content: [text("Hello")] }],
    });
    expect(sent({}, { streamed: true })["stream"]).toBe(true);
  });

  test("carries the sampling fields", () => {
    expect(sent({ temperature: 0, stop: "END" })).toMatchObject({ temperature: 0, stop_sequences: ["END"] });
    expect(sent({ top_p: 0.5, stop: ["a", "b"] })).toMatchObject({ top_p: 0.5, stop_sequences: ["a", "b"] });
  });

  test("omits sampling fields with default values, which several models refuse", () => {
    expect(sent({ temperature: 1, top_p: 1 })).not.toContainAnyKeys(["temperature", "top_p"]);
    expect(sent({ temperature: 0.2, top_p: 1 })).toMatchObject({ temperature: 0.2 });
  });

  test("carries the temperature alone where both sampling fields are given, which the API does not take together", () => {
    const body = sent({ temperature: 0.2, top_p: 0.9 });
    expect(body["temperature"]).toBe(0.2);
    expect(body).not.toContainKey("top_p");
  });
});

describe("a conversation", () => {
  test("carries system and developer messages as instructions, in order", () => {
    const body = sent({
      messages: [
        { role: "system", content: "Be brief." },
        user("Hi"),
        { role: "developer", content: [text("Be "), text("kind.")] },
        { role: "system", content: " " },
      ],
    });
    expect(body["system"]).toEqual([text("Be brief."), text("Be "), text("kind.")]);
    expect(body["messages"]).toEqual([{ role: "user", content: [text("Hi")] }]);
  });

  test("puts participants' names before their texts, except before the model's", () => {
    const { system, messages } = sent({
      messages: [
        { role: "system", content: "Hi", name: "example_user" },
        { role: "system", content: " ", name: "nobody" },
        { role: "user", content: [text(" "), text("Hello")], name: "ann" },
        { role: "user", content: "Hi", name: "bob" },
        { role: "assistant", content: "Good day", name: "host" },
        { role: "user", content: "\n", name: "ann" },
      ],
    });
    expect(system).toBe("example_user: Hi");
    expect(messages).toEqual([
      { role: "user", content: [text("ann: Hello"), text("bob: Hi")] },
      { role: "assistant", content: [text("Good day")] },
    ]);
  });

  test("without instructions has none", () => {
    expect(sent({ messages: [{ role: "system", content: "" }, user("Hi")] })).not.toContainKey("system");
  });

  test("of instructions alone, or one that the model begins, gets a turn of the user first", () => {
    const begin = { role: "user", content: [text("Begin.")] };
    const alone = sent({ messages: [{ role: "system", content: "Write a poem." }] });
    expect(alone).toMatchObject({ system: "Write a poem.", messages: [begin] });
    const greeting = { role: "assistant", content: "Hello, how can I help?" };
    expect(turnsOf(greeting, user("Hi"))).toEqual([
      begin,
      { role: "assistant", content: [text("Hello, how can I help?")] },
      { role: "user", content: [text("Hi")] },
    ]);
  });

  test("joins consecutive messages of one role into one turn", () => {
    const turns = turnsOf(user("a"), user([text("b"), text("c")]), { role: "assistant", content: "d" }, user("e"));
    expect(turns).toEqual([
      { role: "user", content: [text("a"), text("b"), text("c")] },
      { role: "assistant", content: [text("d")] },
      { role: "user", content: [text("e")] },
    ]);
  });

  test("drops blank texts and turns that consist of them", () => {
    const turns = turnsOf(user("a"), { role: "assistant", content: "" }, user([text(" \n"), text("b")]), user("\t"));
    expect(turns).toEqual([{ role: "user", content: [text("a"), text("b")] }]);
  });

  test("that ends with the model's text is trimmed at its end", () => {
    expect(turnsOf(user("a"), { role: "assistant", content: "The answer is \n" })).toEqual([
      { role: "user", content: [text("a")] },
      { role: "assistant", content: [text("The answer is")] },
    ]);
  });

  test("keeps the trailing blanks of all earlier turns", () => {
    const turns = turnsOf(user(" a "), { role: "assistant", content: " b " }, user(" c "));
    expect(turns).toMatchObject([{ content: [text(" a ")] }, { content: [text(" b ")] }, { content: [text(" c ")] }]);
  });

  test("keeps what the model refused", () => {
    const parts = { role: "assistant", content: [{ type: "refusal", refusal: "I cannot" }] };
    const field = { role: "assistant", content: null, refusal: "I must not" };
    expect(turnsOf(user("a"), parts, user("b"), field, user("c"))).toMatchObject([
      {},
      { content: [text("I cannot")] },
      {},
      { content: [text("I must not")] },
      {},
    ]);
  });

  test("carries tool calls as blocks of the assistant, and all their results in the next turn", () => {
    const turns = turnsOf(
      user("Weather?"),
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [call("a", "weather", '{"city":"Oslo"}'), call("b", "time", "")],
      },
      { role: "tool", tool_call_id: "a", content: "rain" },
      { role: "tool", tool_call_id: "b", content: [text("1"), text(" \n"), text("2")] },
      user("And?"),
    );
    expect(turns).toEqual([
      { role: "user", content: [text("Weather?")] },
      { role: "assistant", content: [text("Let me look."), use("a", "weather", { city: "Oslo" }), use("b", "time", {})] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "rain" },
          { type: "tool_result", tool_use_id: "b", content: "1 \n2" },
          text("And?"),
        ],
      },
    ]);
  });

  test("carries an empty tool result without content", () => {
    const turns = turnsOf(
      user("Go"),
      { role: "assistant", tool_calls: [call("a", "go", "{}")] },
      { role: "tool", tool_call_id: "a", content: " " },
    );
    expect(turns).toMatchObject([{}, {}, { content: [{ type: "tool_result", tool_use_id: "a" }] }]);
    expect(JSON.stringify(turns)).not.toContain('"content":" "');
  });

  test("replaces ids that the API refuses, each with a different one", () => {
    const ids = ["functions.go:0", "functions.go:1", "", "call|1", "call_1", "ü"];
    const turns = turnsOf(
      user("Go"),
      { role: "assistant", tool_calls: ids.map((id) => call(id, "go", "{}")) },
      ...ids.map((id) => ({ role: "tool", tool_call_id: id, content: "gone" })),
    );
    const blocks = (turns as { content: { id?: string; tool_use_id?: string }[] }[]).flatMap(({ content }) => content);
    const used = blocks.flatMap(({ id }) => id ?? []);
    expect(used).toHaveLength(ids.length);
    expect(new Set(used).size).toBe(ids.length);
    for (const id of used) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
    expect(blocks.flatMap(({ tool_use_id }) => tool_use_id ?? [])).toEqual(used);
    expect(used[4]).toBe("call_1");
  });
});

describe("ids that a conversation repeats, which the API refuses,", () => {
  const round = (...ids: string[]): ChatBody["messages"] => [
    { role: "assistant", tool_calls: ids.map((id) => call(id, "go", "{}")) },
    ...ids.map((id) => ({ role: "tool", tool_call_id: id, content: "gone" })),
  ];
  const idsOf = (turns: unknown): [string[], string[]] => {
    const blocks = (turns as { content: { id?: string; tool_use_id?: string }[] }[]).flatMap(({ content }) => content);
    return [blocks.flatMap(({ id }) => id ?? []), blocks.flatMap(({ tool_use_id }) => tool_use_id ?? [])];
  };

  test.each<[string, ChatBody["messages"]]>([
    ["from answer to answer", [user("Go"), ...round("call_0"), ...round("call_0", "call_1"), ...round("call_0")]],
    ["within an answer", [user("Go"), ...round("call_0", "call_0")]],
    ["where another has the name", [user("Go"), ...round("call_0", "call_0_2"), ...round("call_0")]],
  ])("are different for each call, and the results follow: %s", (_, messages) => {
    const [used, answered] = idsOf(turnsOf(...messages));
    expect(new Set(used).size).toBe(used.length);
    expect(answered).toEqual(used);
    expect(used[0]).toBe("call_0");
  });
});

describe("tools", () => {
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tools = [tool("weather", { description: "Looks out", parameters: schema, strict: true }), tool("time")];

  test("carry their schema; a function without parameters accepts none", () => {
    expect(sent({ tools })["tools"]).toEqual([
      { name: "weather", description: "Looks out", input_schema: { ...schema, additionalProperties: false }, strict: true },
      { name: "time", input_schema: { type: "object" } },
    ]);
  });

  test("without a type in their schema get the type object", () => {
    const [sentTool] = sent({ tools: [tool("go", { parameters: { properties: {} }, strict: false })] })["tools"] as object[];
    expect(sentTool).toEqual({ name: "go", input_schema: { type: "object", properties: {} } });
  });

  test("whose schema is a combination, which the API refuses, have the fields of all", () => {
    const anyOf = [
      { properties: { city: { type: "string" } }, required: ["city", "unit"] },
      { properties: { at: { type: "string" } }, required: ["at", "unit"] },
    ];
    const parameters = { properties: { unit: { type: "string" } }, anyOf };
    const [sentTool] = sent({ tools: [tool("go", { parameters })] })["tools"] as { input_schema: object }[];
    expect(sentTool?.input_schema).toEqual({
      type: "object",
      properties: { city: { type: "string" }, at: { type: "string" }, unit: { type: "string" } },
      required: ["unit"],
      description:
        '{anyOf: [{"properties":{"city":{}},"required":["city","unit"]},{"properties":{"at":{}},"required":["at","unit"]}]}',
    });
  });

  test("whose combination describes one field in two ways keep both", () => {
    const anyOf = ["a", "b"].map((kind) => ({ properties: { kind: { const: kind } } }));
    const [sentTool] = sent({ tools: [tool("go", { parameters: { anyOf } })] })["tools"] as { input_schema: object }[];
    expect(sentTool?.input_schema).toMatchObject({
      properties: { kind: { const: "b" } },
      description: '{anyOf: [{"properties":{"kind":{"const":"a"}}},{"properties":{"kind":{}}}]}',
    });
  });

  test.each([
    [undefined, undefined, undefined],
    ["auto", undefined, { type: "auto" }],
    ["none", undefined, { type: "none" }],
    ["required", undefined, { type: "any" }],
    [tool("weather"), undefined, { type: "tool", name: "weather" }],
    [undefined, true, undefined],
    [undefined, false, { type: "auto", disable_parallel_tool_use: true }],
    ["auto", false, { type: "auto", disable_parallel_tool_use: true }],
    ["required", false, { type: "any", disable_parallel_tool_use: true }],
    [tool("weather"), false, { type: "tool", name: "weather", disable_parallel_tool_use: true }],
    ["none", false, { type: "none" }],
  ])("are chosen: tool_choice %j, parallel_tool_calls %j", (choice, parallel, expected) => {
    const body = sent({
      tools,
      ...(choice !== undefined && { tool_choice: choice }),
      ...(parallel !== undefined && { parallel_tool_calls: parallel }),
    });
    expect(body["tool_choice"]).toEqual(expected);
  });
});

describe("output", () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false };
  const format = (more: object = {}) => ({ type: "json_schema", json_schema: { name: "answer", schema, ...more } });

  test("has the given schema, which includes the description", () => {
    const plain = sent({ response_format: format({ strict: true }) });
    expect(plain["output_config"]).toEqual({ format: { type: "json_schema", schema } });
    const described = sent({ response_format: format({ description: "A number" }) });
    expect(described["output_config"]).toEqual({
      format: { type: "json_schema", schema: { description: "A number", ...schema } },
    });
  });

  test.each(["low", "medium", "high", "xhigh", "max"])("uses the effort %s", (effort) => {
    const body = sent({ reasoning_effort: effort });
    expect(body["thinking"]).toEqual({ type: "adaptive", display: "summarized" });
    expect(body["output_config"]).toEqual({ effort });
  });

  test("uses no thinking with the effort none, and the model's default without an effort", () => {
    const none = sent({ reasoning_effort: "none" });
    expect(none["thinking"]).toEqual({ type: "disabled" });
    expect(none).not.toContainKey("output_config");
    expect(sent({})).not.toContainAnyKeys(["thinking", "output_config"]);
  });

  test("can have a schema and an effort", () => {
    const both = sent({ reasoning_effort: "low", response_format: format() });
    expect(both["output_config"]).toEqual({ effort: "low", format: { type: "json_schema", schema } });
    const none = sent({ reasoning_effort: "none", response_format: format() });
    expect(none["output_config"]).toEqual({ format: { type: "json_schema", schema } });
  });
});
