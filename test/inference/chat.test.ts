import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../src/kernel/errors.ts";
import { messagesMax } from "../../src/limits/constants.ts";
import { checkChat, type CheckedChat } from "../../src/inference/chat.ts";
import { chatFields } from "../../src/inference/chat-fields.ts";
import { supportWords } from "../../src/inference/supports.ts";
import { chatModel } from "../support/model.ts";

const everything = chatModel(Object.keys(supportWords));
const nothing = chatModel();
const hello = [{ role: "user", content: "Hello" }];
const tool = { type: "function", function: { name: "look_up", description: "Looks up", parameters: { type: "object" } } };

type Body = Record<string, unknown>;

function check(fields: Body, model: typeof everything | null = everything): CheckedChat {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: "acme/one", messages: hello, ...fields }));
  return checkChat(bytes, { find: () => model });
}

/** code and param of the refusal, or null. */
function refusal(fields: Body, model: typeof everything | null = everything): string | null {
  try {
    check(fields, model);
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.status).toBe(400);
    return `${error.code} ${error.param}`;
  }
}

function messageOf(fields: Body, model: typeof everything | null = everything): string {
  try {
    check(fields, model);
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
  }
  return "";
}

const says = (message: Body) => refusal({ messages: [message] });

describe("model", () => {
  test.each([
    [{ model: undefined }, "invalid_request model"],
    [{ model: null }, "invalid_request model"],
    [{ model: 7 }, "invalid_request model"],
    [{ model: "" }, "invalid_request model"],
    [{ model: "a".repeat(257) }, "invalid_request model"],
    [{ model: "custom:mine" }, "unsupported_parameter model"],
  ])("%j is refused", (fields, expected) => {
    expect(refusal(fields)).toBe(expected);
  });

  test("that is not in the catalog is left to a later check, and nothing is said about what it supports", () => {
    expect(refusal({ tools: [tool], max_tokens: 9_000_000, seed: 1 }, null)).toBeNull();
    expect(refusal({ temperature: 3 }, null)).toBe("invalid_request temperature");
  });
});

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
  ])("%j is refused", (fields, expected) => {
    expect(refusal(fields)).toBe(expected);
  });

  test("2,000 pass, one more is invalid_request", () => {
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

  test("an answer of ours can be sent back as the SDKs write it out", () => {
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

describe("content that is not text is unsupported_parameter and says so", () => {
  test.each([
    { type: "image_url", image_url: { url: "https://example.com/a.png" } },
    { type: "input_audio", input_audio: { data: "", format: "wav" } },
    { type: "file", file: {} },
  ])("%j", (part) => {
    const messages = [{ role: "user", content: [{ type: "text", text: "What is this?" }, part] }];
    expect(refusal({ messages })).toBe("unsupported_parameter messages[0].content");
    expect(messageOf({ messages })).toContain("only text content is supported");
  });

  test("in the order of the parts", () => {
    const content = (...parts: Body[]) => ({ role: "user", content: parts });
    expect(says(content({ type: "text" }, { type: "image_url" }))).toBe("invalid_request messages[0].content[0].text");
    expect(says(content({ text: "no type" }))).toBe("invalid_request messages[0].content[0]");
    expect(says(content({ type: "text", text: "x", cache_control: {} }))).toBe(
      "unsupported_parameter messages[0].content[0].cache_control",
    );
    expect(says(content({ type: "refusal", refusal: "x" }))).toBe("unsupported_parameter messages[0].content");
    expect(says({ role: "assistant", content: "x", audio: { id: "a" } })).toBe("unsupported_parameter messages[0].audio");
  });
});

describe("tool calls in messages", () => {
  const calls = (...tool_calls: unknown[]) => ({ role: "assistant", tool_calls });

  test("are text and pass whatever the model supports", () => {
    const messages = [
      calls({ id: "a", type: "function", function: { name: "f", arguments: "" } }),
      { role: "tool", tool_call_id: "a", content: "" },
    ];
    expect(refusal({ messages }, nothing)).toBeNull();
  });

  test("need their parts", () => {
    expect(says(calls({ id: "a", type: "function" }))).toBe("invalid_request messages[0].tool_calls[0].function");
    expect(says(calls({ id: "a", type: "function", function: { name: "f" } }))).toBe(
      "invalid_request messages[0].tool_calls[0].function.arguments",
    );
    expect(says(calls({ id: "a", type: "spell" }))).toBe("invalid_request messages[0].tool_calls[0].type");
    expect(says(calls())).toBe("invalid_request messages[0].content");
  });
});

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

describe("routing is off", () => {
  test.each([
    [{ models: ["a/b"], provider: { order: ["x"] } }, "models"],
    [{ provider: { sort: "price", order: ["x"] } }, "provider.order"],
    [{ provider: { ignore: ["x"], only: ["x"] } }, "provider.only"],
    [{ provider: { ignore: ["x"], sort: "price" } }, "provider.ignore"],
    [{ provider: { sort: "price" } }, "provider.sort"],
    [{ provider: { allow_fallbacks: false } }, "provider"],
    [{ provider: "openai" }, "provider"],
  ])("%j", (fields, param) => {
    expect(refusal(fields)).toBe(`unsupported_parameter ${param}`);
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

test("the first problem is answered: model, messages in order, then fields in the order of the official schema", () => {
  const problems: [Body, string][] = [
    [{ zebra: 1 }, "zebra"],
    [{ provider: {} }, "provider"],
    [{ functions: 1 }, "functions"],
    [{ n: 2 }, "n"],
    [{ max_tokens: 0 }, "max_tokens"],
    [{ temperature: 3 }, "temperature"],
    [{ metadata: 1 }, "metadata"],
    [{ messages: [{ role: "user", content: "x" }, { role: "user" }] }, "messages[1].content"],
    [{ messages: [{ role: "wizard" }, { role: "user" }] }, "messages[0].role"],
    [{ model: "custom:x" }, "model"],
  ];
  let fields: Body = {};
  for (const [problem, param] of problems) {
    fields = { ...fields, ...problem };
    expect(refusal(fields)).toEndWith(` ${param}`);
  }
});

test("labels are accepted and not sent on", () => {
  const labels = { user: "u", metadata: { a: "b" }, safety_identifier: "s", prompt_cache_key: "p", store: false };
  expect(check(labels, nothing).body).toEqual({ model: "acme/one", messages: hello });
});

test("the bound of tokens counts everything that is sent on", () => {
  const plain = check({}).inputTokens;
  expect(check({ messages: [{ role: "user", content: "é".repeat(1_000) }] }).inputTokens).toBeGreaterThanOrEqual(2_000);
  expect(check({ tools: [tool] }).inputTokens).toBeGreaterThan(plain + 50);
  expect(check({ tools: [tool] }).tools).toBe(true);
  expect(check({ user: "u".repeat(1_000) }).inputTokens).toBe(plain);
});

test("names of fields are cut before they are shown", () => {
  const name = "x".repeat(10_000);
  expect(messageOf({ [name]: 1 }).length).toBeLessThan(200);
});
