/** Errors in the shapes of real providers: the cause that a client gets for each, and the field of its own request. */
import { describe, expect, test } from "bun:test";
import type { RejectionCause } from "../../../../src/gateway/providers/rejection.ts";
import { bounded, rejected, unbounded, type Sent } from "../../../support/gateway/rejected.ts";

type Case = [text: string, why: RejectionCause | null, param: string | null, sent?: Sent];

const pairs = "Each `tool_use` block must have a corresponding `tool_result` block in the next message.";

describe("Anthropic's format", () => {
  const told = (message: string) => ({ type: "error", error: { type: "invalid_request_error", message } });

  test.each<Case>([
    [
      `messages.1: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: toolu_1. ${pairs}`,
      "tool_pairs",
      "messages[2]",
    ],
    ["messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_2.", "tool_pairs", "messages[4]"],
    ["messages.1.content.0.text: Input should be a valid string", "wrong_type", "messages[2].content"],
    [
      "messages.1.content.2.tool_use.input: Input should be a valid dictionary",
      "wrong_type",
      "messages[2].tool_calls[1].function.arguments",
    ],
    ["messages.1.content.1.tool_use.text: Extra inputs are not permitted", "unknown_field", "messages[2].tool_calls[0]"],
    ["messages.2.content.2.text: text content blocks must be non-empty", "empty_text", "messages[5].content[1]"],
    ["messages.99.content.0: Input should be a valid string", "wrong_type", "messages"],
    ["system: text content blocks must be non-empty", "empty_text", "messages[0].content"],
    [
      "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
      "schema",
      "tools[0].function.parameters",
    ],
    [
      "tools.0.custom.input_schema.properties.city.type: Input should be a valid string",
      "schema",
      "tools[0].function.parameters.properties.city.type",
    ],
    [
      "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
      "schema",
      "response_format.json_schema.schema",
    ],
    ["output_config.effort: Input should be 'low', 'medium' or 'high'", null, "reasoning_effort"],
    ["adaptive thinking is not supported on this model", "reasoning_effort", "reasoning_effort"],
    [
      "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
      "unsupported_value",
      "temperature",
    ],
    ["stop_sequences.0: each stop sequence must contain non-whitespace", "empty_text", "stop[0]"],
    ["max_tokens: 5000 > 4096, which is the maximum allowed number of output tokens", "out_of_range", "max_tokens"],
    ["max_tokens: 64000 > 4096, which is the maximum allowed number of output tokens", "out_of_range", null, unbounded],
    ["input length and `max_tokens` exceed context limit: 199000 + 5000 > 200000, decrease either", "too_long", "max_tokens"],
    [
      "input length and `max_tokens` exceed context limit: 199000 + 5000 > 200000, decrease either",
      "too_long",
      "messages",
      unbounded,
    ],
    ["prompt is too long: 204000 tokens > 200000 maximum", "too_long", "messages"],
    ["metadata.user_id: Extra inputs are not permitted", "unknown_field", null],
    ["something new", null, null],
  ])("%s", (message, why, param, sent = bounded) => {
    const refused = rejected("anthropic", told(message), { sent });
    expect([refused.why, refused.param]).toEqual([why, param]);
  });
});

describe("Google's format", () => {
  const told = (message: string, fields: string[] = []) => ({
    error: {
      code: 400,
      message,
      status: "INVALID_ARGUMENT",
      details: [
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: fields.map((field) => ({ field, description: message })),
        },
      ],
    },
  });
  const declared = "tools[0].function_declarations[0].parameters.properties[1].value";

  test.each<Case>([
    [
      `Invalid JSON payload received. Unknown name "const" at '${declared}': Cannot find field.`,
      "schema",
      "tools[0].function.parameters.properties.days",
    ],
    [
      `Invalid JSON payload received. Unknown name "const" at 'request.${declared}': Cannot find field.`,
      "schema",
      "tools[0].function.parameters.properties.days",
    ],
    [
      "* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name.",
      "unsupported_value",
      "tools[0].function.name",
    ],
    ["Invalid value at 'generation_config.temperature' (TYPE_FLOAT), \"x\"", "wrong_type", "temperature"],
    [
      "Invalid JSON payload received. Unknown name \"thinkingLevel\" at 'generation_config.thinking_config': Cannot find field.",
      "reasoning_effort",
      "reasoning_effort",
    ],
    [
      "* GenerateContentRequest.generation_config.response_json_schema: the schema is too complex",
      "schema",
      "response_format.json_schema.schema",
    ],
    [
      "Unable to submit request because it has a maxOutputTokens value of 5000 but the supported range is from 1 (inclusive) to 4097 (exclusive).",
      "out_of_range",
      "max_tokens",
    ],
    ["The input token count (2845475) exceeds the maximum number of tokens allowed (1048576).", "too_long", "messages"],
    [
      "* GenerateContentRequest.contents[1].parts[2].function_call.name: must be set",
      null,
      "messages[2].tool_calls[1].function.name",
    ],
    [
      "* GenerateContentRequest.contents[2].parts[1].function_response.response: must be an object",
      "wrong_type",
      "messages[4].content",
    ],
    ["* GenerateContentRequest.contents[2].parts[2].text: must not be empty", "empty_text", "messages[5].content[1]"],
    ["* GenerateContentRequest.system_instruction.parts[0].text: must not be empty", "empty_text", "messages[0].content"],
    [
      "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      "tool_pairs",
      null,
    ],
    ["Request contains an invalid argument.", null, null],
  ])("%s", (message, why, param) => {
    const refused = rejected("google", told(message));
    expect([refused.why, refused.param]).toEqual([why, param]);
  });

  test("the field of a violation comes before those of the text, and the error may be in a list", () => {
    const refused = rejected("google", [told("Invalid value", ["generation_config.stop_sequences[0]"])]);
    expect(refused.param).toBe("stop[0]");
  });
});

describe("OpenAI's format, as its vendors speak it", () => {
  const openai = (message: string, param: string | null, code: string | null = null) => ({
    error: { message, type: "invalid_request_error", param, code },
  });
  const vllm = (message: string) => ({ object: "error", message, type: "BadRequestError", param: null, code: 400 });
  const serde = "Failed to deserialize the JSON body into the target type: ";
  const pydantic = (type: string, loc: unknown[]) => ({ type, loc, msg: "x", input: "CANARY" });

  test.each<[name: string, error: unknown, why: RejectionCause | null, param: string | null, sent?: Sent]>([
    [
      "OpenAI: a result without its call",
      openai("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", "messages.[3].role"),
      "tool_pairs",
      "messages[3].role",
    ],
    [
      "OpenAI: a function's schema",
      openai("Invalid schema for function 'weather'", "tools[0].function.parameters", "invalid_function_parameters"),
      "schema",
      "tools[0].function.parameters",
    ],
    [
      "OpenAI: a schema, by the names of Responses",
      openai("Invalid schema for function 'weather'", "tools[0].parameters", "invalid_function_parameters"),
      "schema",
      "tools[0]",
    ],
    ["OpenAI: a value", openai("Unsupported value", "temperature", "unsupported_value"), "unsupported_value", "temperature"],
    [
      "OpenAI: the other name of the bound",
      openai("Unsupported parameter", "max_completion_tokens", "unsupported_parameter"),
      "unsupported_value",
      "max_tokens",
    ],
    [
      "OpenAI: a bound that the client did not give",
      openai("Unsupported parameter", "max_tokens", "unsupported_parameter"),
      "unsupported_value",
      null,
      unbounded,
    ],
    [
      "OpenAI: a field that Weir adds",
      openai("Unknown parameter: 'stream_options'.", "stream_options", "unknown_parameter"),
      "unknown_field",
      null,
    ],
    [
      "OpenAI: too long",
      openai("This model's maximum context length is 128000 tokens", "messages", "context_length_exceeded"),
      "too_long",
      "messages",
    ],
    [
      "Azure: the filter",
      { error: { code: "content_filter", param: "prompt", message: "x", innererror: { code: "ResponsibleAIPolicyViolation" } } },
      "content_policy",
      "messages",
    ],
    [
      "vLLM: prompt and output",
      vllm(
        "This model's maximum context length is 131072 tokens. However, you requested 135000 tokens (130000 in the messages, 5000 in the completion).",
      ),
      "too_long",
      "max_tokens",
    ],
    [
      "vLLM: the same, newer",
      vllm(
        "This model's maximum context length is 128000 tokens. However, you requested 5000 output tokens and your prompt contains at least 123001 input tokens.",
      ),
      "too_long",
      "max_tokens",
    ],
    [
      "vLLM: the same without a bound of the client",
      vllm(
        "This model's maximum context length is 131072 tokens. However, you requested 145536 tokens (80000 in the messages, 65536 in the completion).",
      ),
      "too_long",
      "messages",
      unbounded,
    ],
    [
      "vLLM: the repr of Python",
      vllm("[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Extra inputs are not permitted', 'input': 7}]"),
      "unknown_field",
      "seed",
    ],
    [
      "Mistral: pydantic in the message",
      { object: "error", message: { detail: [pydantic("extra_forbidden", ["body", "messages", 1, "user", "name"])] } },
      "unknown_field",
      "messages[1].name",
    ],
    [
      "Mistral: pydantic in a text",
      {
        object: "error",
        message: JSON.stringify({ detail: [pydantic("extra_forbidden", ["body", "presence_penalty"])] }),
        code: "1000",
      },
      "unknown_field",
      "presence_penalty",
    ],
    [
      "Mistral: the order of calls",
      {
        object: "error",
        message: "Not the same number of function calls and responses",
        type: "invalid_request_message_order",
        code: "3230",
      },
      "tool_pairs",
      null,
    ],
    [
      "Mistral: an id",
      { object: "error", message: "Tool call id was call_a but must be a-z, A-Z, 0-9, with a length of 9.", code: "3280" },
      "out_of_range",
      null,
    ],
    ["FastAPI", { detail: [pydantic("less_than_equal", ["body", "temperature"])] }, "out_of_range", "temperature"],
    [
      "FastAPI: a type within a list",
      { detail: [pydantic("string_type", ["body", "messages", 5, "content", "list[Part]", 1, "text"])] },
      "wrong_type",
      "messages[5].content[1].text",
    ],
    [
      "DeepSeek",
      openai(
        `${serde}messages[5]: invalid type: sequence, expected a string at line 1 column 33928`,
        null,
        "invalid_request_error",
      ),
      "wrong_type",
      "messages[5]",
    ],
    [
      "DeepSeek: a role",
      openai(`${serde}messages[0].role: unknown variant \`developer\`, expected one of \`system\`, \`user\``, null),
      "message_order",
      "messages[0].role",
    ],
    [
      "Groq",
      openai(
        "'messages.1' : for 'role:user' the following must be satisfied[('messages.1.name' : property 'messages.1.name' is unsupported)]",
        null,
      ),
      "unknown_field",
      "messages[1].name",
    ],
    [
      "Cerebras",
      {
        message: "messages.1.user.name: property 'messages.1.user.name' is unsupported",
        type: "invalid_request_error",
        param: "validation_error",
        code: "wrong_api_format",
      },
      "unknown_field",
      "messages[1].name",
    ],
    [
      "Moonshot",
      openai(
        "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.city': type is not defined>",
        null,
      ),
      "schema",
      "tools",
    ],
    ["Fireworks", openai("Extra inputs are not permitted, field: 'seed', value: 7", null), "unknown_field", "seed"],
    [
      "xAI",
      { code: "Client specified an invalid argument", error: "Argument not supported on this model: presencePenalty" },
      "unknown_field",
      "presence_penalty",
    ],
    [
      "OpenRouter: the error of another",
      {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: { raw: JSON.stringify(openai("x", "temperature", "unsupported_value")), provider_name: "x" },
        },
      },
      "unsupported_value",
      "temperature",
    ],
    ["no JSON", "Bad request: `seed` is not supported", "unsupported_value", "seed"],
    ["words without a field", openai("The model does not support tools or a user", null), "tools", null],
    ["nothing", "", null, null],
  ])("%s", (_, error, why, param, sent = bounded) => {
    const refused = rejected("openai", error, { sent, status: 422 });
    expect([refused.why, refused.param]).toEqual([why, param]);
  });
});
