import { describe, expect, test } from "bun:test";
import { checkChat } from "../../src/inference/chat.ts";
import { chatFields } from "../../src/inference/chat-fields.ts";
import { supportWords } from "../../src/inference/supports.ts";
import { check, everything, hello, messageOf, nothing, refusal, tool, type Body } from "../support/check-chat.ts";
import { chatModel } from "../support/model.ts";

describe("a field out of its range is invalid_request", () => {
  test.each([
    ["temperature", 2.1],
    ["temperature", -0.1],
    ["temperature", "1"],
    ["top_p", 1.5],
    ["frequency_penalty", -3],
    ["presence_penalty", 2.5],
    ["max_tokens", 0],
    ["max_tokens", 1.5],
    ["max_tokens", "10"],
    ["max_completion_tokens", -1],
    ["seed", 1.5],
    ["stop", ["a", "b", "c", "d", "e"]],
    ["stop", 7],
    ["logit_bias", { "50256": 101 }],
    ["logprobs", "yes"],
    ["stream", "true"],
    ["stream", 1],
    ["user", 7],
    ["metadata", { a: 1 }],
    ["metadata", Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, "v"]))],
    ["safety_identifier", "a".repeat(65)],
    ["reasoning_effort", "extreme"],
    ["verbosity", "loud"],
    ["response_format", "json"],
    ["tools", {}],
    ["tool_choice", "perhaps"],
    ["parallel_tool_calls", 1],
    ["functions", []],
    ["function_call", "perhaps"],
    ["prediction", "text"],
    ["modalities", "text"],
  ])("%s: %j", (name, value) => {
    expect(refusal({ [name]: value, ...(name === "parallel_tool_calls" && { tools: [tool] }) })).toStartWith(
      `invalid_request ${name}`,
    );
  });

  test("and temperature 2 is in it", () => {
    expect(check({ temperature: 2 }).body["temperature"]).toBe(2);
    expect(check({ temperature: 0 }).body["temperature"]).toBe(0);
  });
});

describe("explicit null", () => {
  test.each(chatFields.map((field) => [field.name, field.nullable === true] as const))(
    "%s: means absent: %p",
    (name, nullable) => {
      expect(refusal({ [name]: null, stream: name === "stream" ? null : true })).toBe(
        nullable ? null : `invalid_request ${name}`,
      );
    },
  );

  test("is legal for 26 fields of the official schema and its deprecated ones", () => {
    expect(chatFields.filter((field) => field.nullable).length).toBe(26);
    expect(chatFields).toHaveLength(35);
  });

  test("is never sent on", () => {
    const fields = Object.fromEntries(chatFields.filter((field) => field.nullable).map((field) => [field.name, null]));
    expect(check(fields).body).toEqual({ model: "acme/one", messages: hello });
  });
});

describe("what no model here offers is unsupported_parameter", () => {
  test.each([
    ["n", 2],
    ["n", 0],
    ["n", "1"],
    ["audio", { voice: "alloy", format: "wav" }],
    ["modalities", ["text", "audio"]],
    ["web_search_options", {}],
    ["moderation", {}],
    ["store", true],
    ["service_tier", "priority"],
    ["prompt_cache_retention", "24h"],
    ["prompt_cache_options", { ttl: "12h" }],
    ["top_k", 40],
    ["thinking", { type: "enabled" }],
    ["__proto__x", 1],
  ])("%s: %j", (name, value) => {
    expect(refusal({ [name]: value })).toBe(`unsupported_parameter ${name}`);
  });

  test("and for n it says that only n=1 is", () => {
    expect(messageOf({ n: 2 })).toContain("only n=1 is supported");
  });

  test("also where the field is called __proto__", () => {
    const bytes = new TextEncoder().encode('{"model":"acme/one","messages":[{"role":"user","content":"x"}],"__proto__":{"n":2}}');
    expect(() => checkChat(bytes, { find: () => everything })).toThrow("__proto__ is not a supported field");
  });
});

describe("what the model supports", () => {
  const fields: Record<string, Body> = {
    tools: { tools: [tool] },
    custom_tools: { tools: [{ type: "custom", custom: { name: "shell" } }] },
    functions: { functions: [{ name: "f" }] },
    json_object: { response_format: { type: "json_object" } },
    json_schema: { response_format: { type: "json_schema", json_schema: { name: "x", schema: {}, strict: true } } },
    reasoning: { reasoning_effort: "low" },
    verbosity: { verbosity: "low" },
    penalties: { frequency_penalty: 1 },
    seed: { seed: 7 },
    logit_bias: { logit_bias: { "1": 2 } },
    logprobs: { logprobs: true },
    prediction: { prediction: { type: "content", content: "x" } },
  };
  const needed: Record<string, string[]> = { custom_tools: ["tools"] };

  test.each(Object.keys(fields))(
    "%s opens its field, which is then sent on; without it the field is unsupported_parameter",
    (word) => {
      const [name = ""] = Object.keys(fields[word] ?? {});
      const body = fields[word] ?? {};
      const others = Object.keys(supportWords).filter((other) => other !== word);
      expect(check(body, chatModel([word, ...(needed[word] ?? [])])).body[name]).toEqual(body[name]);
      expect(refusal(body, chatModel(others))).toStartWith(`unsupported_parameter ${name}`);
    },
  );

  test("is not asked for values that ask for what happens anyway, as some SDKs always send them", () => {
    const defaults = {
      n: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
      stop: [],
      tools: [],
      tool_choice: "auto",
      parallel_tool_calls: true,
      response_format: { type: "text" },
      modalities: ["text"],
      service_tier: "auto",
      store: false,
      stream: false,
    };
    expect(check(defaults, nothing).body).toEqual({ model: "acme/one", messages: hello });
  });

  test("names its output limit where max_tokens is above it", () => {
    expect(check({ max_tokens: 4_096 }).maxTokens).toBe(4_096);
    expect(refusal({ max_tokens: 4_097 })).toBe("invalid_request max_tokens");
    expect(messageOf({ max_completion_tokens: 4_097 })).toContain("4096");
  });
});

describe("fields that depend on each other", () => {
  test.each([
    [{ max_tokens: 10, max_completion_tokens: 11 }, "invalid_request max_tokens"],
    [{ stream_options: { include_usage: true } }, "invalid_request stream_options"],
    [{ stream: false, stream_options: {} }, "invalid_request stream_options"],
    [{ stream: true, stream_options: { include_obfuscation: true } }, "unsupported_parameter stream_options.include_obfuscation"],
    [{ stream: true, stream_options: { other: true } }, "unsupported_parameter stream_options.other"],
    [{ top_logprobs: 3 }, "invalid_request top_logprobs"],
    [{ tool_choice: "required" }, "invalid_request tool_choice"],
    [
      { tools: [tool], tool_choice: { type: "function", function: { name: "other" } } },
      "invalid_request tool_choice.function.name",
    ],
    [{ tools: [{ ...tool, cache_control: {} }] }, "unsupported_parameter tools[0].cache_control"],
    [{ tools: [{ type: "function", function: { name: "not a name" } }] }, "invalid_request tools[0].function.name"],
    [{ response_format: { type: "json_schema" } }, "invalid_request response_format.json_schema"],
    [{ response_format: { type: "yaml" } }, "invalid_request response_format.type"],
  ])("%j", (fields, expected) => {
    expect(refusal(fields)).toBe(expected);
  });

  test("pass where they agree", () => {
    expect(check({ max_tokens: 10, max_completion_tokens: 10 }).maxTokens).toBe(10);
    expect(check({ max_completion_tokens: 12 }).maxTokens).toBe(12);
    expect(check({}).maxTokens).toBeNull();
    const streamed = check({ stream: true, stream_options: { include_usage: true, include_obfuscation: false } });
    expect(streamed).toMatchObject({ streamed: true, includeUsage: true });
    const choice = { type: "function", function: { name: "look_up" } };
    expect(check({ tools: [tool], tool_choice: choice }).body["tool_choice"]).toEqual(choice);
  });
});
