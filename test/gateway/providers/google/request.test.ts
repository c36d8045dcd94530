import { describe, expect, test } from "bun:test";
import type { ChatBody, ProviderCall } from "../../../../src/gateway/providers/provider.ts";
import { google } from "../../../../src/gateway/providers/registry.ts";
import { aRoute } from "../../../support/providers/models.ts";

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown, more: object = {}) => ({ role: "assistant", content, ...more });
const text = (words: string) => ({ type: "text", text: words });
const tool = (name: string, more: object = {}) => ({ type: "function", function: { name, ...more } });
const call = (id: string, name: string, argumentsText: string) => ({
  id,
  type: "function",
  function: { name, arguments: argumentsText },
});
const result = (id: string, content: unknown) => ({ role: "tool", tool_call_id: id, content });
const calls = (id: string, name: string, args: object) => ({ functionCall: { id, name, args } });
const gives = (id: string, name: string, output: string) => ({ functionResponse: { id, name, response: { output } } });
const noSignature = "skip_thought_signature_validator";

const newer = aRoute({}, { upstream_model: "gemini-3.5-flash" });
const older = aRoute({}, { upstream_model: "gemini-2.5-flash-lite" });

function encoded(chat: Partial<ChatBody>, more: Partial<ProviderCall> = {}) {
  const body = { model: "stub/model", messages: [user("Hello")], ...chat };
  const generation = "gen-abcdefghijklmnopqrstuvwxyz";
  return google.encode({ generation, route: older, chat: body, maxOutputTokens: 100, streamed: false, ...more });
}

function sent(chat: Partial<ChatBody>, more: Partial<ProviderCall> = {}): Record<string, unknown> {
  return JSON.parse(encoded(chat, more).body);
}

function contentsOf(...messages: ChatBody["messages"]): unknown {
  return sent({ messages })["contents"];
}

describe("a call", () => {
  test("is posted to the model's path, which includes whether to stream", () => {
    expect(encoded({}).path).toBe("/models/gemini-2.5-flash-lite:generateContent");
    expect(encoded({}, { streamed: true }).path).toBe("/models/gemini-2.5-flash-lite:streamGenerateContent?alt=sse");
    expect(encoded({}).headers).toEqual({});
    expect(google.authorization("ours")).toEqual({ "x-goog-api-key": "ours" });
  });

  test("escapes the model's name in its path", () => {
    const route = aRoute({}, { upstream_model: "a/../b?key=c#d" });
    expect(encoded({}, { route }).path).toBe("/models/a%2F..%2Fb%3Fkey%3Dc%23d:generateContent");
  });

  test("of instructions alone gets a turn of the user, which the API wants", () => {
    const { systemInstruction, contents } = sent({ messages: [{ role: "system", content: "Write a poem." }] });
    expect<unknown>(systemInstruction).toEqual({ parts: [{ text: "Write a poem." }] });
    expect<unknown>(contents).toEqual([{ role: "user", parts: [{ text: "Begin." }] }]);
  });

  test("contains the required fields and nothing else", () => {
    expect(sent({})).toEqual({
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      generationConfig: { maxOutputTokens: 100 },
    });
  });

  test("carries the sampling fields", () => {
    const chat = { temperature: 0, top_p: 0.5, stop: "END", seed: 7, frequency_penalty: 1.5, presence_penalty: -1 };
    expect(sent(chat)["generationConfig"]).toEqual({
      maxOutputTokens: 100,
      temperature: 0,
      topP: 0.5,
      stopSequences: ["END"],
      seed: 7,
      frequencyPenalty: 1.5,
      presencePenalty: -1,
    });
    expect(sent({ stop: ["a", "b"] })["generationConfig"]).toMatchObject({ stopSequences: ["a", "b"] });
  });

  test.each([
    [2 ** 31, -(2 ** 31)],
    [-1, -1],
    [2 ** 32 + 7, 7],
    [Number.MAX_SAFE_INTEGER, -1],
  ])("maps the seed %p to 32 bits, always to the same value", (seed, within) => {
    expect(sent({ seed })["generationConfig"]).toMatchObject({ seed: within });
  });
});

describe("a conversation", () => {
  test("puts participants' names before their texts, except before the model's", () => {
    const { systemInstruction, contents } = sent({
      messages: [
        { role: "system", content: "Hi", name: "example_user" },
        { role: "user", content: [text(""), text("Hello")], name: "ann" },
        { role: "user", content: "Hi", name: "bob" },
        assistant("Good day", { name: "host" }),
        { role: "user", content: "", name: "ann" },
      ],
    });
    expect(systemInstruction).toEqual({ parts: [{ text: "example_user: Hi" }] });
    expect(contents).toEqual([
      { role: "user", parts: [{ text: "ann: Hello" }, { text: "bob: Hi" }] },
      { role: "model", parts: [{ text: "Good day" }] },
    ]);
  });

  test("carries system and developer messages as instructions, in order", () => {
    const body = sent({
      messages: [
        { role: "system", content: "Be brief." },
        user("Hi"),
        { role: "developer", content: [text("Be "), text("kind.")] },
        { role: "system", content: "" },
      ],
    });
    expect(body["systemInstruction"]).toEqual({ parts: [{ text: "Be brief.\n\nBe kind." }] });
    expect(body["contents"]).toEqual([{ role: "user", parts: [{ text: "Hi" }] }]);
  });

  test("joins consecutive messages of one role into one turn, part by part", () => {
    expect(contentsOf(user("a"), user([text("b"), text("c")]), assistant("d"), user("e"))).toEqual([
      { role: "user", parts: [{ text: "a" }, { text: "b" }, { text: "c" }] },
      { role: "model", parts: [{ text: "d" }] },
      { role: "user", parts: [{ text: "e" }] },
    ]);
  });

  test("drops empty texts and turns that consist of them; blank texts stay", () => {
    expect(contentsOf(user("a"), assistant(""), user([text(""), text(" ")]))).toEqual([
      { role: "user", parts: [{ text: "a" }, { text: " " }] },
    ]);
  });

  test("keeps what the model refused", () => {
    const inParts = assistant([{ type: "refusal", refusal: "I cannot" }]);
    expect(contentsOf(user("a"), inParts, user("b"), assistant(null, { refusal: "I must not" }))).toMatchObject([
      {},
      { role: "model", parts: [{ text: "I cannot" }] },
      {},
      { role: "model", parts: [{ text: "I must not" }] },
    ]);
  });

  test("carries tool calls as parts of the model, and all their results in the next turn, each with its function's name", () => {
    const contents = contentsOf(
      user("Weather?"),
      assistant("Let me look.", { tool_calls: [call("a", "weather", '{"city":"Oslo"}'), call("b", "time", "")] }),
      result("b", [text("1"), text("2")]),
      result("a", '{"rain":true}'),
      user("And?"),
    );
    expect(contents).toEqual([
      { role: "user", parts: [{ text: "Weather?" }] },
      { role: "model", parts: [{ text: "Let me look." }, calls("a", "weather", { city: "Oslo" }), calls("b", "time", {})] },
      { role: "user", parts: [gives("b", "time", "12"), gives("a", "weather", '{"rain":true}'), { text: "And?" }] },
    ]);
  });

  test("matches a repeated id with the call before the result", () => {
    const contents = contentsOf(
      user("Go"),
      assistant(null, { tool_calls: [call("call_0", "first", "{}")] }),
      result("call_0", "1"),
      assistant(null, { tool_calls: [call("call_0", "second", "{}")] }),
      result("call_0", "2"),
    );
    expect(JSON.stringify(contents)).toContain(JSON.stringify(gives("call_0", "first", "1")));
    expect(JSON.stringify(contents)).toContain(JSON.stringify(gives("call_0", "second", "2")));
  });

  test("carries old-style function calls in the same places", () => {
    const old = { role: "assistant", function_call: { name: "go", arguments: '{"a":1}' } };
    expect(contentsOf(user("Go"), old, { role: "function", name: "go", content: "gone" })).toEqual([
      { role: "user", parts: [{ text: "Go" }] },
      { role: "model", parts: [{ functionCall: { name: "go", args: { a: 1 } } }] },
      { role: "user", parts: [{ functionResponse: { name: "go", response: { output: "gone" } } }] },
    ]);
  });
});

describe("tool calls that the client sends back", () => {
  const [first, second] = [call("a", "go", "{}"), call("b", "go", "{}")];
  const messages = (...made: { id: string }[]) => [
    user("Go"),
    assistant(null, { tool_calls: made }),
    result(made[0]?.id ?? "", "gone"),
  ];
  const parts = (route: ProviderCall["route"], ...made: { id: string }[]) => {
    const [, calling, answering] = sent({ messages: messages(...made) }, { route })["contents"] as { parts: object[] }[];
    expect(answering?.parts).toEqual([gives("a", "go", "gone")]);
    return calling?.parts;
  };

  test("carry the model's signature and the model's id", () => {
    const signed = (signer: string) => call(`a.sig.${signer}.c2lnbmVk`, "go", "{}");
    const withIt = [{ ...calls("a", "go", {}), thoughtSignature: "c2lnbmVk" }, calls("b", "go", {})];
    expect(parts(newer, signed("gemini-3_5-flash"), second)).toEqual(withIt);
    expect(parts(older, signed("gemini-2_5-flash-lite"), second)).toEqual(withIt);
  });

  test("carry no signature of another model, which this one would refuse", () => {
    const other = call("a.sig.gemini-3_5-flash-lite.c2lnbmVk", "go", "{}");
    expect(parts(newer, other, second)).toEqual([
      { ...calls("a", "go", {}), thoughtSignature: noSignature },
      calls("b", "go", {}),
    ]);
    expect(parts(older, other, second)).toEqual([calls("a", "go", {}), calls("b", "go", {})]);
  });

  test("carry the documented replacement if the client lost the signature and the model requires one", () => {
    expect(parts(newer, first, second)).toEqual([
      { ...calls("a", "go", {}), thoughtSignature: noSignature },
      calls("b", "go", {}),
    ]);
    expect(parts(older, first, second)).toEqual([calls("a", "go", {}), calls("b", "go", {})]);
  });

  test.each(["gemini-3-pro-preview", "gemini-flash-latest", "models/gemini-4", "gemini-10-pro", "gemma-4-26b-a4b-it"])(
    "%s is one of those models",
    (upstream_model) => expect(JSON.stringify(parts(aRoute({}, { upstream_model }), first))).toContain(noSignature),
  );
  test.each(["gemini-2.5-pro", "gemini-2.0-flash", "gemini-1.5-flash-8b", "models/gemini-2.5-flash", "gemma-3-27b-it"])(
    "%s is none",
    (upstream_model) => expect(JSON.stringify(parts(aRoute({}, { upstream_model }), first))).not.toContain(noSignature),
  );
});

describe("tools", () => {
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const weather = tool("weather", { description: "Looks out", parameters: schema });
  const strict = tool("weather", { parameters: schema, strict: true });
  const some = (mode: string, ...tools: object[]) => ({ type: "allowed_tools", allowed_tools: { mode, tools } });

  test("are declared with their JSON schema; a function without parameters has none", () => {
    const body = sent({ tools: [weather, tool("time"), tool("now", { parameters: {} })] });
    expect(body["tools"]).toEqual([
      {
        functionDeclarations: [
          { name: "weather", description: "Looks out", parametersJsonSchema: schema },
          { name: "time" },
          { name: "now" },
        ],
      },
    ]);
    expect(body).not.toContainKey("toolConfig");
  });

  test.each<[unknown, object, object | undefined]>([
    ["auto", weather, undefined],
    ["none", weather, { mode: "NONE" }],
    ["required", weather, { mode: "ANY" }],
    [tool("weather"), weather, { mode: "ANY", allowedFunctionNames: ["weather"] }],
    [some("auto", tool("weather")), weather, { mode: "VALIDATED", allowedFunctionNames: ["weather"] }],
    [some("required", tool("weather")), weather, { mode: "ANY", allowedFunctionNames: ["weather"] }],
    [some("auto"), weather, { mode: "NONE" }],
    [undefined, strict, { mode: "VALIDATED" }],
    ["auto", strict, { mode: "VALIDATED" }],
    ["none", strict, { mode: "NONE" }],
    ["required", strict, { mode: "ANY" }],
    [tool("weather"), strict, { mode: "ANY", allowedFunctionNames: ["weather"] }],
  ])("are chosen: %j among %j", (choice, sentTool, expected) => {
    const { toolConfig } = sent({ tools: [sentTool], ...(choice !== undefined && { tool_choice: choice }) });
    expect<unknown>(toolConfig).toEqual(expected && { functionCallingConfig: expected });
  });
});

describe("output", () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false };
  const format = (more: object) => ({ type: "json_schema", json_schema: { name: "answer", ...more } });
  const config = (chat: Partial<ChatBody>, route = older) => sent(chat, { route })["generationConfig"];

  test("is JSON if requested, with the given schema and its description", () => {
    const mime = { maxOutputTokens: 100, responseMimeType: "application/json" };
    expect(config({ response_format: { type: "json_object" } })).toEqual(mime);
    expect(config({ response_format: format({}) })).toEqual(mime);
    expect(config({ response_format: format({ schema, strict: true }) })).toEqual({ ...mime, responseJsonSchema: schema });
    expect(config({ response_format: format({ schema, description: "A number" }) })).toEqual({
      ...mime,
      responseJsonSchema: { description: "A number", ...schema },
    });
  });

  test.each([
    ["none", { thinkingBudget: 0, includeThoughts: false }, { thinkingLevel: "MINIMAL", includeThoughts: false }],
    ["minimal", { thinkingBudget: 1_024, includeThoughts: true }, { thinkingLevel: "MINIMAL", includeThoughts: true }],
    ["low", { thinkingBudget: 1_024, includeThoughts: true }, { thinkingLevel: "LOW", includeThoughts: true }],
    ["medium", { thinkingBudget: 8_192, includeThoughts: true }, { thinkingLevel: "MEDIUM", includeThoughts: true }],
    ["high", { thinkingBudget: 24_576, includeThoughts: true }, { thinkingLevel: "HIGH", includeThoughts: true }],
    ["xhigh", { thinkingBudget: 24_576, includeThoughts: true }, { thinkingLevel: "HIGH", includeThoughts: true }],
    ["max", { thinkingBudget: 24_576, includeThoughts: true }, { thinkingLevel: "HIGH", includeThoughts: true }],
  ])("uses the effort %s: as a budget up to Gemini 2, as a level from Gemini 3", (effort, budget, level) => {
    expect(config({ reasoning_effort: effort })).toMatchObject({ thinkingConfig: budget });
    expect(config({ reasoning_effort: effort }, newer)).toMatchObject({ thinkingConfig: level });
  });

  test("uses the model's default thinking without an effort", () => {
    expect(config({}, newer)).toEqual({ maxOutputTokens: 100 });
  });
});
