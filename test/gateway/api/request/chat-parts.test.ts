import { describe, expect, test } from "bun:test";
import { messagesMax } from "../../../../src/gateway/limits.ts";
import { check, hello, messageOf, nothing, refusal, type Body, everything, tool } from "../../../support/gateway/check-chat.ts";

const says = (message: Body) => refusal({ messages: [message] });

describe("messages", () => {
  test.each([
    [{ messages: undefined }, "invalid_request messages"],
    [{ messages: null }, "invalid_request messages"],
    [{ messages: "Hello" }, "invalid_request messages"],
    [{ messages: [] }, "invalid_request messages"],
    [{ messages: ["Hello"] }, "invalid_request messages[0]"],
    [{ messages: [...hello, { content: "x" }] }, "invalid_request messages[1].role"],
    [{ messages: [{ role: "wizard", content: "x" }] }, "invalid_request messages[0].role"],
    [{ messages: [{ role: 1, content: "x" }] }, "invalid_request messages[0].role"],
    [{ messages: [{ role: "user" }] }, "invalid_request messages[0].content"],
    [{ messages: [{ role: "user", content: null }] }, "invalid_request messages[0].content"],
    [{ messages: [{ role: "user", content: 7 }] }, "invalid_request messages[0].content"],
    [{ messages: [{ role: "user", content: [] }] }, "invalid_request messages[0].content"],
    [{ messages: [{ role: "user", content: "x", mood: "good" }] }, "unsupported_parameter messages[0].mood"],
    [{ messages: [{ role: "tool", content: "x" }] }, "invalid_request messages[0].tool_call_id"],
    [{ messages: [{ role: "assistant" }] }, "invalid_request messages[0].content"],
    [{ messages: [{ role: "assistant", content: null }] }, "invalid_request messages[0].content"],
  ])("the gateway refuses %j", (fields, expected) => {
    expect(refusal(fields)).toBe(expected);
  });

  test("2,000 messages pass, and one more is invalid_request", () => {
    const many = (count: number) => Array.from({ length: count }, () => hello[0]);
    expect(refusal({ messages: many(messagesMax) })).toBeNull();
    expect(refusal({ messages: many(messagesMax + 1) })).toBe("invalid_request messages");
  });

  test("every role of the official schema passes", () => {
    const call = { id: "call_1", type: "function", function: { name: "look_up", arguments: "{}" } };
    const messages = [
      { role: "developer", content: "Be brief" },
      { role: "system", content: [{ type: "text", text: "Be kind" }] },
      { role: "user", content: "Hello", name: "ann" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", content: [{ type: "text", text: "42" }], tool_call_id: "call_1" },
      { role: "assistant", content: [{ type: "refusal", refusal: "No" }] },
      { role: "function", content: null, name: "old" },
    ];
    const { body } = check({ messages });
    expect(body.messages[3]).toEqual({ role: "assistant", tool_calls: [call] });
    expect(body.messages).toHaveLength(7);
  });

  test("the name of a tool's message is a label: it is checked and not sent on", () => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
    const result = { role: "tool", tool_call_id: "c", content: "r" };
    const messages = (more: object) => [
      ...hello,
      { role: "assistant", content: null, tool_calls: [call] },
      { ...result, ...more },
    ];
    expect(check({ messages: messages({ name: "f" }) }).body.messages[2]).toEqual(result);
    expect(refusal({ messages: messages({ name: null }) })).toBeNull();
    expect(refusal({ messages: messages({ name: 7 }) })).toBe("invalid_request messages[2].name");
  });

  test("a client can send an answer back as the SDKs serialize it", () => {
    const echo = {
      role: "assistant",
      content: "Hi",
      refusal: null,
      annotations: [],
      audio: null,
      function_call: null,
      tool_calls: null,
      reasoning_content: "thinking",
    };
    expect(check({ messages: [echo] }, nothing).body.messages).toEqual([{ role: "assistant", content: "Hi" }]);
    expect(check({ messages: [echo] }).body.messages).toEqual([
      { role: "assistant", content: "Hi", reasoning_content: "thinking" },
    ]);
  });
});

describe("an answer of reasoning alone, whose tokens were used up", () => {
  const thought = { role: "assistant", content: null, reasoning_content: "thinking" };

  test("can be sent back, with content or without", () => {
    expect(check({ messages: [...hello, thought] }).body.messages[1]).toEqual({
      role: "assistant",
      reasoning_content: "thinking",
    });
    expect(check({ messages: [...hello, { ...thought, content: "" }] }).body.messages[1]).toMatchObject({ content: "" });
    expect(check({ messages: [...hello, thought] }, nothing).body.messages[1]).toEqual({ role: "assistant" });
  });

  test("says something, unlike an answer of nothing", () => {
    expect(says({ ...thought, reasoning_content: null })).toBe("invalid_request messages[0].content");
  });
});

test("a client can send back what the official packages' helpers add to an answer; it is not sent on", () => {
  const called = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
  const helped = { ...called, index: 0, function: { ...called.function, parsed_arguments: {} } };
  const answer = { role: "assistant", content: null, parsed: { a: 1 }, tool_calls: [helped] };
  expect(check({ messages: [answer] }).body.messages).toEqual([{ role: "assistant", tool_calls: [called] }]);
});

describe("content that is not text", () => {
  test.each([
    { type: "image_url", image_url: { url: "https://example.com/a.png" } },
    { type: "input_audio", input_audio: { data: "", format: "wav" } },
    { type: "file", file: {} },
  ])("the part %j is unsupported_parameter, with a message", (part) => {
    const messages = [{ role: "user", content: [{ type: "text", text: "What is this?" }, part] }];
    expect(refusal({ messages })).toBe("unsupported_parameter messages[0].content");
    expect(messageOf({ messages })).toContain("only text content is supported");
  });

  test("the gateway answers the first problem in the order of the parts", () => {
    const content = (...parts: Body[]) => ({ role: "user", content: parts });
    expect(says(content({ type: "text" }, { type: "image_url" }))).toBe("invalid_request messages[0].content[0].text");
    expect(says(content({ text: "no type" }))).toBe("invalid_request messages[0].content[0]");
    expect(says(content({ type: "text", text: "x", citations: {} }))).toBe(
      "unsupported_parameter messages[0].content[0].citations",
    );
    expect(says(content({ type: "refusal", refusal: "x" }))).toBe("unsupported_parameter messages[0].content");
    expect(says({ role: "assistant", content: "x", audio: { id: "a" } })).toBe("unsupported_parameter messages[0].audio");
  });
});

describe("tool calls in messages", () => {
  const calls = (...tool_calls: unknown[]) => ({ role: "assistant", tool_calls });

  test("tool calls are text and pass for every model", () => {
    const messages = [
      calls({ id: "a", type: "function", function: { name: "f", arguments: "" } }),
      { role: "tool", tool_call_id: "a", content: "" },
    ];
    expect(refusal({ messages }, nothing)).toBeNull();
  });

  test("a tool call without one of its parts is refused", () => {
    expect(says(calls({ id: "a", type: "function" }))).toBe("invalid_request messages[0].tool_calls[0].function");
    expect(says(calls({ id: "a", type: "function", function: { name: "f" } }))).toBe(
      "invalid_request messages[0].tool_calls[0].function.arguments",
    );
    expect(says(calls({ id: "a", type: "spell" }))).toBe("invalid_request messages[0].tool_calls[0].type");
    expect(says(calls())).toBe("invalid_request messages[0].content");
  });
});

/** Where a request may have cache breakpoints. */

const cache_control = { type: "ephemeral" };
const cached = { type: "text", text: "Hello", cache_control };
const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };

const places: [param: string, fields: Body][] = [
  ["cache_control", { cache_control }],
  ["tools[1].cache_control", { tools: [tool, { ...tool, cache_control }] }],
  ...["system", "developer", "user", "assistant"].map((role): [string, Body] => [
    "messages[1].content[0].cache_control",
    { messages: [...hello, { role, content: [cached] }] },
  ]),
  [
    "messages[2].content[1].cache_control",
    {
      messages: [
        ...hello,
        { role: "assistant", tool_calls: [call] },
        { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "42" }, cached] },
      ],
    },
  ],
];

describe("a cache breakpoint", () => {
  test.each(places)("at %s is sent on if the model supports it", (_, fields) => {
    expect(check(fields, everything).body).toMatchObject(fields);
    expect(JSON.stringify(check(fields, everything).body)).toContain(JSON.stringify({ cache_control }).slice(1, -1));
  });

  test.each(places)("at %s is refused by its place if the model does not support it", (param, fields) => {
    const callsTools = { ...nothing, supports: new Set(["tools"]) };
    expect(refusal(fields, callsTools)).toBe(`unsupported_parameter ${param}`);
  });

  test.each<[string, unknown]>([
    ["messages[0].content[0].cache_control.ttl", { ...cache_control, ttl: "1h" }],
    ["messages[0].content[0].cache_control.scope", { ...cache_control, scope: "global" }],
  ])("with %s is refused", (param, wrong) => {
    const messages = [{ role: "user", content: [{ ...cached, cache_control: wrong }] }];
    expect(refusal({ messages })).toBe(`unsupported_parameter ${param}`);
  });

  test("at a whole message, a refusal or a prediction is refused", () => {
    expect(refusal({ messages: [{ ...hello[0], cache_control }] })).toBe("unsupported_parameter messages[0].cache_control");
    const refused = [{ type: "refusal", refusal: "No", cache_control }];
    expect(refusal({ messages: [...hello, { role: "assistant", content: refused }] })).toBe(
      "unsupported_parameter messages[1].content[0].cache_control",
    );
    expect(refusal({ prediction: { type: "content", content: [cached] } })).toBe(
      "unsupported_parameter prediction.content[0].cache_control",
    );
  });

  test("that is null is none", () => {
    const messages = [{ role: "user", content: [{ ...cached, cache_control: null }] }];
    expect(check({ messages, cache_control: null }, nothing).body.messages[0]?.content).toEqual([
      { type: "text", text: "Hello" },
    ]);
  });

  test("for the whole request adds nothing to the prompt", () => {
    expect(check({ cache_control }).inputTokens).toBe(check({}).inputTokens);
  });
});
