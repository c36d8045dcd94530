/** The accepted and refused values of each field, and what is sent on. */
import { tool, type Body } from "../../../support/gateway/check-chat.ts";

type Code = "invalid_request" | "unsupported_parameter";

export interface FieldCases {
  /** The value; the part that is sent on (`undefined`: nothing); the fields that it needs with it. */
  accepted: [value: unknown, sentOn: unknown, beside?: Body][];
  /** The value; the error's code; its param if that is not the field itself; the fields that it needs with it. */
  refused: [value: unknown, code: Code, param?: string, beside?: Body][];
}

const nothing = undefined;
const likely = { logprobs: true };
const tools = { tools: [tool] };
const ephemeral = { type: "ephemeral" };
const schema = { name: "answer", description: "An answer", schema: { type: "object" }, strict: true };
const custom = { type: "custom", custom: { name: "shell", description: "Runs", format: { type: "text" } } };
const named = { type: "function", function: { name: "look_up" } };
const strict = { type: "function", function: { name: "look_up", description: null, parameters: null, strict: true } };
const allowed = { type: "allowed_tools", allowed_tools: { mode: "required", tools: [named] } };

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));
const unchanged = (...values: unknown[]): FieldCases["accepted"] => values.map((value) => [value, value]);
const notSentOn = (...values: unknown[]): FieldCases["accepted"] => values.map((value) => [value, nothing]);
const invalid = (...values: unknown[]): FieldCases["refused"] => values.map((value) => [value, "invalid_request"]);
const unsupported = (...values: unknown[]): FieldCases["refused"] => values.map((value) => [value, "unsupported_parameter"]);

const penalty: FieldCases = {
  accepted: [...unchanged(1.5, -2, 2), ...notSentOn(0)],
  refused: invalid(2.1, -2.1, "1", true),
};
/** Not sent on: the provider gets the reserved bound instead. */
const maxTokens: FieldCases = {
  accepted: notSentOn(1, 4_096),
  refused: invalid(0, -1, 1.5, "10", 4_097, 1e300, true, []),
};
const label: FieldCases = { accepted: notSentOn("", "anna-7"), refused: invalid(7, {}, true) };

export const fieldCases: Record<string, FieldCases> = {
  metadata: {
    accepted: notSentOn({}, pairs(16), { ["k".repeat(64)]: "v".repeat(512) }),
    refused: invalid(pairs(17), { a: 1 }, { a: null }, { ["k".repeat(65)]: "v" }, { k: "v".repeat(513) }, [], "x"),
  },
  top_logprobs: {
    accepted: [
      [0, nothing],
      [20, 20, likely],
    ],
    refused: [
      ...invalid(21, -1, 1.5, "3"),
      [3, "invalid_request", "top_logprobs", { logprobs: false }],
      [3, "invalid_request", "top_logprobs"],
    ],
  },
  temperature: { accepted: unchanged(0, 0.7, 2), refused: invalid(2.1, 2.0000001, -0.1, "1", true, {}) },
  top_p: { accepted: unchanged(0, 0.9, 1), refused: invalid(1.5, -0.1, "1") },
  user: label,
  safety_identifier: { accepted: notSentOn("a".repeat(64)), refused: invalid("a".repeat(65), 7) },
  prompt_cache_key: label,
  prompt_cache_retention: { accepted: [], refused: unsupported("24h", "in_memory", 7) },
  prompt_cache_options: { accepted: [], refused: unsupported({ ttl: "12h" }, {}) },
  service_tier: { accepted: notSentOn("auto", "default"), refused: unsupported("priority", "flex", "scale", "fast", 7) },
  modalities: {
    accepted: notSentOn(["text"]),
    refused: [...unsupported(["text", "audio"], ["audio"], []), ...invalid("text")],
  },
  verbosity: { accepted: unchanged("low", "medium", "high"), refused: invalid("loud", 1) },
  reasoning_effort: {
    accepted: unchanged("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    refused: invalid("extreme", 3),
  },
  max_completion_tokens: maxTokens,
  frequency_penalty: penalty,
  presence_penalty: penalty,
  web_search_options: { accepted: [], refused: unsupported({}, { search_context_size: "low" }) },
  response_format: {
    accepted: [
      ...notSentOn({ type: "text" }),
      ...unchanged({ type: "json_object" }, { type: "json_schema", json_schema: schema }),
      // An explicit null means absent.
      [
        { type: "json_schema", json_schema: { ...schema, strict: null, description: null } },
        { type: "json_schema", json_schema: { name: "answer", schema: { type: "object" } } },
      ],
    ],
    refused: [
      ...invalid("json", []),
      [{}, "invalid_request", "response_format.type"],
      [{ type: "yaml" }, "invalid_request", "response_format.type"],
      [{ type: "json_schema" }, "invalid_request", "response_format.json_schema"],
      [{ type: "json_schema", json_schema: {} }, "invalid_request", "response_format.json_schema.name"],
      [{ type: "json_schema", json_schema: { name: "a b" } }, "invalid_request", "response_format.json_schema.name"],
      [{ type: "json_schema", json_schema: { name: "n".repeat(65) } }, "invalid_request", "response_format.json_schema.name"],
      [{ type: "json_schema", json_schema: { ...schema, strict: 1 } }, "invalid_request", "response_format.json_schema.strict"],
      [{ type: "json_object", mode: 1 }, "unsupported_parameter", "response_format.mode"],
    ],
  },
  audio: { accepted: [], refused: unsupported({ voice: "alloy", format: "wav" }) },
  store: { accepted: notSentOn(false), refused: unsupported(true, 1) },
  moderation: { accepted: [], refused: unsupported({}, { model: "omni" }) },
  stream: { accepted: notSentOn(true, false), refused: invalid("true", 1, {}) },
  stop: {
    accepted: [...unchanged("END", ["a"], ["a", "b", "c", "d"]), ...notSentOn([])],
    refused: [...invalid(["a", "b", "c", "d", "e"], 7, {}), [["a", 7], "invalid_request", "stop[1]"]],
  },
  logit_bias: {
    accepted: [...unchanged({ "50256": -100, "1": 100 }), ...notSentOn({})],
    refused: invalid({ "1": 101 }, { "1": "5" }, { "1": null }, []),
  },
  logprobs: { accepted: [...unchanged(true), ...notSentOn(false)], refused: invalid("yes", 1) },
  max_tokens: {
    accepted: [...maxTokens.accepted, [10, nothing, { max_completion_tokens: 10 }]],
    refused: [...maxTokens.refused, [10, "invalid_request", "max_tokens", { max_completion_tokens: 11 }]],
  },
  n: { accepted: notSentOn(1), refused: unsupported(0, 2, 128, "1", 1.5) },
  prediction: {
    accepted: unchanged({ type: "content", content: "x" }, { type: "content", content: [{ type: "text", text: "x" }] }),
    refused: [
      ...invalid("text"),
      [{ type: "content" }, "invalid_request", "prediction.content"],
      [{ type: "guess", content: "x" }, "invalid_request", "prediction.type"],
    ],
  },
  seed: {
    // 64 bits. A number beyond 2^53 is sent as a smaller one, always the same.
    accepted: [...unchanged(7, 0, -7, 2 ** 53 - 1), [2 ** 60, 128], [2 ** 63, 1_024], [-(2 ** 63), -1_024]],
    refused: invalid(1.5, "7", 2 ** 64, -(2 ** 64)),
  },
  stream_options: {
    accepted: [
      [{}, nothing, { stream: true }],
      [{ include_usage: true, include_obfuscation: false }, nothing, { stream: true }],
      [{ include_usage: null, include_obfuscation: null }, nothing, { stream: true }],
    ],
    refused: [
      ...invalid({ include_usage: true }, {}),
      [{}, "invalid_request", "stream_options", { stream: false }],
      [{ include_usage: 1 }, "invalid_request", "stream_options.include_usage", { stream: true }],
      [{ include_obfuscation: true }, "unsupported_parameter", "stream_options.include_obfuscation", { stream: true }],
      [{ other: true }, "unsupported_parameter", "stream_options.other", { stream: true }],
    ],
  },
  tools: {
    accepted: [
      ...unchanged([tool], [custom], [tool, custom]),
      ...notSentOn([]),
      [[strict], [{ type: "function", function: { name: "look_up", strict: true } }]],
    ],
    refused: [
      ...invalid({}, "look_up"),
      [[{}], "invalid_request", "tools[0].type"],
      [["look_up"], "invalid_request", "tools[0]"],
      [[tool, { type: "web_search" }], "invalid_request", "tools[1].type"],
      [[{ type: "function" }], "invalid_request", "tools[0].function"],
      [[{ type: "function", function: { name: "a b" } }], "invalid_request", "tools[0].function.name"],
      [[{ type: "function", function: { name: "f", parameters: [] } }], "invalid_request", "tools[0].function.parameters"],
      [[{ ...tool, defer_loading: true }], "unsupported_parameter", "tools[0].defer_loading"],
      [[{ ...tool, cache_control: {} }], "invalid_request", "tools[0].cache_control.type"],
    ],
  },
  tool_choice: {
    accepted: [
      ["none", "none", tools],
      ["required", "required", tools],
      [named, named, tools],
      [allowed, allowed, tools],
      [{ type: "custom", custom: { name: "shell" } }, { type: "custom", custom: { name: "shell" } }, { tools: [custom] }],
      ["auto", nothing],
      ["none", nothing],
    ],
    refused: [
      ...invalid("perhaps", "required", 7),
      [named, "invalid_request", "tool_choice"],
      [{ type: "function" }, "invalid_request", "tool_choice.function", tools],
      [{ type: "spell" }, "invalid_request", "tool_choice.type", tools],
      [{ type: "function", function: { name: "other" } }, "invalid_request", "tool_choice.function.name", tools],
    ],
  },
  parallel_tool_calls: {
    accepted: [
      [false, false, tools],
      [true, true, tools],
      [true, nothing],
    ],
    refused: [[1, "invalid_request", "parallel_tool_calls", tools], ...invalid("yes")],
  },
  function_call: {
    accepted: unchanged("none", "auto", { name: "f" }),
    refused: [...invalid("perhaps", 7), [{}, "invalid_request", "function_call.name"]],
  },
  functions: {
    accepted: unchanged([{ name: "f" }], [{ name: "f", description: "F", parameters: { type: "object" } }]),
    refused: [
      ...invalid([], {}),
      [[{ name: "f g" }], "invalid_request", "functions[0].name"],
      [Array.from({ length: 129 }, () => ({ name: "f" })), "invalid_request", "functions"],
    ],
  },
  cache_control: {
    accepted: [
      [ephemeral, ephemeral],
      [{ ...ephemeral, ttl: "5m" }, ephemeral],
      [{ ...ephemeral, ttl: null }, ephemeral],
    ],
    refused: [
      ...invalid("ephemeral", true, []),
      [{}, "invalid_request", "cache_control.type"],
      [{ type: "permanent" }, "invalid_request", "cache_control.type"],
      [{ ...ephemeral, ttl: "1h" }, "unsupported_parameter", "cache_control.ttl"],
      [{ ...ephemeral, ttl: 300 }, "unsupported_parameter", "cache_control.ttl"],
      [{ ...ephemeral, scope: "global" }, "unsupported_parameter", "cache_control.scope"],
    ],
  },
  usage: {
    accepted: notSentOn({ include: true }, { include: false }),
    refused: [
      ...invalid(true, "include", []),
      [{}, "invalid_request", "usage.include"],
      [{ include: 1 }, "invalid_request", "usage.include"],
      [{ include: null }, "invalid_request", "usage.include"],
      [{ include: true, detailed: true }, "unsupported_parameter", "usage.detailed"],
    ],
  },
};
