/** Which requests for a response are accepted, and the fields of the chat that they become. */
import { describe, expect, test } from "bun:test";
import { checkRouted } from "../../../../src/gateway/api/request/chat-request.ts";
import { responsesFormat } from "../../../../src/gateway/api/responses/request.ts";
import { ManualClock } from "../../../support/clock.ts";
import { everything, nothing, type Body } from "../../../support/gateway/check-chat.ts";
import { checkResponse, ignoredOf, plain, refusalOf, refused } from "../../../support/gateway/check-response.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { route } from "../../../support/providers/routes.ts";
import { codexRequests, frameworkRequests, recorded } from "./recorded/recorded.ts";

/** The fields of the chat but its messages. */
function fieldsOf(fields: Body, model = everything): Body {
  const { model: _, messages: __, ...others } = checkResponse(fields, model).chat.body;
  return others;
}

describe("what needs kept items is refused with the remedy", () => {
  test.each([
    [{ store: true }, "store"],
    [{ previous_response_id: "resp_1" }, "previous_response_id"],
    [{ conversation: "conv_1" }, "conversation"],
    [{ prompt: { id: "pmpt_1" } }, "prompt"],
  ])("%j", (fields, param) => {
    expect(refused(fields)).toMatch(new RegExp(`^unsupported_parameter ${param}: .*send the whole conversation`));
  });
});

describe("the gateway refuses", () => {
  test.each<[Body, string]>([
    [{ background: true }, "unsupported_parameter background"],
    [{ context_management: [] }, "unsupported_parameter context_management"],
    [{ max_tool_calls: 1 }, "unsupported_parameter max_tool_calls"],
    [{ moderation: {} }, "unsupported_parameter moderation"],
    [{ prompt_cache_options: {} }, "unsupported_parameter prompt_cache_options"],
    [{ prompt_cache_retention: "24h" }, "unsupported_parameter prompt_cache_retention"],
    [{ service_tier: "flex" }, "unsupported_parameter service_tier"],
    [{ truncation: "auto" }, "unsupported_parameter truncation"],
    [{ reasoning: { mode: "pro" } }, "unsupported_parameter reasoning.mode"],
    [{ reasoning: { effort: "huge" } }, "invalid_request reasoning.effort"],
    [{ include: ["file_search_call.results"] }, "unsupported_parameter include[0]"],
    [{ include: ["reasoning.encrypted_content", 7] }, "unsupported_parameter include[1]"],
    [{ top_logprobs: 2 }, "invalid_request top_logprobs"],
    [{ max_output_tokens: 0 }, "invalid_request max_output_tokens"],
    [{ max_output_tokens: "9" }, "invalid_request max_output_tokens"],
    [{ stream_options: { include_obfuscation: false } }, "invalid_request stream_options"],
    [{ stream: true, stream_options: { include_usage: true } }, "unsupported_parameter stream_options.include_usage"],
    [{ stream: "yes" }, "invalid_request stream"],
    [{ temperature: 3 }, "invalid_request temperature"],
    [{ text: { format: { type: "json_schema", schema: {} } } }, "invalid_request text.format.name"],
    [{ text: { format: { type: "xml" } } }, "invalid_request text.format.type"],
    [{ text: { verbosity: "loud" } }, "invalid_request text.verbosity"],
    [{ client_metadata: 1 }, "invalid_request client_metadata"],
    [{ instructions: 1 }, "invalid_request instructions"],
    [{ input: undefined }, "invalid_request input"],
    [{ input: [] }, "invalid_request input"],
    [{ input: 7 }, "invalid_request input"],
    [{ n: 1 }, "unsupported_parameter n"],
    [{ seed: 1 }, "unsupported_parameter seed"],
    [{ messages: [] }, "unsupported_parameter messages"],
    [{ models: ["a/b"] }, "unsupported_parameter models"],
  ])("%j", (fields, expected) => {
    expect(refusalOf(fields)).toBe(expected);
  });

  test("an image, with the path of the part", () => {
    expect(refusalOf(recorded("codex-image"))).toBe("unsupported_parameter input[3].content[1]");
  });
});

describe("fields become fields of a chat", () => {
  test.each<[Body, Body]>([
    [{}, {}],
    [
      { temperature: 0.5, top_p: 0.9 },
      { temperature: 0.5, top_p: 0.9 },
    ],
    [{ reasoning: { effort: "low", summary: "auto", context: "all_turns" } }, { reasoning_effort: "low" }],
    [{ reasoning: { effort: null } }, {}],
    [{ text: { verbosity: "low", format: { type: "text" } } }, { verbosity: "low" }],
    [{ text: { format: { type: "json_object" } } }, { response_format: { type: "json_object" } }],
    [
      { include: ["message.output_text.logprobs", "reasoning.encrypted_content"], top_logprobs: 2 },
      { logprobs: true, top_logprobs: 2 },
    ],
    [{ include: [], top_logprobs: 0, store: false, background: false, truncation: "disabled" }, {}],
    [{ metadata: { a: "b" }, user: "u", safety_identifier: "s", prompt_cache_key: "k", client_metadata: { x: "y" } }, {}],
    [{ stream: true, stream_options: { include_obfuscation: false }, service_tier: "auto" }, {}],
    [{ previous_response_id: null, conversation: null, tools: null, tool_choice: null, text: null, reasoning: null }, {}],
  ])("%j as %j", (fields, expected) => {
    expect(fieldsOf(fields)).toEqual(expected);
  });

  test("a schema goes on whole, with its own keywords", () => {
    const schema = { $schema: "http://json-schema.org/draft-07/schema#", type: "object", properties: { a: { type: "string" } } };
    expect(fieldsOf({ text: { format: { type: "json_schema", name: "person", strict: true, schema } } })).toEqual({
      response_format: { type: "json_schema", json_schema: { name: "person", strict: true, schema } },
    });
  });

  test("instructions are the first message", () => {
    expect(checkResponse({ instructions: "Be brief" }).chat.body.messages).toMatchObject([
      { role: "system", content: "Be brief" },
      { role: "user", content: "Hello" },
    ]);
  });
});

describe("hints that the model does not have are left out and listed", () => {
  const hints = { text: { verbosity: "low" }, reasoning: { effort: "high" }, max_output_tokens: 1_000_000 };

  test("all of them", () => {
    expect(refusalOf(hints, nothing)).toBeNull();
    expect(fieldsOf(hints, nothing)).toEqual({});
    expect(ignoredOf(hints, nothing)).toEqual(["max_output_tokens", "reasoning.effort", "text.verbosity"]);
  });

  test("a model that has them gets them, but for the bound above its maximum", () => {
    expect(ignoredOf(hints)).toEqual(["max_output_tokens"]);
    expect(checkResponse(hints).chat).toMatchObject({ maxTokens: 4_096, outputField: "max_output_tokens" });
  });

  test("no effort at all is no hint", () => {
    expect(ignoredOf({ reasoning: { effort: "none" } }, nothing)).toEqual([]);
  });

  test("what changes the form of the answer is no hint", () => {
    const format = { type: "json_schema", name: "x", schema: {} };
    expect(refusalOf({ text: { format } }, nothing)).toBe("unsupported_parameter text.format");
    expect(refusalOf({ include: ["message.output_text.logprobs"] }, nothing)).toBe("unsupported_parameter include[0]");
  });
});

test("a model's own bounds have the request's names", () => {
  const small = chatModel([], { routes: [route("acme", { format: "openai-responses" })] });
  expect(refusalOf({ max_output_tokens: 15 }, small)).toBe("invalid_request max_output_tokens");
  const fixed = chatModel(["reasoning"], {
    defaultOnly: new Set(["temperature"]),
    routes: [{ ...route("acme"), samplesWithoutReasoning: true }],
  });
  expect(refused({ temperature: 0.5 }, fixed)).toContain("temperature=1, or reasoning.effort=none,");
  expect(refusalOf({ temperature: 0.5, reasoning: { effort: "none" } }, fixed)).toBeNull();
});

describe("the model", () => {
  const ids = ["anthropic/claude-one", "openai/gpt-one", "openai/claude-one"];
  const find = (id: string) => (ids.includes(id) ? chatModel(["tools"], { id }) : null);
  const modelOf = (requested: string): string | undefined => responsesFormat(new ManualClock()).modelOf?.(requested, find);

  test("may be called without the name of its maker", () => {
    expect(modelOf("claude-one")).toBe("anthropic/claude-one");
    expect(modelOf("gpt-one")).toBe("openai/gpt-one");
    expect(modelOf("openai/gpt-one")).toBe("openai/gpt-one");
    expect(modelOf("none")).toBe("none");
  });
});

describe("what agents send is accepted", () => {
  test.each([...codexRequests, ...frameworkRequests])("%s", (name) => {
    const { chat } = checkResponse({ ...recorded(name), model: "acme/one" }, plain);
    expect(chat.body.messages.length).toBeGreaterThan(0);
    expect(chat.tools).toBe(name !== "codex-compaction");
  });

  test("but for a reference to an item, with the setting that helps", () => {
    const body = { ...recorded("ai-sdk-item-reference"), model: "acme/one" };
    expect(refused(body)).toMatch(/^unsupported_parameter input\[1\]: .*providerOptions\.openai\.store to false/);
  });
});

test("a field that a route cannot express has the request's name", () => {
  const claude = chatModel(["tools", "json_object"], { routes: [route("claude", { format: "anthropic" })] });
  expect(refusalOf({ text: { format: { type: "json_object" } } }, claude)).toBe("unsupported_parameter text.format.type");
});

test("routed models are read each by what they support, and all left out is listed", async () => {
  const models = [chatModel(["tools", "verbosity"]), chatModel(["tools"], { id: "acme/two" })];
  const find = (id: string) => models.find((model) => model.id === id) ?? null;
  const body = { model: "acme/one", models: ["acme/two"], input: "Hi", text: { verbosity: "low" } };
  const providers = new Map([["acme", route("acme").provider]]);
  const { chat, format } = await checkRouted(new TextEncoder().encode(JSON.stringify(body)), responsesFormat(new ManualClock()), {
    find,
    routing: { find, providers },
    clock: new ManualClock(),
  });
  expect([...(chat.routing?.bodies.values() ?? [])].map((one) => one["verbosity"])).toEqual(["low", undefined]);
  expect(format.headers?.({ generation: "", request: "" } as never)).toEqual({ "x-ignored-fields": "text.verbosity" });
});
