/**
 * The fields of a request to Messages (https://platform.claude.com/docs/en/api/messages), and how they become a chat. Agents send many hints
 * to every model: breakpoints, thinking, effort, what to clear from the context. A hint that the model does not take is left out and named
 * in the answer's `x-ignored-fields`; a bound on output above the model's is lowered to it. Anything else that would change the answer, its
 * price or what a provider keeps is refused by name, as in a chat.
 * The readers make the OpenAPI description and the table in docs/reference/inference.md, too. What the conversation becomes is in blocks.ts,
 * what the tools become in tools.ts. Any provider may serve: its wire format converts the chat. One that speaks this API itself gets the
 * request along with the chat, since a chat has no place for much of it.
 */
import { Type } from "@sinclair/typebox";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { GatewayError, invalidRequest, unsupportedParameter } from "../../../kernel/errors.ts";
import type { Model } from "../../models/model.ts";
import { apart, native, type ChatBody } from "../../providers/provider.ts";
import type { FieldPath } from "../../providers/provider-error.ts";
import {
  acceptOnly,
  chatFields,
  notSupported,
  outputLimit,
  outputMinimum,
  requireSupport,
  type ChatField,
  type ChatRow,
} from "../request/chat-fields.ts";
import { knownFields, type RequestFormat, type RequestOptions } from "../request/chat-request.ts";
import {
  anyObject,
  anyString,
  boolean,
  checkOnly,
  integerFrom,
  listOf,
  nullable,
  numberFrom,
  objectOf,
  oneOf,
  reader,
  readField,
  readInteger,
  required,
  type Reader,
  type ReadContext,
} from "../request/read-value.ts";
import { catalogId, supports } from "../request/requested-model.ts";
import { messagesAnswer } from "./answer.ts";
import { messageEfforts, readTurns, systemContent, systemItem } from "./blocks.ts";
import { cacheMark, choiceField, choiceFields, clientsTool, sentTools, toolList } from "./tools.ts";

// Readers

/** From this version of the API on, `temperature`, `top_p` and `top_k` are refused. */
const withoutSampling = "2026-10-21";
const stopSequencesMax = 4;
const breakpointsMax = 4;

const stopText: Reader = reader(Type.String({ minLength: 1 }), (value, at, context) => {
  const text = String(anyString(value, at, context));
  if (/\S/.test(text)) return text;
  throw invalidRequest(at, `${at} must not be blank`);
});

const budgetTokens = integerFrom(1);
const thinking = objectOf({
  type: required(oneOf("disabled", "adaptive", "enabled", "between_tools"), "Whether the model thinks"),
  budget_tokens: nullable(budgetTokens, "Tokens of `enabled`, which become an effort"),
  display: nullable(oneOf("summarized", "omitted"), "`omitted`: no text of a thought that is signed"),
});

const edit: Reader = reader(
  Type.Object({ type: Type.String({ description: "What to clear, of which version" }) }),
  (value, at) => {
    const type = isJsonObject(value) ? value["type"] : undefined;
    if (typeof type !== "string") throw invalidRequest(at, `${at} must be an object with a type`);
    if (/^clear_(thinking|tool_uses)_/.test(type)) return undefined;
    throw unsupportedParameter(`${at}.type`, `${at}.type: only clear_thinking and clear_tool_uses are supported`);
  },
);

const outputFormat = objectOf({
  type: required(oneOf("json_schema"), "The only kind"),
  schema: required(anyObject, "The JSON Schema of the answer"),
});

/** Clients go on without a thread if these details say that it is the reason. */
const noThread: Reader = reader(Type.Never(), (_, at) => {
  const details = { error_code: "thread_unsupported_request", unsupported: [at] };
  throw new GatewayError("unsupported_parameter", { param: at, message: `${at} is not supported`, details });
});

const label = "label, not sent on";
const none = "none: the default";
const refused = "refused";

const rows: Record<string, ChatRow> = {
  max_tokens: {
    ...required(
      checkOnly(integerFrom(1)),
      "The most tokens of the answer, its thinking included. Limits the cost that is reserved",
    ),
    accepts: "required; 1 or more",
    effect: "limits answer, thinking and reservation; above the model's maximum: that, and listed",
  },
  system: { ...nullable(systemContent, "The instructions"), accepts: "a text, or text blocks", effect: "the first instruction" },
  stream: {
    ...nullable(checkOnly(boolean), "Whether the answer is sent as server-sent events while the model writes it"),
    accepts: "`true`, `false`",
    effect: "by the gateway",
  },
  stop_sequences: {
    ...nullable(listOf(stopText, 0, stopSequencesMax), "Texts at which the model stops; they are not part of the answer"),
    accepts: `at most ${stopSequencesMax}`,
    effect: "sent on",
  },
  temperature: {
    ...nullable(numberFrom(0, 1), `How freely the model samples. Refused from version ${withoutSampling} of the API on`),
    accepts: `0 to 1, before version ${withoutSampling}`,
    effect: "some models: only their default",
  },
  top_p: {
    ...nullable(numberFrom(0, 1), `Samples among the likeliest tokens. Refused from version ${withoutSampling} of the API on`),
    accepts: `0 to 1, before version ${withoutSampling}`,
    effect: "some models: only their default",
  },
  top_k: { ...nullable(notSupported, "Not supported: only null"), accepts: "nothing", effect: refused },
  tools: {
    ...nullable(toolList, "The tools that the model may call"),
    accepts: "tools that you run, also with `defer_loading`",
    effect: "sent on; a deferred one once a `tool_reference` names it",
  },
  tool_choice: {
    ...nullable(choiceField, "Whether the model may, must or must not call a tool, or which tool"),
    accepts: "`auto`, `any`, `tool`, `none`; `disable_parallel_tool_use`",
    effect: "sent on",
  },
  thinking: {
    ...nullable(thinking, "Whether the model thinks before it answers. A hint"),
    accepts: "`disabled`, `adaptive`, `enabled`, `between_tools`",
    effect: "a hint; `enabled`: below 4,096 tokens low, below 16,384 medium, else high effort",
  },
  output_config: {
    ...nullable(
      objectOf({
        effort: nullable(oneOf(...messageEfforts), "How much the model thinks and writes. A hint"),
        format: nullable(outputFormat, "The form of the answer. Not every model supports it"),
      }),
      "Effort and form of the answer",
    ),
    accepts: "`effort`; `format` of `json_schema`",
    effect: "`effort`: a hint, fitted to the model; `format`: sent on",
  },
  cache_control: {
    ...nullable(cacheMark, "Asks the provider to cache the prompt to its last part that can be cached. A hint"),
    accepts: '`{type: "ephemeral"}`',
    effect: "a hint; the last four count, and `1h` counts as `5m`",
  },
  context_management: {
    ...nullable(objectOf({ edits: nullable(listOf(edit, 0), "What to clear") }), "What to clear from the context. A hint"),
    accepts: "`edits` of `clear_thinking_…`, `clear_tool_uses_…`",
    effect: "a hint, sent on to Anthropic alone",
  },
  metadata: {
    ...nullable(checkOnly(objectOf({ user_id: nullable(anyString, "Your label. Not sent on") })), "Your label. Not sent on"),
    accepts: "`user_id`",
    effect: label,
  },
  service_tier: {
    ...nullable(acceptOnly(["auto", "standard_only"], "the standard tier"), "Only the standard tier is supported"),
    accepts: "`auto`, `standard_only`",
    effect: "none: other tiers have other prices",
  },
  speed: {
    ...nullable(acceptOnly(["standard"], "speed=standard"), "Only the standard speed is supported"),
    accepts: "`standard`",
    effect: "none: others have other prices",
  },
  diagnostics: { ...nullable(checkOnly(anyObject), "Answered with null"), accepts: "an object", effect: none },
  container: { ...nullable(notSupported, "Not supported: only null"), accepts: "nothing", effect: refused },
  mcp_servers: { ...nullable(notSupported, "Not supported: only null"), accepts: "nothing", effect: refused },
  inference_geo: { ...nullable(notSupported, "Not supported: only null"), accepts: "nothing", effect: refused },
  thread: { ...nullable(noThread, "Not supported: only null"), accepts: "nothing", effect: refused },
  usage: chatRow("usage"),
};

/** All fields but `model` and `messages`. */
export const messagesFields: readonly ChatField[] = Object.entries(rows).map(([name, row]) => ({ name, ...row }));

function chatRow(name: string): ChatField {
  const row = chatFields.find((field) => field.name === name);
  if (row === undefined) throw new Error(`Chat completions have no field "${name}"`);
  return row;
}

// The format

interface Kind {
  /** The value of `anthropic-version`; null: absent. */
  version: string | null;
  /** The request only asks for the count of its prompt, so it need not bound an answer. */
  onlyCounts?: boolean;
}

export function messagesFormat({ version, onlyCounts = false }: Kind): RequestFormat {
  const samples = version === null || version < withoutSampling;
  return {
    known: knownFields("messages", messagesFields),
    promptField: "messages",
    modelOf: catalogId,
    readBody: (model, context) => ({
      ...chatOf(model, context, { samples, onlyCounts }),
      ...(speaksMessages(context.model) && {
        [native]: { format: "anthropic", body: context.request, ...(version !== null && { version }) },
      }),
    }),
    rules: ({ routes }) => routes.map(({ format, provider, thinking: facts }) => [format, facts?.form, provider.native]),
    options: optionsOf,
    clientPath,
    answer({ chat, request, ignored }) {
      const omitsThinking = isJsonObject(request["thinking"]) && request["thinking"]["display"] === "omitted";
      return messagesAnswer({ model: chat.requested, ignored: [...ignored], omitsThinking });
    },
  };
}

/** Some provider of the model speaks this API, and no other one that is like it converts the chat. */
function speaksMessages(model: Model | null): boolean {
  const alike = model?.routes.filter(({ format }) => format === "anthropic") ?? [];
  return alike.length > 0 && alike.every(({ provider }) => provider.native === true);
}

/** Nothing but a chat can leave hints out. */
function isConverted(model: Model | null): boolean {
  return !speaksMessages(model) || model?.routes.some(({ format }) => format !== "anthropic") === true;
}

function chatOf(
  model: string,
  context: ReadContext,
  { samples, onlyCounts }: { samples: boolean; onlyCounts: boolean },
): ChatBody {
  const read = readRows(context, onlyCounts);
  const given = { system: read["system"], messages: context.request["messages"], onlyCounts };
  const { messages, loaded, effort } = readTurns(given, context);
  const tools = sentTools(Array.isArray(read["tools"]) ? read["tools"] : [], loaded);
  if (tools.length > 0) requireSupport("tools", "tools", context);
  const body: ChatBody = {
    model,
    messages,
    ...samplingFields(context, samples),
    ...(Array.isArray(read["stop_sequences"]) && read["stop_sequences"].length > 0 && { stop: read["stop_sequences"] }),
    ...(tools.length > 0 && { tools }),
    ...choiceFields(asFields(read["tool_choice"]), tools, context),
    ...effortField(effort, context),
    ...formatField(asFields(read["output_config"])?.["format"], context),
    ...(read["cache_control"] !== undefined && { cache_control: read["cache_control"] }),
  };
  keepLastBreakpoints(body, context);
  return body;
}

/** Reads every field, and names the hints that no model takes. */
function readRows(context: ReadContext, onlyCounts: boolean): JsonObject {
  const { request, ignored, model } = context;
  const read: JsonObject = {};
  for (const { name, ...field } of messagesFields) {
    const isOptional = onlyCounts && name === "max_tokens";
    read[name] = readField(request[name], name, isOptional ? { ...field, required: false } : field, context);
  }
  const { max_tokens: output } = request;
  if (typeof output === "number") {
    readInteger(output, "max_tokens", { min: outputMinimum(model), max: Number.MAX_SAFE_INTEGER });
    if (output > outputLimit(model)) ignored?.add("max_tokens");
  }
  if (!isConverted(model)) return read;
  if (asFields(request["thinking"])?.["display"] === "omitted") ignored?.add("thinking.display");
  const edits = asFields(request["context_management"])?.["edits"];
  if (Array.isArray(edits) && edits.length > 0) ignored?.add("context_management");
  return read;
}

function optionsOf({ request, model }: ReadContext): RequestOptions {
  const { max_tokens: output } = request;
  return {
    streamed: request["stream"] === true,
    includeUsage: false,
    includeCost: asFields(request["usage"])?.["include"] === true,
    maxTokens: typeof output === "number" ? Math.min(output, outputLimit(model)) : null,
    outputField: typeof output === "number" ? "max_tokens" : undefined,
  };
}

/** As in a chat, where some models take only the default, unless they do not reason. */
function samplingFields(context: ReadContext, samples: boolean): JsonObject {
  const request = { reasoning_effort: wantedEffort(undefined, context) };
  const fields: JsonObject = {};
  for (const name of ["temperature", "top_p"]) {
    const given = context.request[name];
    if (given === undefined || given === null) continue;
    if (!samples) throw unsupportedParameter(name, `${name} is not supported from version ${withoutSampling} of the API on`);
    const value = chatRow(name).read(given, name, { ...context, request });
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

const mediumFrom = 4_096;
const highFrom = 16_384;

function effortField(later: string | undefined, context: ReadContext): JsonObject {
  const effort = wantedEffort(later, context);
  if (supports(context.model, "reasoning")) return effort === undefined ? {} : { reasoning_effort: effort };
  const { thinking: wanted, output_config: output } = context.request;
  if (isJsonObject(wanted) && wanted["type"] !== "disabled") context.ignored?.add("thinking");
  if (asFields(output)?.["effort"] != null || later !== undefined) context.ignored?.add("output_config.effort");
  return {};
}

/** @param later what an instruction in the conversation asks for: the last one counts */
function wantedEffort(later: string | undefined, { request }: ReadContext): string | undefined {
  const { type, budget_tokens: budget } = asFields(request["thinking"]) ?? {};
  if (type === "disabled") return "none";
  const own = later ?? asFields(request["output_config"])?.["effort"];
  if (typeof own === "string") return own;
  if (type !== "enabled") return undefined;
  if (typeof budget === "number" && budget < mediumFrom) return "low";
  return typeof budget === "number" && budget < highFrom ? "medium" : "high";
}

function formatField(format: unknown, context: ReadContext): JsonObject {
  if (!isJsonObject(format)) return {};
  requireSupport("json_schema", "output_config.format", context);
  return { response_format: { type: "json_schema", json_schema: { name: "output", schema: format["schema"] } } };
}

/** Providers take four, and the last ones are worth the most. They come in the order of the prompt, that of the whole request last. */
function keepLastBreakpoints(body: ChatBody, { ignored }: ReadContext): void {
  const holders = [...partsOf(body["tools"]), ...body.messages.flatMap(({ content }) => partsOf(content)), body];
  const marked = holders.filter((holder) => holder["cache_control"] !== undefined);
  const superfluous = marked.slice(0, Math.max(0, marked.length - breakpointsMax));
  for (const holder of superfluous) delete holder["cache_control"];
  if (superfluous.length > 0) ignored?.add("cache_control");
}

function partsOf(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function asFields(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

// The client's names

const renamed = new Map<string, FieldPath>([
  ["stop", ["stop_sequences"]],
  ["max_tokens", ["max_tokens"]],
  ["max_completion_tokens", ["max_tokens"]],
  ["parallel_tool_calls", ["tool_choice", "disable_parallel_tool_use"]],
  ["tool_choice", ["tool_choice"]],
]);

/** See `RequestFormat.clientPath`. Where a path is not known exactly, it is that of the field around it. */
function clientPath(body: ChatBody, path: FieldPath): FieldPath | null {
  const [first = "", ...inner] = path;
  if (first === "messages") return messagePath(body, inner);
  if (first === "tools") return toolPath(body, inner);
  if (first === "response_format") {
    const [, schema, ...within] = inner;
    return ["output_config", "format", ...(schema === "schema" ? ["schema", ...within] : [])];
  }
  // Several fields decide the effort.
  if (first === "reasoning_effort") return null;
  return renamed.get(first) ?? path;
}

function messagePath({ messages }: ChatBody, [index, field, part]: FieldPath): FieldPath {
  const message = index === undefined ? undefined : messages[Number(index)];
  const source = message?.[apart]?.source;
  if (message === undefined || source === undefined) return ["messages"];
  const outer = source.item === systemItem ? ["system"] : ["messages", String(source.item)];
  if (field !== "content" && message.role !== "tool") return outer;
  const block = source.parts?.[message.role === "tool" ? 0 : Number(part)];
  if (block === undefined) return source.item === systemItem ? outer : [...outer, "content"];
  return source.item === systemItem ? ["system", String(block)] : [...outer, "content", String(block)];
}

function toolPath(body: ChatBody, [index, field, name, ...within]: FieldPath): FieldPath {
  const tools = body["tools"];
  const at = Array.isArray(tools) && index !== undefined ? clientsTool(tools[Number(index)]) : null;
  if (at === null) return ["tools"];
  const tool = ["tools", String(at)];
  if (field !== "function" || name === undefined) return field === "cache_control" ? [...tool, field] : tool;
  return [...tool, name === "parameters" ? "input_schema" : name, ...within];
}
