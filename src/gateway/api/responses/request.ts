/**
 * The fields of a request for a response, and how it is read as a chat.
 * The table has every field of the official schema but `model`, `input` and `instructions`, in the schema's order
 * (https://github.com/openai/openai-openapi, CreateResponse), and additions after them. A field that a chat has too is the same row.
 * Nothing is kept between requests, so fields that need kept items are refused, and the message says what to do instead. Agents send some
 * hints to every model: those that the model does not take, and a bound above its maximum, are left out and listed in `x-ignored-fields`.
 * What would change the form of the answer is refused, as in a chat.
 */
import { Type } from "@sinclair/typebox";
import type { Clock } from "../../../kernel/clock.ts";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { GatewayError, invalidRequest, unsupportedParameter } from "../../../kernel/errors.ts";
import { reasoningEfforts } from "../../models/model.ts";
import type { ChatBody } from "../../providers/provider.ts";
import type { FieldPath } from "../../providers/provider-error.ts";
import { signerOf } from "../../providers/wire/answers.ts";
import { acceptOnly, chatFields, outputLimit, outputMinimum, requireSupport, type ChatField } from "../request/chat-fields.ts";
import { parallelToolCalls, toolChoice } from "../request/chat-parts.ts";
import { knownFields, type RequestFormat, type RequestOptions } from "../request/chat-request.ts";
import {
  added,
  anyObject,
  anyString,
  boolean,
  checkOnly,
  identifier,
  nullable,
  objectOf,
  oneOf,
  reader,
  readField,
  readInteger,
  required,
  type Field,
  type ReadContext,
  type Reader,
} from "../request/read-value.ts";
import { catalogId, supports, type SupportWord } from "../request/requested-model.ts";
import { repeatedFields } from "./answer.ts";
import { responsesAnswer } from "./events.ts";
import { inputPath, readItems } from "./items.ts";
import { readToolFields, toolNamesOf, toolPath, toolsSchema } from "./tools.ts";

/** @param clock says when an answer is complete */
export function responsesFormat(clock: Clock): RequestFormat {
  const now = (): number => Math.floor(clock.now() / 1_000);
  return {
    ...readsResponses,
    answer: ({ chat, request, texts, ignored }) =>
      responsesAnswer({
        requested: chat.requested,
        repeated: repeatedFields(request, texts),
        names: toolNamesOf(request),
        ignored,
        now,
      }),
  };
}

// Readers. Where a chat does not have the field, its reader returns the fields that a chat has for it.

const ofChat = new Map(chatFields.map((field) => [field.name, field]));

function asInChat(name: string): ChatField {
  const field = ofChat.get(name);
  if (field === undefined) throw new Error(`A chat has no field "${name}"`);
  return field;
}

/** Other modules read these, together with the fields on which they depend. */
function readElsewhere(schema: Reader["schema"]): Reader {
  return reader(schema, () => undefined);
}

const remedy = "nothing is kept between requests, so send the whole conversation";

const needsKept: Reader = reader(Type.Never(), (_, at) => {
  throw unsupportedParameter(at, `${at} is not supported: ${remedy}`);
});

const store: Reader = reader(Type.Literal(false), (value, at) => {
  if (value === false) return undefined;
  throw unsupportedParameter(at, `${at}: only store=false is supported: ${remedy}`);
});

const refused: Reader = reader(Type.Never(), (_, at) => {
  throw unsupportedParameter(at, `${at} is not supported`);
});

const probabilities = "message.output_text.logprobs";
const included = ["reasoning.encrypted_content", probabilities];

const include: Reader = reader(Type.Array(Type.Union(included.map((word) => Type.Literal(word)))), (value, at, context) => {
  if (!Array.isArray(value)) throw invalidRequest(at, `${at} must be an array`);
  for (const [index, word] of value.entries()) {
    const place = `${at}[${index}]`;
    if (!included.includes(word)) throw unsupportedParameter(place, `${place}: only ${included.join(" and ")} are supported`);
    if (word === probabilities) requireSupport("logprobs", place, context);
  }
  return value.includes(probabilities) ? { logprobs: true } : undefined;
});

const topLogprobs: Reader = reader(Type.Integer({ minimum: 0, maximum: 20 }), (value, at, { request }) => {
  const count = readInteger(value, at, { min: 0, max: 20 });
  if (count === 0) return undefined;
  const asked = request["include"];
  if (Array.isArray(asked) && asked.includes(probabilities)) return { top_logprobs: count };
  throw invalidRequest(at, `${at} needs include to have ${probabilities}`);
});

const maxOutputTokens: Reader = reader(Type.Integer({ minimum: 1 }), (value, at, { model, ignored }) => {
  const tokens = readInteger(value, at, { min: outputMinimum(model), max: Number.MAX_SAFE_INTEGER });
  if (tokens > outputLimit(model)) ignored?.add(at);
  return undefined;
});

const reasoningFields = objectOf({
  effort: nullable(oneOf(...reasoningEfforts), "How much the model reasons before it answers"),
  summary: nullable(checkOnly(oneOf("auto", "concise", "detailed")), "Without effect: what a provider shows is sent"),
  generate_summary: nullable(checkOnly(oneOf("auto", "concise", "detailed")), "Older name of `summary`"),
  context: nullable(checkOnly(anyString), "Without effect: all thoughts of the model in `input` are given back to it"),
  mode: nullable(acceptOnly(["standard"], "standard"), "Only the standard mode is supported"),
});

const reasoning: Reader = reader(reasoningFields.schema, (value, at, context) => {
  const { effort } = reasoningFields(value, at, context) as JsonObject;
  if (effort === undefined || !isTaken("reasoning", effort === "none" ? null : `${at}.effort`, context)) return undefined;
  return { reasoning_effort: effort };
});

const formatType = (...words: string[]): Field => required(oneOf(...words), "Text, any JSON object, or JSON by a schema");
const anyFormatType = formatType("text", "json_object", "json_schema");
const plainFormat = objectOf({ type: formatType("text", "json_object") });
const schemaFormat = objectOf({
  type: formatType("json_schema"),
  name: required(identifier, "Name of the schema"),
  description: nullable(anyString, "The purpose of the answer"),
  schema: nullable(anyObject, "The JSON Schema itself"),
  strict: nullable(boolean, "Whether the answer must follow the schema exactly"),
});

const textFormat: Reader = reader(Type.Union([plainFormat.schema, schemaFormat.schema]), (value, at, context) => {
  if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
  const type = readField(value["type"], `${at}.type`, anyFormatType, context);
  const { type: _, ...named } = (type === "json_schema" ? schemaFormat : plainFormat)(value, at, context) as JsonObject;
  if (type === "text") return undefined;
  requireSupport(type === "json_schema" ? "json_schema" : "json_object", at, context, `${at} ${String(type)}`);
  return type === "json_schema" ? { type, json_schema: named } : { type };
});

const textFields = objectOf({
  format: nullable(textFormat, "The form of the answer"),
  verbosity: nullable(oneOf("low", "medium", "high"), "How verbose the answer is"),
});

const text: Reader = reader(textFields.schema, (value, at, context) => {
  const { format, verbosity } = textFields(value, at, context) as JsonObject;
  const isVerbose = verbosity !== undefined && isTaken("verbosity", `${at}.verbosity`, context);
  return { ...(format !== undefined && { response_format: format }), ...(isVerbose && { verbosity }) };
});

/** Whether the model takes a hint. @param at where it is listed if not; null: it asks for nothing */
function isTaken(word: SupportWord, at: string | null, { model, ignored }: ReadContext): boolean {
  if (supports(model, word)) return true;
  if (at !== null) ignored?.add(at);
  return false;
}

const streamOptionFields = objectOf({
  include_obfuscation: nullable(acceptOnly([false], "false"), "Only false is supported: no padding is sent"),
});

const streamOptions: Reader = reader(streamOptionFields.schema, (value, at, context) => {
  if (context.request["stream"] !== true) throw invalidRequest(at, `${at} needs stream to be true`);
  return void streamOptionFields(value, at, context);
});

// The table

const none = "nothing";
const needsItems = `refused: ${remedy}`;
const hint = "left out and listed if the model has no such word";

export const responsesFields: readonly ChatField[] = [
  {
    name: "background",
    ...nullable(acceptOnly([false], "false"), "Only false is supported"),
    accepts: "`false`",
    effect: "none: the default",
  },
  { name: "context_management", ...nullable(refused, "Not supported: only null"), accepts: none, effect: "refused" },
  { name: "conversation", ...nullable(needsKept, "Not supported: only null"), accepts: none, effect: needsItems },
  {
    name: "include",
    ...nullable(include, "What the answer has besides; thoughts are always in it"),
    accepts: "`reasoning.encrypted_content`, `message.output_text.logprobs`",
    effect: "thoughts are always sent",
  },
  {
    name: "instructions",
    ...nullable(readElsewhere(anyString.schema), "What the model is to do; the first message of the chat"),
    accepts: "a string",
    effect: "sent on as a system message",
  },
  {
    name: "max_output_tokens",
    ...nullable(maxOutputTokens, "The most tokens of the answer, its reasoning included. Limits the cost that is reserved"),
    accepts: "from 1; above the model's maximum it is the maximum, and listed",
    effect: "limits answer, reasoning and reservation",
  },
  { name: "max_tool_calls", ...nullable(refused, "Not supported: only null"), accepts: none, effect: "refused" },
  asInChat("metadata"),
  asInChat("moderation"),
  {
    name: "parallel_tool_calls",
    ...nullable(readElsewhere(parallelToolCalls.schema), "Whether the model may make several calls at once"),
    accepts: "`true`, `false`",
    effect: "sent on with tools; `false` gives only the first of several calls",
  },
  { name: "previous_response_id", ...nullable(needsKept, "Not supported: only null"), accepts: none, effect: needsItems },
  { name: "prompt", ...nullable(needsKept, "Not supported: only null"), accepts: none, effect: needsItems },
  asInChat("prompt_cache_key"),
  asInChat("prompt_cache_options"),
  asInChat("prompt_cache_retention"),
  {
    name: "reasoning",
    ...nullable(reasoning, "How the model reasons"),
    accepts: "`effort`; `summary`, `context` without effect; `mode` `standard`",
    effect: `\`effort\` is fitted to the model, or ${hint}`,
  },
  asInChat("safety_identifier"),
  asInChat("service_tier"),
  {
    name: "store",
    ...nullable(store, "Only false is supported, which is also the default: nothing is kept"),
    accepts: "`false`",
    effect: "none: the default",
  },
  asInChat("stream"),
  {
    name: "stream_options",
    ...nullable(streamOptions, "Options of a stream; needs `stream`"),
    accepts: "`include_obfuscation: false`; with `stream: true`",
    effect: "by the gateway",
  },
  asInChat("temperature"),
  {
    name: "text",
    ...nullable(text, "The form of the answer"),
    accepts: "`format`: `text`, `json_object`, `json_schema`; `verbosity`",
    effect: `\`verbosity\` is ${hint}`,
  },
  {
    name: "tool_choice",
    ...nullable(readElsewhere(toolChoice.schema), "Whether the model may, must or must not call a tool, or which tool"),
    accepts: "`none`, `auto`, `required`, a named tool, allowed tools",
    effect: "sent on; without tools only `none` and `auto`, without effect",
  },
  {
    name: "tools",
    ...nullable(readElsewhere(toolsSchema), "The tools that the model may call"),
    needs: "tools",
    accepts: "functions, custom tools, namespaces of both, the client's `tool_search`",
    effect: "sent on; web search is left out and listed",
  },
  {
    name: "top_logprobs",
    ...nullable(topLogprobs, "How many of the likeliest tokens to return at each position; needs `include`"),
    needs: "logprobs",
    accepts: "0 to 20, with the log probabilities in `include`",
    effect: "sent on",
  },
  asInChat("top_p"),
  {
    name: "truncation",
    ...nullable(acceptOnly(["disabled"], "disabled"), "Only `disabled` is supported: no prompt is cut"),
    accepts: "`disabled`",
    effect: "none: the default",
  },
  asInChat("user"),
  {
    name: "client_metadata",
    ...added(checkOnly(anyObject), "Your label. Not sent on"),
    accepts: "an object",
    effect: "label, not sent on",
  },
  asInChat("usage"),
];

// The request as a chat

const readsResponses: Omit<RequestFormat, "answer"> = {
  known: knownFields("input", responsesFields),
  promptField: "input",
  modelOf: catalogId,
  // A thought without a seal becomes reasoning of a message for the model that thought it.
  rules: ({ routes }) => routes.map(signerOf),
  readBody(model, context) {
    const body: ChatBody = { model, messages: readItems(context), ...readToolFields(context) };
    const { reasoning: thinking } = context.request;
    const effort = isJsonObject(thinking) ? thinking["effort"] : undefined;
    const asChat = { ...context, request: { reasoning_effort: effort } };
    for (const field of responsesFields) {
      const { name, needs } = field;
      const isOfChat = ofChat.get(name) === field;
      const given = context.request[name];
      const value = isOfChat ? readAsChat(() => readField(given, name, field, asChat)) : readField(given, name, field, context);
      if (value === undefined) continue;
      if (needs !== undefined) requireSupport(needs, name, context);
      Object.assign(body, isOfChat ? { [name]: value } : value);
    }
    return body;
  },
  options,
  clientPath,
};

/** The chat's reader names the effort by the chat's path. */
function readAsChat<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, param, message } = error;
    throw new GatewayError(code, {
      param: param ?? undefined,
      message: message.replace("reasoning_effort", "reasoning.effort"),
    });
  }
}

function options({ request, model }: ReadContext): RequestOptions {
  const { max_output_tokens: bound, usage, stream } = request;
  const isBounded = typeof bound === "number";
  return {
    streamed: stream === true,
    includeUsage: true,
    includeCost: isJsonObject(usage) && usage["include"] === true,
    maxTokens: isBounded ? Math.min(bound, outputLimit(model)) : null,
    outputField: isBounded ? "max_output_tokens" : undefined,
  };
}

/** The client's paths of the chat's fields that have another name here. */
const clientFields = new Map<string, FieldPath>([
  ["reasoning_effort", ["reasoning", "effort"]],
  ["verbosity", ["text", "verbosity"]],
  ["logprobs", ["include"]],
]);

function clientPath(body: ChatBody, [first = "", ...rest]: FieldPath): FieldPath {
  if (first === "messages") return inputPath(body.messages, rest);
  if (first === "tools") return toolPath(body["tools"], rest);
  if (first === "response_format") return ["text", "format", ...(rest[0] === "json_schema" ? rest.slice(1) : rest)];
  return clientFields.get(first) ?? [first];
}
