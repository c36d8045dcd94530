/**
 * Readers of the chat fields that have rules of their own: what they accept depends on the model, its routes or other fields of the
 * request. Fields without such rules are made from read-value.ts where the table names them (chat-fields.ts).
 * A bound that the model sets is checked here, before credit, so that the error names the field and not the provider's refusal of it.
 */
import { Type } from "@sinclair/typebox";
import type { Model } from "../../models/model.ts";
import { wireFormats } from "../../providers/registry.ts";
import { textContent } from "./chat-parts.ts";
import { isJsonObject } from "../../../http/json.ts";
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
} from "./read-value.ts";
import { invalidRequest, unsupportedParameter } from "../../../kernel/errors.ts";
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
export function honorDefaultOnly(standard: number, read: Reader): Reader {
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

export const metadata: Reader = reader(metadataSchema, (value, at) => {
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

export const modalities: Reader = reader(Type.Array(Type.Literal("text"), { minItems: 1, maxItems: 1 }), (value, at) => {
  if (!Array.isArray(value)) throw invalidRequest(at, `${at} must be an array`);
  if (value.length === 1 && value[0] === "text") return undefined;
  throw unsupportedParameter(at, `${at}: only text content is supported`);
});

const stopSchema = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })]);

export const stop: Reader = reader(stopSchema, (value, at, context) => {
  if (typeof value === "string") return value;
  if (!Array.isArray(value) || value.length > 4)
    throw invalidRequest(at, `${at} must be a string or an array of at most 4 strings`);
  return value.length === 0 ? undefined : value.map((one, index) => anyString(one, `${at}[${index}]`, context));
});

const bias = numberFrom(-100, 100);

export const logitBias: Reader = reader(Type.Record(Type.String(), bias.schema), (value, at, context) => {
  if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
  for (const one of Object.values(value)) bias(one, at, context);
  return Object.keys(value).length === 0 ? undefined : value;
});

const logprobsCount = integerFrom(0, 20);

export const topLogprobs: Reader = reader(logprobsCount.schema, (value, at, context) => {
  const count = logprobsCount(value, at, context);
  if (count === 0) return undefined;
  if (context.request["logprobs"] !== true) throw invalidRequest(at, `${at} needs logprobs to be true`);
  return count;
});

const streamOptionsObject = objectOf({
  include_usage: nullable(boolean, "Whether a last chunk has the charged usage; all others then carry `usage: null`"),
  include_obfuscation: nullable(acceptOnly([false], "false"), "Only false is supported: no padding is sent"),
});

export const streamOptions: Reader = reader(streamOptionsObject.schema, (value, at, context) => {
  if (context.request["stream"] !== true) throw invalidRequest(at, `${at} needs stream to be true`);
  return streamOptionsObject(value, at, context);
});

export const usageOptions: Reader = objectOf({
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
export const seed: Reader = reader(anySeed.schema, (value, at, context) => {
  const given = Number(anySeed(value, at, context));
  return Number.isSafeInteger(given) ? given : given % Number.MAX_SAFE_INTEGER;
});

export const prediction: Reader = objectOf({
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

export const responseFormat: Reader = reader(Type.Union([plainFormat.schema, schemaFormat.schema]), (value, at, context) => {
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

/** @param what is not supported, where it is not the whole field @throws GatewayError unsupported_parameter */
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
