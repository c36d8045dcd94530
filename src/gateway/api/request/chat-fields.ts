/**
 * The fields of a request except `model` and `messages`: readers of fields with their own rules, and the table of all. The table has every
 * field of the official schema, in the schema's order (https://github.com/openai/openai-openapi, CreateChatCompletionRequest), and
 * additions after them. The check of requests, the OpenAPI description and the table in docs/reference/inference.md
 * (scripts/inference-tables.ts) are made from it, so a field is added in one row. No field is dropped silently. It is sent on, handled by
 * the gateway, checked and kept (labels), or refused where it would change the answer, the retention or the price in a way that no provider
 * here supports. What a reader accepts may depend on the model, its routes or other fields of the request. A bound that the model sets is
 * checked here, before credit, so that the client gets an error that names the field, and not the provider's refusal. The readers are above
 * the table because it is built when the module loads.
 */
import { Type } from "@sinclair/typebox";
import { isJsonObject } from "../../../http/json.ts";
import { invalidRequest, unsupportedParameter } from "../../../kernel/errors.ts";
import { temperatureMax } from "../../limits.ts";
import { type Model, reasoningEfforts } from "../../models/model.ts";
import { wireFormats } from "../../providers/registry.ts";
import {
  textContent,
  cacheControl,
  legacyFunctionChoice,
  legacyFunctions,
  parallelToolCalls,
  toolChoice,
  tools,
} from "./chat-parts.ts";
import {
  anyObject,
  anyString,
  boolean,
  identifier,
  integerFrom,
  nullable,
  numberFrom,
  objectOf,
  oneOf,
  reader,
  readField,
  readInteger,
  required,
  type Field,
  type ReadContext,
  type Reader,
  checkOnly,
  added,
  omitIf,
  string,
} from "./read-value.ts";
import { supports, type SupportWord } from "./requested-model.ts";

/** Refuses a field of the official schema that no model supports here: it would change the answer, the retention or the price. */
export const notSupported: Reader = reader(Type.Never(), (_, at) => {
  throw unsupportedParameter(at, `${at} is not supported`);
});

/** Accepts only the default values, which are not sent on. */
export function acceptOnly(accepted: readonly (string | number | boolean)[], words: string): Reader {
  return reader(Type.Union(accepted.map((value) => Type.Literal(value))), (value, at) => {
    if (accepted.some((one) => one === value)) return undefined;
    throw unsupportedParameter(at, `${at}: only ${words} is supported`);
  });
}

/** Some models accept only the default of a sampling field, or only that while they reason; it is then not sent on. */
function honorDefaultOnly(standard: number, read: Reader): Reader {
  return reader(read.schema, (value, at, context) => {
    const given = read(value, at, context);
    const { model, request } = context;
    if (!model?.defaultOnly.has(at)) return given;
    if (!samplesWithoutReasoning(model)) return acceptOnly([standard], `${at}=${standard}`)(given, at, context);
    if (request["reasoning_effort"] === "none") return given;
    return acceptOnly([standard], `${at}=${standard}, or reasoning_effort=none,`)(given, at, context);
  });
}

const metadataSchema = Type.Record(Type.String(), Type.String({ maxLength: 512 }), {
  maxProperties: 16,
  propertyNames: { maxLength: 64 },
});

const metadata: Reader = reader(metadataSchema, (value, at) => {
  if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
  const entries = Object.entries(value);
  if (entries.length > 16) throw invalidRequest(at, `${at} must not have more than 16 pairs`);
  for (const [key, one] of entries) {
    if (key.length > 64 || typeof one !== "string" || one.length > 512) {
      throw invalidRequest(at, `${at} must have keys of at most 64 characters and strings of at most 512 characters`);
    }
  }
  return value;
});

const modalities: Reader = reader(Type.Array(Type.Literal("text"), { minItems: 1, maxItems: 1 }), (value, at) => {
  if (!Array.isArray(value)) throw invalidRequest(at, `${at} must be an array`);
  if (value.length === 1 && value[0] === "text") return undefined;
  throw unsupportedParameter(at, `${at}: only text content is supported`);
});

const stopSchema = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })]);

const stop: Reader = reader(stopSchema, (value, at, context) => {
  if (typeof value === "string") return value;
  if (!Array.isArray(value) || value.length > 4)
    throw invalidRequest(at, `${at} must be a string or an array of at most 4 strings`);
  return value.length === 0 ? undefined : value.map((one, index) => anyString(one, `${at}[${index}]`, context));
});

const bias = numberFrom(-100, 100);

const logitBias: Reader = reader(Type.Record(Type.String(), bias.schema), (value, at, context) => {
  if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
  for (const one of Object.values(value)) bias(one, at, context);
  return Object.keys(value).length === 0 ? undefined : value;
});

const logprobsCount = integerFrom(0, 20);

const topLogprobs: Reader = reader(logprobsCount.schema, (value, at, context) => {
  const count = logprobsCount(value, at, context);
  if (count === 0) return undefined;
  if (context.request["logprobs"] !== true) throw invalidRequest(at, `${at} needs logprobs to be true`);
  return count;
});

const streamOptionsObject = objectOf({
  include_usage: nullable(boolean, "Whether a last chunk has the charged usage; all others then carry `usage: null`"),
  include_obfuscation: nullable(acceptOnly([false], "false"), "Only false is supported: no padding is sent"),
});

const streamOptions: Reader = reader(streamOptionsObject.schema, (value, at, context) => {
  if (context.request["stream"] !== true) throw invalidRequest(at, `${at} needs stream to be true`);
  return streamOptionsObject(value, at, context);
});

const usageOptions: Reader = objectOf({
  include: required(boolean, "Whether the usage has the charge. A stream then has the usage chunk, too"),
});

/** Checks the model's own limit here, so that a larger bound is refused by its name before credit is checked. */
export const maxTokens: Reader = reader(Type.Integer({ minimum: 1 }), (value, at, context) => {
  readInteger(value, at, { min: outputMinimum(context.model), max: outputLimit(context.model) });
  const other = context.request["max_completion_tokens"];
  if (at === "max_tokens" && typeof other === "number" && other !== value) {
    throw invalidRequest(at, "max_tokens and max_completion_tokens must be equal where both are given");
  }
  return undefined;
});

const anySeed = integerFrom(-(2 ** 63), 2 ** 63);

/** A number beyond 2^53 has lost digits before it is read, so providers get a smaller one, always the same for the same seed. */
const seed: Reader = reader(anySeed.schema, (value, at, context) => {
  const given = Number(anySeed(value, at, context));
  return Number.isSafeInteger(given) ? given : given % Number.MAX_SAFE_INTEGER;
});

const prediction: Reader = objectOf({
  type: required(oneOf("content"), "The only kind"),
  content: required(textContent, "The expected text"),
});

const formatType = (...words: string[]): Field => required(oneOf(...words), "Text, any JSON object, or JSON by a schema");
const anyFormatType = formatType("text", "json_object", "json_schema");
const plainFormat = objectOf({ type: formatType("text", "json_object") });
const namedSchema = objectOf({
  name: required(identifier, "Name of the schema"),
  description: nullable(anyString, "The purpose of the answer"),
  schema: nullable(anyObject, "The JSON Schema itself"),
  strict: nullable(boolean, "Whether the answer must follow the schema exactly"),
});
const schemaFormat = objectOf({
  type: formatType("json_schema"),
  json_schema: required(namedSchema, "The schema, with its name"),
});

const responseFormat: Reader = reader(Type.Union([plainFormat.schema, schemaFormat.schema]), (value, at, context) => {
  if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
  const type = readField(value["type"], `${at}.type`, anyFormatType, context);
  const format = (type === "json_schema" ? schemaFormat : plainFormat)(value, at, context);
  if (type === "text") return undefined;
  requireSupport(type === "json_schema" ? "json_schema" : "json_object", at, context, `${at} ${String(type)}`);
  return format;
});

export function samplesWithoutReasoning({ routes }: Model): boolean {
  return routes.length > 0 && routes.every((route) => route.samplesWithoutReasoning);
}

/** @param what the unsupported part, if it is not the whole field @throws GatewayError unsupported_parameter */
export function requireSupport(word: SupportWord, at: string, { model }: ReadContext, what = at): void {
  if (!supports(model, word)) throw unsupportedParameter(at, `${model?.id ?? "The model"} does not support ${what}`);
}

/** Any route may serve the request, so the largest minimum of their wire formats holds. */
export function outputMinimum(model: Pick<Model, "routes"> | null): number {
  let minimum = 1;
  for (const { format } of model?.routes ?? []) minimum = Math.max(minimum, wireFormats[format]?.format.outputTokensMin ?? 1);
  return minimum;
}

function outputLimit(model: Model | null): number {
  return model !== null && model.kind === "chat" && model.maxOutputTokens > 0 ? model.maxOutputTokens : Number.MAX_SAFE_INTEGER;
}

// The table

interface ChatRow extends Field {
  /** The word that a model must support for this field, unless the value asks for the default. */
  needs?: SupportWord;
  /** The accepted values, as docs/reference/inference.md shows them. */
  accepts: string;
  /** What the gateway does with the field, as docs/reference/inference.md shows it. */
  effect: string;
}

export interface ChatField extends ChatRow {
  name: string;
}

const isZero = (value: unknown): boolean => value === 0;
const isFalse = (value: unknown): boolean => value === false;
const penalty = omitIf(isZero, numberFrom(-2, 2));
const cappedOutput = "The most tokens of the answer, its reasoning included. Limits the cost that is reserved";

const label = "label, not sent on";
const sentOn = "sent on";
const sentUnlessZero = "sent on, except 0";
const sentUnlessFixed = "some models: only their default";
const theDefault = "none: the default";
const handled = "by the gateway";
const changesRetention = "refused: changes what a provider retains";

const rows: Record<string, ChatRow> = {
  metadata: {
    ...nullable(checkOnly(metadata), "Your label: up to 16 pairs of texts. Not sent on"),
    accepts: "16 pairs; keys of 64, texts of 512 characters",
    effect: label,
  },
  top_logprobs: {
    ...nullable(topLogprobs, "How many of the likeliest tokens to return at each position; needs `logprobs`"),
    needs: "logprobs",
    accepts: "0 to 20, with `logprobs: true`",
    effect: sentOn,
  },
  temperature: {
    ...nullable(honorDefaultOnly(1, numberFrom(0, temperatureMax)), "How freely the model samples: 0 is the least"),
    accepts: "0 to 2",
    effect: sentUnlessFixed,
  },
  top_p: {
    ...nullable(honorDefaultOnly(1, numberFrom(0, 1)), "Samples among the likeliest tokens that together have this probability"),
    accepts: "0 to 1",
    effect: sentUnlessFixed,
  },
  user: {
    ...nullable(checkOnly(anyString), "Your label. Not sent on"),
    accepts: "a string",
    effect: label,
  },
  safety_identifier: {
    ...nullable(checkOnly(string(64)), "Your label. Not sent on"),
    accepts: "at most 64 characters",
    effect: label,
  },
  prompt_cache_key: {
    ...nullable(checkOnly(anyString), "Your label. Not sent on"),
    accepts: "a string",
    effect: label,
  },
  prompt_cache_retention: {
    ...nullable(notSupported, "Not supported: only null"),
    accepts: "nothing",
    effect: changesRetention,
  },
  prompt_cache_options: {
    ...nullable(notSupported, "Not supported"),
    accepts: "nothing",
    effect: changesRetention,
  },
  service_tier: {
    ...nullable(acceptOnly(["auto", "default"], "the default tier"), "Only the provider's default tier is supported"),
    accepts: "`auto`, `default`",
    effect: "none: other tiers have other prices",
  },
  modalities: {
    ...nullable(modalities, "Only text content is supported"),
    accepts: '`["text"]`',
    effect: theDefault,
  },
  verbosity: {
    ...nullable(oneOf("low", "medium", "high"), "How verbose the answer is"),
    needs: "verbosity",
    accepts: "`low`, `medium`, `high`",
    effect: sentOn,
  },
  reasoning_effort: {
    ...nullable(oneOf(...reasoningEfforts), "How much the model reasons before it answers"),
    needs: "reasoning",
    accepts: "`none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`",
    effect: "fitted to the model",
  },
  max_completion_tokens: {
    ...nullable(
      maxTokens,
      `${cappedOutput}. At most the model's \`max_output_tokens\`, which is also the default where the prompt leaves room for it`,
    ),
    accepts: "1 to the model's `max_output_tokens`",
    effect: "limits answer, reasoning and reservation",
  },
  frequency_penalty: {
    ...nullable(penalty, "Above 0 the model repeats itself less, the more often it has"),
    needs: "penalties",
    accepts: "-2 to 2",
    effect: sentUnlessZero,
  },
  presence_penalty: {
    ...nullable(penalty, "Above 0 the model repeats itself less, however often it has"),
    needs: "penalties",
    accepts: "-2 to 2",
    effect: sentUnlessZero,
  },
  web_search_options: {
    ...nullable(notSupported, "Not supported"),
    accepts: "nothing",
    effect: "refused: billed beyond tokens",
  },
  response_format: {
    ...nullable(responseFormat, "The form of the answer"),
    accepts: "`text`; `json_object`; `json_schema` with `name`, `schema`, `description`, `strict`",
    effect: sentOn,
  },
  audio: {
    ...nullable(notSupported, "Not supported: only null"),
    accepts: "nothing",
    effect: "refused",
  },
  store: {
    ...nullable(acceptOnly([false], "store=false"), "Only false is supported: nothing is stored at the provider"),
    accepts: "`false`",
    effect: theDefault,
  },
  moderation: {
    ...nullable(notSupported, "Not supported: only null"),
    accepts: "nothing",
    effect: "refused",
  },
  stream: {
    ...nullable(checkOnly(boolean), "Whether the answer is sent as server-sent events while the model writes it"),
    accepts: "`true`, `false`",
    effect: handled,
  },
  stop: {
    ...nullable(stop, "Texts at which the model stops; they are not part of the answer"),
    accepts: "a string, or at most 4",
    effect: sentOn,
  },
  logit_bias: {
    ...nullable(logitBias, "By token id of the model: how much likelier the token becomes, from -100 to 100"),
    needs: "logit_bias",
    accepts: "token ids with -100 to 100",
    effect: sentOn,
  },
  logprobs: {
    ...nullable(omitIf(isFalse, boolean), "Whether to return the log probability of each token"),
    needs: "logprobs",
    accepts: "`true`, `false`",
    effect: "sent on, except `false`",
  },
  max_tokens: {
    ...nullable(maxTokens, `Older name of \`max_completion_tokens\`. ${cappedOutput}`),
    accepts: "as `max_completion_tokens`; both must be equal",
    effect: "limits the same",
  },
  n: {
    ...nullable(acceptOnly([1], "n=1"), "How many answers: only n=1 is supported"),
    accepts: "1",
    effect: theDefault,
  },
  prediction: {
    ...nullable(prediction, "Most of the expected answer, which speeds it up"),
    needs: "prediction",
    accepts: '`{type: "content", content}` of text',
    effect: sentOn,
  },
  seed: {
    ...nullable(seed, "The same seed gives the same answer, as far as the provider guarantees it"),
    needs: "seed",
    accepts: "a whole number of 64 bits",
    effect: "beyond 2^53 as a smaller one, always the same",
  },
  stream_options: {
    ...nullable(checkOnly(streamOptions), "Options of a stream; needs `stream`"),
    accepts: "`include_usage`, `include_obfuscation: false`; with `stream: true`",
    effect: handled,
  },
  tools: {
    ...nullable(tools, "The tools that the model may call"),
    needs: "tools",
    accepts: "functions, custom tools",
    effect: "sent on, except an empty list",
  },
  tool_choice: {
    ...nullable(toolChoice, "Whether the model may, must or must not call a tool, or which tool"),
    needs: "tools",
    accepts: "`none`, `auto`, `required`, a named tool, allowed tools",
    effect: "sent on; without tools only `none` and `auto`, without effect",
  },
  parallel_tool_calls: {
    ...nullable(parallelToolCalls, "Whether the model may make several calls at once"),
    needs: "tools",
    accepts: "`true`, `false`",
    effect: "sent on with tools; `false` gives only the first of several calls",
  },
  function_call: {
    ...nullable(legacyFunctionChoice, "Older form of `tool_choice`"),
    needs: "functions",
    accepts: "`none`, `auto`, `{name}`",
    effect: sentOn,
  },
  functions: {
    ...nullable(legacyFunctions, "Older form of `tools`"),
    needs: "functions",
    accepts: "1 to 128 functions",
    effect: sentOn,
  },
  cache_control: {
    ...cacheControl("the last part that can be cached"),
    needs: "cache_control",
    accepts: '`{type: "ephemeral"}`, also with `ttl: "5m"`',
    effect: sentOn,
  },
  usage: {
    ...added(checkOnly(usageOptions), "Asks for the charge in the usage of the answer"),
    accepts: "`{include: true}`, `{include: false}`",
    effect: "`true`: the usage has the charge",
  },
};

export const chatFields: readonly ChatField[] = Object.entries(rows).map(([name, row]) => ({ name, ...row }));
