/** Readers of the fields of a chat request whose rules are their own. */
import type { Model } from "../models/model.ts";
import { textContent } from "./chat-content.ts";
import { isJsonObject } from "./json-body.ts";
import {
  anyObject,
  flag,
  integerFrom,
  numberFrom,
  objectOf,
  oneOf,
  readField,
  text,
  type Field,
  type ReadContext,
  type Reader,
} from "./read-value.ts";
import { invalid, unsupported } from "./refuse.ts";
import { supports, type Support } from "./supports.ts";

const required = (read: Reader): Field => ({ read, required: true });

/** Known to the official schema, and open to no model here: it would change what is answered, kept or charged. */
export const notOffered: Reader = (_, at) => {
  throw unsupported(at, `${at} is not supported`);
};

/** Accepted, checked and sent nowhere: it labels a request and changes no answer. */
export function label(read: Reader): Reader {
  return (value, at, context) => {
    read(value, at, context);
    return undefined;
  };
}

/** Only the value that is the case anyway. */
export function only(accepted: readonly unknown[], words: string): Reader {
  return (value, at) => {
    if (accepted.includes(value)) return undefined;
    throw unsupported(at, `${at}: only ${words} is supported`);
  };
}

/** Models that sample by themselves refuse every value but the default, which then need not be sent. */
export function unlessFixed(standard: unknown, read: Reader): Reader {
  return (value, at, context) => {
    const given = read(value, at, context);
    if (!context.model?.defaultOnly.has(at)) return given;
    return only([standard], `${at}=${standard}`)(given, at, context);
  };
}

export const pairs: Reader = (value, at) => {
  if (!isJsonObject(value)) throw invalid(at, `${at} must be an object`);
  const entries = Object.entries(value);
  if (entries.length > 16) throw invalid(at, `${at} must not have more than 16 pairs`);
  for (const [key, one] of entries) {
    if (key.length > 64 || typeof one !== "string" || one.length > 512) {
      throw invalid(at, `${at} must have keys of at most 64 characters and strings of at most 512 characters`);
    }
  }
  return value;
};

export const modalities: Reader = (value, at) => {
  if (!Array.isArray(value)) throw invalid(at, `${at} must be an array`);
  if (value.length === 1 && value[0] === "text") return undefined;
  throw unsupported(at, `${at}: only text content is supported`);
};

export const stop: Reader = (value, at, context) => {
  if (typeof value === "string") return value;
  if (!Array.isArray(value) || value.length > 4) throw invalid(at, `${at} must be a string or an array of at most 4 strings`);
  return value.length === 0 ? undefined : value.map((one, index) => text()(one, `${at}[${index}]`, context));
};

export const biases: Reader = (value, at, context) => {
  if (!isJsonObject(value)) throw invalid(at, `${at} must be an object`);
  for (const bias of Object.values(value)) numberFrom(-100, 100)(bias, at, context);
  return Object.keys(value).length === 0 ? undefined : value;
};

export const topLogprobs: Reader = (value, at, context) => {
  const count = integerFrom(0, 20)(value, at, context);
  if (count === 0) return undefined;
  if (context.request["logprobs"] !== true) throw invalid(at, `${at} needs logprobs to be true`);
  return count;
};

export const streamOptions: Reader = (value, at, context) => {
  if (context.request["stream"] !== true) throw invalid(at, `${at} needs stream to be true`);
  const padding = only([false], "false");
  const fields = { include_usage: { read: flag, nullable: true }, include_obfuscation: { read: padding, nullable: true } };
  return objectOf(fields)(value, at, context);
};

/** The model's own limit is checked here, so that a bound beyond it is refused with its name before credit is looked at. */
export const maxTokens: Reader = (value, at, context) => {
  const limit = outputLimit(context.model);
  integerFrom(1, limit)(value, at, context);
  const other = context.request["max_completion_tokens"];
  if (at === "max_tokens" && typeof other === "number" && other !== value) {
    throw invalid(at, "max_tokens and max_completion_tokens must be equal where both are given");
  }
  return undefined;
};

export const prediction: Reader = objectOf({ type: required(oneOf("content")), content: required(textContent) });

const formatName: Reader = (value, at) => {
  if (typeof value === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(value)) return value;
  throw invalid(at, `${at} must be 1 to 64 letters, digits, underscores or hyphens`);
};
const plainFormat = objectOf({ type: required(text()) });
const schemaFormat = objectOf({
  type: required(text()),
  json_schema: required(
    objectOf({
      name: required(formatName),
      description: { read: text(), nullable: true },
      schema: { read: anyObject, nullable: true },
      strict: { read: flag, nullable: true },
    }),
  ),
});

export const responseFormat: Reader = (value, at, context) => {
  if (!isJsonObject(value)) throw invalid(at, `${at} must be an object`);
  const type = readField(value["type"], `${at}.type`, required(oneOf("text", "json_object", "json_schema")), context);
  const format = (type === "json_schema" ? schemaFormat : plainFormat)(value, at, context);
  if (type === "text") return undefined;
  requireSupport(type === "json_schema" ? "json_schema" : "json_object", at, context);
  return format;
};

export function requireSupport(word: Support, at: string, { model }: ReadContext): void {
  if (!supports(model, word)) throw unsupported(at, `The model does not support ${at}`);
}

function outputLimit(model: Model | null): number | undefined {
  return model !== null && model.kind === "chat" && model.maxOutputTokens > 0 ? model.maxOutputTokens : undefined;
}
