/** Where a request may have cache breakpoints. */
import { describe, expect, test } from "bun:test";
import { check, everything, hello, nothing, refusal, tool, type Body } from "../../../support/gateway/check-chat.ts";

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
