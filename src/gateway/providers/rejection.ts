/**
 * Why a provider refused a request: a closed set of causes, each with our own sentence, and the fields that the cause is about. The
 * provider's codes decide first, then the shortest phrases that identify a cause in its text, then the field alone. The text is only
 * matched: what clients read is ours, and a field is shown under the client's own name. An unknown refusal stays one, with the general
 * message. A wrong cause would mislead the client, so uncertain phrases are left out.
 */
import { type FieldPath, readTold, type Told } from "./provider-error.ts";
import { UpstreamFailure } from "./provider.ts";
import { contextHint, effortHint, filterHint } from "./wire/errors.ts";
import { parseJson } from "./wire/json.ts";

/** A request that its provider refused, with the cause in our words and the fields that the provider named. */
export class Rejection extends UpstreamFailure {
  override name = "Rejection";
  /** null: not recognized. */
  readonly why: RejectionCause | null;
  /** Fields of a chat that the cause is about, the likeliest first: `max_tokens` stands for the bound on output, however the client calls it. */
  readonly fields: readonly FieldPath[];
  /** Fields as the provider names them, the likeliest first. This is its text: show only what the request itself has. */
  readonly paths: readonly FieldPath[];
  /** The field of the client's request, once it is found there; null: none. */
  param: string | null = null;

  constructor(detail: string, { why, fields, paths }: Pick<Rejection, "why" | "fields" | "paths">) {
    super("upstream_rejected", detail, why === null ? null : rejectionCauses[why]);
    this.why = why;
    this.fields = fields;
    this.paths = paths;
  }
}

const outputNames = [
  "max_tokens",
  "max_completion_tokens",
  "max_new_tokens",
  "maxOutputTokens",
  "in the completion",
  "output tokens",
];

/**
 * Adds the cause and the fields that the provider's error names, if it refused the request. Other failures are returned as they are.
 * @param body the error as it came, parsed or not
 * @param status of the response; absent: 200
 */
export function withCause(failure: UpstreamFailure, body: unknown, status?: number): UpstreamFailure {
  if (failure.code !== "upstream_rejected") return failure;
  const told = readTold(typeof body === "string" ? (parseJson(body) ?? body) : body);
  const why = failure.hintedCause ?? (status === 413 ? "too_large" : causeOf(told));
  if (why === "too_long") return new Rejection(failure.message, { why, fields: tooLong(told.texts), paths: [] });
  const fields = why === "reasoning_effort" ? [["reasoning_effort"]] : [];
  const rejection = new Rejection(failure.message, { why, fields, paths: told.paths });
  rejection.isOfThoughts = failure.isOfThoughts;
  return rejection;
}

/** The prompt, or the prompt and the requested output together, where the provider mentions the output. */
function tooLong(texts: readonly string[]): FieldPath[] {
  return texts.some((text) => outputNames.some((name) => text.includes(name))) ? [["max_tokens"], ["messages"]] : [["messages"]];
}

/** The sentences that clients read. */
export const rejectionCauses = {
  too_long: contextHint.hint,
  too_large: "The request is larger than the provider accepts",
  content_policy: filterHint.hint,
  reasoning_effort: effortHint.hint,
  schema: "The provider does not support this JSON schema",
  tool_pairs: "Each tool call needs its result in the messages right after it, and each result its call",
  message_order: "The provider does not accept messages of these roles in this order",
  empty_text: "The provider requires text that is not empty",
  media: "The model accepts only text",
  tools: "The model does not support tools, or not in this way",
  model: "The provider does not have the model",
  unknown_field: "The provider does not know the field",
  missing_field: "The provider requires a field that is missing",
  wrong_type: "The value has a type that the provider does not accept",
  out_of_range: "The value is larger, smaller or longer than the provider accepts",
  unsupported_value: "The model does not support the field, or not with this value",
} as const;

export type RejectionCause = keyof typeof rejectionCauses;

/** Codes and types with one meaning, in lower case, including those of pydantic, which most Python servers use. */
const causeByWord = new Map<string, RejectionCause>([
  ["context_length_exceeded", "too_long"],
  ["model_max_prompt_tokens_exceeded", "too_long"],
  ["request_too_large", "too_large"],
  ["content_filter", "content_policy"],
  ["content_policy_violation", "content_policy"],
  ["invalid_function_parameters", "schema"],
  ["invalid_json_schema", "schema"],
  ["model_not_found", "model"],
  ["model_not_available", "model"],
  ["model_not_supported", "model"],
  ["unsupported_model", "model"],
  ["invalid_model", "model"],
  ["deploymentnotfound", "model"],
  ["unknown_parameter", "unknown_field"],
  ["extra_forbidden", "unknown_field"],
  ["missing_required_parameter", "missing_field"],
  ["missing", "missing_field"],
  ["invalid_type", "wrong_type"],
  ["string_above_max_length", "out_of_range"],
  ["array_above_max_length", "out_of_range"],
  ["integer_above_max_value", "out_of_range"],
  ["integer_below_min_value", "out_of_range"],
  ["decimal_above_max_value", "out_of_range"],
  ["less_than", "out_of_range"],
  ["less_than_equal", "out_of_range"],
  ["greater_than", "out_of_range"],
  ["greater_than_equal", "out_of_range"],
  ["string_too_long", "out_of_range"],
  ["string_too_short", "out_of_range"],
  ["too_long", "out_of_range"],
  ["too_short", "out_of_range"],
  ["unsupported_parameter", "unsupported_value"],
  ["unsupported_value", "unsupported_value"],
  ["literal_error", "unsupported_value"],
  ["enum", "unsupported_value"],
  ["invalid_value", "unsupported_value"],
]);

/**
 * The shortest phrases that identify a cause in a provider's text, in lower case; `…` stands for anything between. The first cause with a
 * matching phrase counts, so specific ones come first.
 */
const causeByPhrase: readonly (readonly [RejectionCause, readonly string[]])[] = [
  [
    "tool_pairs",
    [
      "tool_use…tool_result",
      "tool_result…tool_use",
      "must be a response to a prece",
      "must be followed by tool messages",
      "tool_call_ids did not",
      "tool_call_id…not found",
      "number of function calls",
      "number of function response",
      "function call turn",
      "function response turn",
      "unexpected tool call id",
      "no tool call found",
    ],
  ],
  [
    "message_order",
    [
      "roles must alternate",
      "unexpected role",
      "invalid role",
      "unsupported role",
      "unknown role",
      "must end with a user",
      "last message",
      "assistant message prefill",
      "first message",
      "first content",
      "only messages with role",
      "system message…beginning",
      "unknown variant `developer",
      "unknown variant `system",
      "unknown variant `tool",
    ],
  ],
  [
    "schema",
    [
      "json schema",
      "json_schema",
      "jsonschema",
      "invalid schema",
      "input_schema",
      "additionalproperties",
      "grammar",
      "schema…too complex",
      "schema…not supported",
      "unsupported schema",
    ],
  ],
  [
    "content_policy",
    [
      "content policy",
      "content management policy",
      "content filter",
      "content_filter",
      "usage policy",
      "inappropriate",
      "moderation",
      "flagged",
    ],
  ],
  ["reasoning_effort", ["thinking", "reasoning_effort", "reasoning effort", "reasoning.effort", "budget_tokens"]],
  [
    "empty_text",
    [
      "non-empty",
      "nonempty",
      "not be empty",
      "not be blank",
      "is empty",
      "empty content",
      "empty message",
      "empty text",
      "not specified",
      "non-whitespace",
    ],
  ],
  [
    "tools",
    [
      "tool use is not",
      "tools is not",
      "tools are not",
      "tool calling is not",
      "tool choice is not",
      "tool_choice…not supported",
      "not support tool",
      "not support function",
      "tool-call-parser",
      "enable-auto-tool-choice",
    ],
  ],
  ["media", ["image", "audio", "vision", "multimodal", "multi-modal"]],
  [
    "model",
    ["model…does not exist", "model…not found", "model…not exist", "decommissioned", "no such model", "not a valid model"],
  ],
  [
    "unknown_field",
    [
      "extra inputs are not permitted",
      "extra fields not permitted",
      "unknown name",
      "unknown field",
      "unknown parameter",
      "unrecognized request argument",
      "unrecognized field",
      "unrecognized parameter",
      "unexpected keyword",
      "unexpected field",
      "unexpected property",
      "additional properties",
      "property…is unsupported",
      "argument not supported",
    ],
  ],
  [
    "missing_field",
    ["field required", "missing field", "missing required", "missing a ", "is required", "required property", "is missing"],
  ],
  [
    "wrong_type",
    [
      "invalid type",
      "wrong type",
      "not of type",
      "(type_",
      "expected a string",
      "expected an object",
      "expected an array",
      "valid string",
      "valid integer",
      "valid number",
      "valid boolean",
      "valid list",
      "valid dictionary",
      "must be a string",
      "must be a number",
      "must be an integer",
      "must be a boolean",
      "must be an object",
      "must be an array",
      "must be a list",
      "did not match any variant",
      "cannot start list",
    ],
  ],
  [
    "out_of_range",
    [
      " than",
      "at most",
      "at least",
      "out of range",
      "range: ",
      "supported range",
      "maximum",
      "minimum",
      "exceed",
      "too large",
      "too long",
      "too many",
      "too high",
      "too low",
      "too small",
      "too short",
      "with a length of",
    ],
  ],
  [
    "unsupported_value",
    [
      "not support",
      "unsupported",
      "not allowed",
      "not permitted",
      "not available",
      "not valid",
      "invalid value",
      "invalid function name",
      "unknown variant",
      "must be one of",
      "cannot be used",
      "cannot both",
      "deprecated",
    ],
  ],
];

/** The fields that hold a schema, whose inner names are JSON Schema's. */
const schemaFields = new Set([
  "input_schema",
  "parameters",
  "parameters_json_schema",
  "response_schema",
  "response_json_schema",
  "json_schema",
  "schema",
]);

/** null: not recognized. */
function causeOf({ words, texts, paths }: Told): RejectionCause | null {
  const cause = causeByWords(words) ?? causeByTexts(texts);
  const isInSchema = paths.some((path) => path.length > 1 && path.some((name) => schemaFields.has(name)));
  return isInSchema && cause !== "content_policy" && cause !== "too_long" ? "schema" : cause;
}

function causeByWords(words: readonly string[]): RejectionCause | null {
  for (const word of words) {
    const cause = causeByWord.get(word);
    if (cause !== undefined) return cause;
  }
  return words.some((word) => word.endsWith("_type") || word.endsWith("_parsing")) ? "wrong_type" : null;
}

function causeByTexts(texts: readonly string[]): RejectionCause | null {
  const lower = texts.map((text) => text.toLowerCase());
  for (const [cause, phrases] of causeByPhrase) {
    if (phrases.some((phrase) => lower.some((text) => hasPhrase(text, phrase)))) return cause;
  }
  return null;
}

function hasPhrase(text: string, phrase: string): boolean {
  let at = 0;
  for (const part of phrase.split("…")) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return true;
}
