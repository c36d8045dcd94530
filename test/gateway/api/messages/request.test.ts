/** The fields of a request to Messages: what each becomes, which are hints, and which are refused by their names. */
import { describe, expect, test } from "bun:test";
import { messagesFormat } from "../../../../src/gateway/api/messages/request.ts";
import { catalogId } from "../../../../src/gateway/api/request/requested-model.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { nothing } from "../../../support/gateway/check-chat.ts";
import { route } from "../../../support/providers/routes.ts";
import { pathText, readPathText } from "../../../../src/gateway/providers/provider-error.ts";
import {
  assistant,
  bodyOf,
  called,
  checked,
  ephemeral,
  ignoredBy,
  problemOf,
  refusal,
  result,
  said,
  system,
  tool,
  user,
  type Fields,
} from "./reading.ts";

const without = { model: nothing };

describe("required fields", () => {
  test.each<[string, Fields]>([
    ["invalid_request max_tokens", { max_tokens: undefined }],
    ["invalid_request max_tokens", { max_tokens: 0 }],
    ["invalid_request max_tokens", { max_tokens: "9" }],
    ["invalid_request messages", { messages: undefined }],
    ["invalid_request messages", { messages: [] }],
    ["invalid_request model", { model: undefined }],
    ["invalid_request messages[0].role", { messages: [{ role: "tool", content: "x" }] }],
    ["invalid_request messages[0].role", { messages: [{ role: "constructor", content: "x" }] }],
    ["invalid_request messages", { messages: [user(" ")] }],
  ])("%s for %p", (refused, fields) => expect(refusal(fields)).toBe(refused));

  test("a count of a prompt needs no bound on output", () => {
    const { readBody } = messagesFormat({ version: null, onlyCounts: true });
    const request = { messages: [user("foo")], tools: [tool()] };
    expect(readBody("acme/one", { request, model: chatModel(["tools"]) })).toMatchObject({
      messages: [{ role: "user", content: "foo" }],
    });
  });
});

describe("the bound on output", () => {
  test("above the model's it is the model's, and is named", () => {
    expect(checked({ max_tokens: 999_999 }).chat).toMatchObject({ maxTokens: 4_096, outputField: "max_tokens" });
    expect(ignoredBy({ max_tokens: 999_999 })).toBe("max_tokens");
    expect(ignoredBy({ max_tokens: 4_096 })).toBeUndefined();
  });

  test("below what the format of a route takes it is refused, since it may not rise", () => {
    const model = chatModel([], { routes: [{ ...route("acme"), format: "openai-responses" }] });
    expect(refusal({ max_tokens: 15 }, { model })).toBe("invalid_request max_tokens");
    expect(checked({ max_tokens: 16 }, { model }).chat.maxTokens).toBe(16);
  });
});

describe("sampling", () => {
  test("is sent on before the version that refuses it, and without a version", () => {
    expect(bodyOf({ temperature: 0.5, top_p: 0.9 })).toMatchObject({ temperature: 0.5, top_p: 0.9 });
    expect(bodyOf({ temperature: 0.5 }, { version: null })).toMatchObject({ temperature: 0.5 });
  });

  test("is refused at any value from that version on", () => {
    for (const name of ["temperature", "top_p"])
      expect(refusal({ [name]: 1 }, { version: "2026-10-21" })).toBe(`unsupported_parameter ${name}`);
  });

  test("has the API's scale, and the model's own rules", () => {
    expect(refusal({ temperature: 1.1 })).toBe("invalid_request temperature");
    expect(refusal({ top_k: 5 })).toBe("unsupported_parameter top_k");
    const fixed = chatModel([], { defaultOnly: new Set(["temperature"]) });
    expect(refusal({ temperature: 0.5 }, { model: fixed })).toBe("unsupported_parameter temperature");
    expect(bodyOf({ temperature: 1 }, { model: fixed })).not.toHaveProperty("temperature");
  });
});

describe("thinking and effort", () => {
  test.each<[string | undefined, Fields]>([
    [undefined, {}],
    [undefined, { thinking: { type: "adaptive" } }],
    ["none", { thinking: { type: "disabled" }, output_config: { effort: "high" } }],
    ["medium", { thinking: { type: "adaptive" }, output_config: { effort: "medium" } }],
    ["max", { output_config: { effort: "max" } }],
    ["low", { thinking: { type: "enabled", budget_tokens: 4_095 } }],
    ["medium", { thinking: { type: "enabled", budget_tokens: 4_096 } }],
    ["high", { thinking: { type: "enabled", budget_tokens: 16_384 } }],
    ["low", { messages: [user("a"), { ...system("b"), output_config: { effort: "low" } }], output_config: { effort: "high" } }],
  ])("effort %p of %p", (effort, fields) => expect(bodyOf(fields)["reasoning_effort"]).toBe(effort));

  test("are left out and named for a model that does not reason", () => {
    const fields = { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "high" } };
    expect(bodyOf(fields, without)).not.toHaveProperty("reasoning_effort");
    expect(ignoredBy(fields, without)).toBe("output_config.effort, thinking, thinking.display");
    expect(ignoredBy({ thinking: { type: "disabled" } }, without)).toBeUndefined();
  });
});

describe("the form of the answer", () => {
  const format = { type: "json_schema", schema: { type: "object", additionalProperties: false } };

  test("becomes that of a chat", () => {
    expect(bodyOf({ output_config: { format } })["response_format"]).toEqual({
      type: "json_schema",
      json_schema: { name: "output", schema: format.schema },
    });
  });

  test("is no hint: a model without it refuses", () => {
    expect(refusal({ output_config: { format } }, without)).toBe("unsupported_parameter output_config.format");
  });
});

describe("tools", () => {
  test("become functions, without what only tells a provider how to send a call", () => {
    const given = tool("look_up", { description: "Looks up", strict: true, input_examples: [{}], eager_input_streaming: true });
    expect(bodyOf({ tools: [{ ...given, type: "custom", allowed_callers: ["direct"] }] })["tools"]).toEqual([
      { type: "function", function: { name: "look_up", description: "Looks up", parameters: { type: "object" }, strict: true } },
    ]);
    expect(bodyOf({ tools: [] })).not.toHaveProperty("tools");
  });

  test.each<[string, Fields]>([
    ["unsupported_parameter tools[0].type", { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 8 }] }],
    ["unsupported_parameter tools[0].allowed_callers", { tools: [tool("a", { allowed_callers: ["code_execution"] })] }],
    ["unsupported_parameter tools[0].unknown", { tools: [tool("a", { unknown: 1 })] }],
    ["invalid_request tools[0].input_schema", { tools: [{ name: "a" }] }],
    ["invalid_request tools[1].name", { tools: [tool("a"), tool("a b")] }],
    ["invalid_request tool_choice", { tool_choice: { type: "any" } }],
    ["invalid_request tool_choice.name", { tools: [tool("a")], tool_choice: { type: "tool", name: "b" } }],
    ["invalid_request tool_choice.type", { tools: [tool("a")], tool_choice: { type: "required" } }],
  ])("%s for %p", (refused, fields) => expect(refusal(fields)).toBe(refused));

  test("need a model that takes tools", () => {
    expect(refusal({ tools: [tool()] }, without)).toBe("unsupported_parameter tools");
  });

  test.each<[unknown, Fields]>([
    ["auto", { type: "auto" }],
    ["required", { type: "any" }],
    ["none", { type: "none" }],
    [
      { type: "function", function: { name: "look_up" } },
      { type: "tool", name: "look_up" },
    ],
  ])("the choice %p of %p", (chosen, tool_choice) => {
    expect(bodyOf({ tools: [tool()], tool_choice })).toMatchObject({ tool_choice: chosen as never });
  });

  test("one call at a time", () => {
    const tool_choice = { type: "auto", disable_parallel_tool_use: true };
    expect(bodyOf({ tools: [tool()], tool_choice })).toMatchObject({ parallel_tool_calls: false });
  });

  test("that are deferred do not go to the model before a reference names them", () => {
    const tools = [tool("a"), tool("b", { defer_loading: true }), tool("DeferredToolPlaceholder", { defer_loading: true })];
    expect(bodyOf({ tools })["tools"]).toMatchObject([{ function: { name: "a" } }]);
    expect(bodyOf({ tools: tools.slice(1) })).not.toHaveProperty("tools");
  });
});

describe("hints", () => {
  const marked = { system: [said("a", { cache_control: { ...ephemeral, scope: "global" } })] };

  test("a breakpoint with a scope stays, without the scope", () => {
    expect(bodyOf(marked)["messages"]).toMatchObject([
      { role: "system", content: [{ text: "a", cache_control: ephemeral }] },
      {},
    ]);
    expect(ignoredBy(marked)).toBeUndefined();
  });

  test("breakpoints are left out and named where the model takes none", () => {
    expect(bodyOf(marked, without)["messages"]).toEqual([
      { role: "system", content: "a" },
      { role: "user", content: "Hello" },
    ]);
    expect(ignoredBy(marked, without)).toBe("cache_control");
  });

  test("and where the format of a route has no place for them", () => {
    const model = chatModel(["cache_control"], { routes: [route("acme"), { ...route("other"), format: "google" }] });
    expect(ignoredBy(marked, { model })).toBe("cache_control");
  });

  test("a longer life is the usual one, and is named", () => {
    const fields = { cache_control: { ...ephemeral, ttl: "1h" } };
    expect(bodyOf(fields)["cache_control"]).toEqual(ephemeral);
    expect(ignoredBy(fields)).toBe("cache_control.ttl");
  });

  test("what to clear is left out and named, but to compact is refused", () => {
    const clearing = (type: string): Fields => ({ context_management: { edits: [{ type, keep: "all" }] } });
    expect(bodyOf(clearing("clear_thinking_20251015"))).not.toHaveProperty("context_management");
    expect(ignoredBy(clearing("clear_tool_uses_20250919"))).toBe("context_management");
    expect(refusal(clearing("compact_20260112"))).toBe("unsupported_parameter context_management.edits[0].type");
  });
});

describe("other fields", () => {
  test.each<Fields>([
    { service_tier: "auto" },
    { speed: "standard" },
    { diagnostics: { previous_message_id: null } },
    { metadata: { user_id: "someone" } },
    { container: null, mcp_servers: null, inference_geo: null, thread: null },
    { stop_sequences: [] },
    { stream: true },
  ])("%p adds nothing to the chat", (fields) => {
    expect(bodyOf(fields)).toEqual({ messages: [{ role: "user", content: "Hello" }] });
  });

  test.each<[string, Fields]>([
    ["unsupported_parameter service_tier", { service_tier: "priority" }],
    ["unsupported_parameter speed", { speed: "fast" }],
    ["unsupported_parameter container", { container: "c" }],
    ["unsupported_parameter mcp_servers", { mcp_servers: [] }],
    ["unsupported_parameter inference_geo", { inference_geo: "us" }],
    ["unsupported_parameter metadata.name", { metadata: { name: "x" } }],
    ["unsupported_parameter n", { n: 1 }],
    ["unsupported_parameter models", { models: ["a/b"] }],
    ["invalid_request stop_sequences", { stop_sequences: ["a", "b", "c", "d", "e"] }],
    ["invalid_request stop_sequences[1]", { stop_sequences: ["a", " \n"] }],
  ])("%s for %p", (refused, fields) => expect(refusal(fields)).toBe(refused));

  test("a thread is refused with what its helpers act on", () => {
    const { details, param } = problemOf({ thread: { type: "create" } });
    expect({ details, param }).toEqual({
      details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
      param: "thread",
    });
  });

  test("stop sequences, the stream and the wish for the cost", () => {
    const { chat } = checked({ stop_sequences: ["END"], stream: true, usage: { include: true } });
    expect(chat).toMatchObject({ streamed: true, includeCost: true, body: { stop: ["END"] } });
  });
});

describe("the id of a model", () => {
  const catalog = new Map(["anthropic/claude-x", "openai/gpt-x", "gpt-y[1m]"].map((id) => [id, chatModel([], { id })]));
  const find = (id: string) => catalog.get(id) ?? null;

  test.each([
    ["anthropic/claude-x", "anthropic/claude-x"],
    ["claude-x", "anthropic/claude-x"],
    ["claude-x[1m]", "anthropic/claude-x"],
    ["gpt-x", "openai/gpt-x"],
    ["gpt-y[1m]", "gpt-y[1m]"],
    ["unknown", "unknown"],
  ])("%s is %s", (requested, id) => expect(catalogId(requested, find)).toBe(id));
});

describe("the client's name of a field of the chat", () => {
  const fields = {
    system: [said("x-anthropic-billing-header: a"), said("s"), said("t")],
    tools: [tool("off", { defer_loading: true }), tool("on")],
    tool_choice: { type: "tool", name: "on", disable_parallel_tool_use: true },
    messages: [
      user([said(" "), said("a"), said("b")]),
      system([said("c")]),
      assistant([said("d"), called("1")]),
      user([result("1", [said("e")]), said("f")]),
    ],
  };
  const { chat } = checked(fields);
  const nameOf = (path: string): string | null => {
    const found = chat.clientPath?.(chat.body, readPathText(path)) ?? null;
    return found === null ? null : pathText(found);
  };

  test.each<[string, string | null]>([
    ["messages[0].content[1].text", "system[2]"],
    ["messages[0].role", "system"],
    ["messages[1].content[1]", "messages[0].content[2]"],
    ["messages[2].content", "messages[1].content"],
    ["messages[3].tool_calls[0].function.name", "messages[2]"],
    ["messages[4].content", "messages[3].content[0]"],
    ["messages[4].tool_call_id", "messages[3].content[0]"],
    ["messages[5].content", "messages[3].content"],
    ["messages[9]", "messages"],
    ["messages", "messages"],
    ["tools[0].function.parameters.type", "tools[1].input_schema.type"],
    ["tools[0].function.name", "tools[1].name"],
    ["tools[0].cache_control", "tools[1].cache_control"],
    ["tools[5]", "tools"],
    ["response_format.json_schema.schema.type", "output_config.format.schema.type"],
    ["response_format.type", "output_config.format"],
    ["max_completion_tokens", "max_tokens"],
    ["stop", "stop_sequences"],
    ["parallel_tool_calls", "tool_choice.disable_parallel_tool_use"],
    ["reasoning_effort", null],
    ["temperature", "temperature"],
  ])("of %s is %p", (path, name) => expect(nameOf(path)).toBe(name));
});

describe("a field that a format refuses", () => {
  const anthropic = { model: chatModel(["json_schema"], { routes: [{ ...route("acme"), format: "anthropic" }] }) };
  const responses = { model: chatModel([], { routes: [{ ...route("acme"), format: "openai-responses" }] }) };

  test("has the client's name", () => {
    expect(refusal({ stop_sequences: ["a"] }, responses)).toBe("unsupported_parameter stop_sequences");
    const schema = { type: "object", properties: { a: { type: "object", additionalProperties: { type: "string" } } } };
    const { param } = problemOf({ output_config: { format: { type: "json_schema", schema } } }, anthropic);
    expect(param).toStartWith("output_config.format.schema");
  });
});
