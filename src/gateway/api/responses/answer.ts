/**
 * The response object: what the request asked for, what came of it, and the counts; and errors in the form of this API.
 * An answer repeats fields of the request. They become text once, when the request has been read, so that an open stream holds no parsed
 * body. The two events before the first item leave out the largest of them, instructions and tools: the client has them, and the last
 * event repeats them.
 * The schemas are next to the code that writes the answer, and the OpenAPI description is made from them.
 */
import type { LongTexts } from "../../../http/long-texts.ts";
import { Type, type Static } from "@sinclair/typebox";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { errorBody, errorResponse, type ErrorShape, type GatewayError } from "../../../kernel/errors.ts";
import { jsonResponse } from "../../../kernel/json.ts";
import { formatUsd, usdAsJsonNumber } from "../../../kernel/money.ts";
import { UpstreamFailure } from "../../providers/provider.ts";
import { UsageBody, type BilledUsage } from "../answer/answer.ts";
import { tooLong } from "../answer/upstream-errors.ts";
import { repeatedTools } from "./tools.ts";

// Items

const itemId = (prefix: string) => Type.String({ description: `Id of the item: \`${prefix}_\`, and its place in the answer` });
const callId = Type.String({ description: "Id of the call; send it back unchanged with the tool's result" });
const status = Type.Union([Type.Literal("in_progress"), Type.Literal("completed"), Type.Literal("incomplete")], {
  description: "`incomplete`: the answer ended within the item",
});
const toolName = Type.String({ description: "Name of the tool" });
const namespace = Type.Optional(Type.String({ description: "Namespace of the tool, if it is in one" }));
const itemType = <Word extends string>(word: Word) => Type.Literal(word, { description: "The kind of item" });

const Alternative = {
  token: Type.String({ description: "The token's text" }),
  logprob: Type.Number({ description: "Natural logarithm of its probability" }),
  bytes: Type.Array(Type.Integer(), { description: "The token in UTF-8; empty if the provider does not send it" }),
};
export const TextLogprob = Type.Object({
  ...Alternative,
  top_logprobs: Type.Array(Type.Object(Alternative), { description: "The likeliest tokens at this position" }),
});
export type TextLogprob = Static<typeof TextLogprob>;

export const TextPart = Type.Union([
  Type.Object({
    type: Type.Literal("output_text", { description: "The kind of part" }),
    text: Type.String({ description: "The text of the answer" }),
    annotations: Type.Unsafe<never[]>(
      Type.Array(Type.Object({}), { maxItems: 0, description: "None: no tool of a provider runs" }),
    ),
    logprobs: Type.Array(TextLogprob, { description: "Log probabilities, if `include` asks for them" }),
  }),
  Type.Object({
    type: Type.Literal("refusal", { description: "The kind of part" }),
    refusal: Type.String({ description: "Why the model refuses, in its own words" }),
  }),
]);
export type TextPart = Static<typeof TextPart>;

export const SummaryPart = Type.Object({
  type: Type.Literal("summary_text", { description: "The only kind" }),
  text: Type.String({ description: "The model's reasoning, as far as its provider shows it" }),
});

export const OutputItem = Type.Union([
  Type.Object({
    id: itemId("rs"),
    type: itemType("reasoning"),
    summary: Type.Array(SummaryPart, { maxItems: 1, description: "Empty if the provider shows nothing of it" }),
    encrypted_content: Type.Optional(
      Type.String({ description: "Send the item back unchanged: only the model that thought gets its thought back" }),
    ),
  }),
  Type.Object({
    id: itemId("msg"),
    type: itemType("message"),
    status,
    role: Type.Literal("assistant", { description: "The speaker" }),
    content: Type.Array(TextPart, { description: "What the model says" }),
  }),
  Type.Object({
    id: itemId("fc"),
    type: itemType("function_call"),
    status,
    call_id: callId,
    name: toolName,
    namespace,
    arguments: Type.String({ description: "The arguments as a JSON text, as the model wrote it" }),
  }),
  Type.Object({
    id: itemId("ctc"),
    type: itemType("custom_tool_call"),
    status,
    call_id: callId,
    name: toolName,
    namespace,
    input: Type.String({ description: "The input as the model wrote it" }),
  }),
  Type.Object({
    id: itemId("tsc"),
    type: itemType("tool_search_call"),
    status,
    call_id: callId,
    execution: Type.Literal("client", { description: "You search" }),
    arguments: Type.Unknown({ description: "The arguments" }),
  }),
]);
export type OutputItem = Static<typeof OutputItem>;

// Usage

const { prompt_tokens, prompt_tokens_details, completion_tokens, completion_tokens_details, total_tokens } = UsageBody.properties;
const ResponseUsage = Type.Object({
  input_tokens: prompt_tokens,
  input_tokens_details: prompt_tokens_details,
  output_tokens: completion_tokens,
  output_tokens_details: completion_tokens_details,
  total_tokens,
  cost: UsageBody.properties.cost,
  cost_details: UsageBody.properties.cost_details,
});
type ResponseUsage = Static<typeof ResponseUsage>;

export function responseUsage(usage: BilledUsage): ResponseUsage {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens, cost } = usage;
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: promptTokens + completionTokens,
    ...(cost !== undefined && { cost: usdAsJsonNumber(cost), cost_details: { cost_usd: formatUsd(cost) } }),
  };
}

// The response

const failureCodes = ["server_error", "rate_limit_exceeded", "invalid_prompt", "context_length_exceeded"] as const;
const orNull = <Value extends Parameters<typeof Type.Union>[0][number]>(value: Value, description: string) =>
  Type.Union([value, Type.Null()], { description });
const same = (field: string) => ({ description: `\`${field}\` of the request, or its default` });

export const ResponseBody = Type.Object({
  id: Type.String({ pattern: "^resp_[a-z2-7]{26}$", description: "`resp_` and the generation's id. Nothing is kept under it" }),
  object: Type.Literal("response", { description: "The kind of object" }),
  created_at: Type.Integer({ description: "When the request was accepted, in Unix seconds" }),
  completed_at: orNull(Type.Integer(), "When the answer was complete, in Unix seconds; null: it is not"),
  status: Type.Union(
    (["in_progress", "completed", "incomplete", "failed"] as const).map((word) => Type.Literal(word)),
    { description: "How the answer ended" },
  ),
  error: orNull(
    Type.Object({
      code: Type.Union(
        failureCodes.map((code) => Type.Literal(code)),
        { description: "The kind of failure" },
      ),
      message: Type.String({ description: "For people; may change" }),
    }),
    "Why it failed",
  ),
  incomplete_details: orNull(
    Type.Object({
      reason: Type.Union([Type.Literal("max_output_tokens"), Type.Literal("content_filter")], { description: "What cut it" }),
    }),
    "Why it is incomplete",
  ),
  model: Type.String({ description: "The model as the request names it; the log has the catalog's id" }),
  output: Type.Array(OutputItem, { description: "The items of the answer" }),
  instructions: orNull(Type.String(), "The request's; null in the events before the first item"),
  tools: Type.Array(Type.Object({}), { description: "The request's, without those that were left out; empty in these events" }),
  metadata: Type.Record(Type.String(), Type.String(), same("metadata")),
  parallel_tool_calls: Type.Boolean(same("parallel_tool_calls")),
  temperature: orNull(Type.Number(), "The request's"),
  top_p: orNull(Type.Number(), "The request's"),
  top_logprobs: Type.Integer(same("top_logprobs")),
  tool_choice: Type.Unknown(same("tool_choice")),
  text: Type.Object({}, same("text")),
  reasoning: Type.Object({}, same("reasoning")),
  max_output_tokens: orNull(Type.Integer(), "The bound on tokens of the request"),
  previous_response_id: Type.Null({ description: "Nothing is kept" }),
  store: Type.Literal(false, { description: "Nothing is kept" }),
  background: Type.Literal(false, { description: "The answer is sent at once" }),
  truncation: Type.Literal("disabled", { description: "No prompt is cut" }),
  service_tier: Type.Literal("default", { description: "The provider's default tier" }),
  access_programs: Type.Null({ description: "None" }),
  usage: orNull(ResponseUsage, "The charged usage; null until the end"),
});

/** The fields of the request that an answer repeats, as JSON without braces. */
export interface RepeatedFields {
  instructions: string;
  tools: string;
  others: string;
}

/** @param texts of the request; null: it has none */
export function repeatedFields(request: JsonObject, texts: LongTexts | null): RepeatedFields {
  const text = isJsonObject(request["text"]) ? request["text"] : {};
  const reasoning = isJsonObject(request["reasoning"]) ? request["reasoning"] : {};
  const tools = repeatedTools(request["tools"]);
  const others = {
    metadata: request["metadata"] ?? {},
    parallel_tool_calls: request["parallel_tool_calls"] ?? true,
    temperature: request["temperature"] ?? null,
    top_p: request["top_p"] ?? null,
    top_logprobs: request["top_logprobs"] ?? 0,
    tool_choice: request["tool_choice"] ?? "auto",
    text: { ...withoutNulls(text), format: isJsonObject(text["format"]) ? withoutNulls(text["format"]) : { type: "text" } },
    reasoning: { effort: null, summary: null, ...withoutNulls(reasoning) },
    max_output_tokens: request["max_output_tokens"] ?? null,
    previous_response_id: null,
    store: false,
    background: false,
    truncation: "disabled",
    service_tier: "default",
    access_programs: null,
  };
  return {
    instructions: JSON.stringify(request["instructions"] ?? null),
    tools: texts?.written(tools) ?? JSON.stringify(tools),
    others: JSON.stringify(others).slice(1, -1),
  };
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

export interface ResponseState {
  /** The generation's id. */
  id: string;
  created: number;
  model: string;
  status: Static<typeof ResponseBody>["status"];
  completedAt?: number;
  error?: { code: string; message: string };
  cutBy?: "max_output_tokens" | "content_filter";
  /** The items as JSON. */
  output?: readonly string[];
  /** null: the answer has not ended. */
  usage: BilledUsage | null;
}

/** The object as JSON. Before the end it has no instructions and tools. */
export function responseText(state: ResponseState, { instructions, tools, others }: RepeatedFields): string {
  const { id, created, model, completedAt, error, cutBy, output, usage } = state;
  const head = {
    id: responseId(id),
    object: "response",
    created_at: created,
    completed_at: completedAt ?? null,
    status: state.status,
    error: error ?? null,
    incomplete_details: cutBy === undefined ? null : { reason: cutBy },
    model,
  };
  const large = usage === null ? '"instructions":null,"tools":[]' : `"instructions":${instructions},"tools":${tools}`;
  const counts = usage === null ? "null" : JSON.stringify(responseUsage(usage));
  return `${JSON.stringify(head).slice(0, -1)},"output":[${(output ?? []).join(",")}],${large},${others},"usage":${counts}}`;
}

function responseId(generation: string): string {
  return `resp_${idEnd(generation)}`;
}

/** What ids of items share with the generation's. */
export function idEnd(generation: string): string {
  return generation.slice(generation.indexOf("-") + 1);
}

// Errors

/** Those of a chat, except that a prompt that is too long has the code on which agents of this API act. */
export const responsesErrors: ErrorShape = {
  response(error, headers) {
    if (tooLong(error) === null) return errorResponse(error, headers);
    const body = { error: { ...errorBody(error).error, code: "context_length_exceeded" } };
    return jsonResponse(body, { status: error.status, headers: { ...headers, ...error.headers } });
  },
};

/** The answer to a request for an earlier response. */
export function notKept(): Response {
  return refusal(404, "not_found", "There is no response with this id: nothing is kept between requests");
}

/** The answer to a request for a WebSocket. */
export function noSocket(): Response {
  const message = "Responses are streamed as server-sent events, not over a WebSocket: send the request with POST";
  return refusal(426, "upgrade_required", message, { upgrade: "HTTP/1.1" });
}

/** An error that only this API has. */
function refusal(status: number, code: string, message: string, headers: Record<string, string> = {}): Response {
  return jsonResponse({ error: { message, type: "invalid_request_error", code, param: null } }, { status, headers });
}

/** How the last event of a stream names a failure. */
export function failureOf(error: GatewayError): { code: (typeof failureCodes)[number]; message: string } {
  return { code: failureCode(error), message: error.message };
}

function failureCode(error: GatewayError): (typeof failureCodes)[number] {
  if (tooLong(error) !== null) return "context_length_exceeded";
  const code = error.cause instanceof UpstreamFailure ? error.cause.code : error.code;
  if (code === "upstream_rejected") return "invalid_prompt";
  return code === "upstream_rate_limited" ? "rate_limit_exceeded" : "server_error";
}
