/** The schema of a chat request accepts what the service accepts, and refuses what the service refuses independently of model and other fields. */
import { describe, expect, test } from "bun:test";
import { openApiDocument } from "../../src/openapi/document.ts";
import { fieldCases } from "../gateway/api/request/field-cases.ts";
import { refusal, tool, type Body } from "../support/gateway/check-chat.ts";
import { problems, type Json } from "../support/described.ts";

const document: Json = JSON.parse(JSON.stringify(openApiDocument({ slug: "acme" })));
const hello = [{ role: "user", content: "Hello" }];

function problemsOf(fields: Body): string[] {
  const request = JSON.parse(JSON.stringify({ model: "acme/one", messages: hello, ...fields }));
  return problems(document, { $ref: "#/components/schemas/ChatRequest" }, request);
}

const shown = (value: unknown): string => JSON.stringify(value).slice(0, 70);

describe("a field", () => {
  const accepted = Object.entries(fieldCases).flatMap(([name, cases]) =>
    cases.accepted.map(([value, , beside]) => ({ name, shown: shown(value), fields: { ...beside, [name]: value } })),
  );

  test.each(accepted)("$name may be $shown", ({ fields }) => {
    expect(problemsOf(fields)).toEqual([]);
  });

  test("a field may be null only where null means absent", () => {
    for (const name of Object.keys(fieldCases)) {
      expect([name, problemsOf({ [name]: null }).length === 0]).toEqual([name, refusal({ [name]: null }) === null]);
    }
  });

  test("the schema refuses a field that the service refuses, unless that depends on the model or on other fields", () => {
    const refused = Object.entries(fieldCases).flatMap(([name, cases]) =>
      cases.refused.map(([value, , , beside]) => ({ name, shown: shown(value), fields: { ...beside, [name]: value } })),
    );
    const untold = refused.filter(({ fields }) => problemsOf(fields).length === 0).map((one) => `${one.name} ${one.shown}`);
    expect(untold).toEqual([
      "top_logprobs 3",
      "top_logprobs 3",
      "max_completion_tokens 4097",
      "max_completion_tokens 1e+300",
      "max_tokens 4097",
      "max_tokens 1e+300",
      "max_tokens 10",
      'stream_options {"include_usage":true}',
      "stream_options {}",
      "stream_options {}",
      'tool_choice "required"',
      'tool_choice {"type":"function","function":{"name":"look_up"}}',
      'tool_choice {"type":"function","function":{"name":"other"}}',
    ]);
  });

  test.each(["top_k", "models", "provider", "Temperature"])("the field %s is refused", (name) => {
    expect(problemsOf({ [name]: 1 })).not.toEqual([]);
  });
});

describe("messages", () => {
  const call = { id: "call_1", type: "function", function: { name: "look_up", arguments: "{}" } };
  const parts = [{ type: "text", text: "Hello" }];

  test.each([
    [[{ role: "developer", content: "Be brief" }, ...hello]],
    [[{ role: "system", content: parts, name: "house" }]],
    [
      [
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: parts },
      ],
    ],
    [
      [
        {
          role: "assistant",
          content: "Hi",
          refusal: null,
          audio: null,
          annotations: [{}],
          reasoning_content: "Hm",
          function_call: null,
        },
      ],
    ],
    [[{ role: "assistant", content: [{ type: "refusal", refusal: "No" }] }, ...hello]],
    [
      [
        { role: "assistant", function_call: { name: "f", arguments: "{}" } },
        { role: "function", name: "f", content: null },
      ],
    ],
  ])("messages may be %j", (messages) => {
    expect([refusal({ messages, tools: [tool] }), problemsOf({ messages })]).toEqual([null, []]);
  });

  test.each([
    [[]],
    ["Hello"],
    [["Hello"]],
    [[{ content: "Hello" }]],
    [[{ role: "narrator", content: "Hello" }]],
    [[{ role: "user" }]],
    [[{ role: "user", content: [] }]],
    [[{ role: "user", content: [{ type: "image_url", image_url: { url: "https://acme.test" } }] }]],
    [[{ role: "user", content: "Hello", mood: "good" }]],
    [[{ role: "user", content: "Hello", tool_calls: [call] }]],
    [[{ role: "tool", content: "done" }]],
    [[{ role: "assistant", audio: { id: "a" } }]],
    [Array.from({ length: 2_001 }, () => hello[0])],
  ])("messages may not be %j", (messages) => {
    expect(refusal({ messages })).not.toBeNull();
    expect(problemsOf({ messages })).not.toEqual([]);
  });
});
