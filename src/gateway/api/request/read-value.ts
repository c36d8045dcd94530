/**
 * Small readers of JSON values, from which the tables of fields are built. A reader returns the value to send on or `undefined` for
 * nothing, or throws the 400 that names the field; it never drops a value silently. Its JSON Schema, from which the OpenAPI description is
 * made, has the accepted values. Rules that depend on the model or on other fields are only in the reader, since a schema cannot express
 * them.
 */
import { Type, type TObject, type TProperties, type TSchema } from "@sinclair/typebox";
import { asSent, invalidRequest, unsupportedParameter } from "../../../kernel/errors.ts";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import type { Model } from "../../models/model.ts";

export interface ReadContext {
  request: JsonObject;
  /** null: the model is not in the catalog, so its support is unknown. */
  model: Model | null;
  /** Collects the names of hints that are left out. Absent: they are not collected. */
  ignored?: Set<string>;
}

/** @param at the path of the field, as `param` shows it */
type Read = (value: unknown, at: string, context: ReadContext) => unknown;

export interface Reader extends Read {
  /** `Never`: no value is accepted. Leaves out rules that depend on the model or on other fields. */
  readonly schema: TSchema;
}

export interface Field {
  read: Reader;
  /** An explicit null means absent, and is refused if the field is required. */
  required: boolean;
  /** The field's meaning, in the OpenAPI description. */
  description: string;
  /** The official schema does not have the field. */
  addition: boolean;
}

export function required(read: Reader, description: string): Field {
  return { read, required: true, description, addition: false };
}

/** Not required. */
export function nullable(read: Reader, description: string): Field {
  return { read, required: false, description, addition: false };
}

/** A field beyond the official schema. */
export function added(read: Reader, description: string): Field {
  return { read, required: false, description, addition: true };
}

const namesShownMax = 100;

export function reader(schema: TSchema, read: Read): Reader {
  const own: Read = (value, at, context) => read(value, at, context);
  return Object.assign(own, { schema });
}

export const boolean: Reader = reader(Type.Boolean(), (value, at) => {
  if (typeof value !== "boolean") throw invalidRequest(at, `${at} must be true or false`);
  return value;
});

export function string(charactersMax = Infinity): Reader {
  return reader(Type.String(upTo("maxLength", charactersMax)), (value, at) => {
    if (typeof value !== "string") throw invalidRequest(at, `${at} must be a string`);
    if (value.length > charactersMax) throw invalidRequest(at, `${at} must not be longer than ${charactersMax} characters`);
    return value;
  });
}

export const anyString: Reader = string();

export function numberFrom(min: number, max: number): Reader {
  return reader(Type.Number({ minimum: min, maximum: max }), (value, at) => {
    if (typeof value === "number" && value >= min && value <= max) return value;
    throw invalidRequest(at, `${at} must be a number from ${min} to ${max}`);
  });
}

export function integerFrom(min: number, max: number = Number.MAX_SAFE_INTEGER): Reader {
  return reader(Type.Integer({ minimum: min, maximum: max }), (value, at) => readInteger(value, at, { min, max }));
}

/** For bounds that depend on the request, for which a reader would have to be made each time. */
export function readInteger(value: unknown, at: string, { min, max }: { min: number; max: number }): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw invalidRequest(at, `${at} must be a whole number ${range}`);
}

export function oneOf(...words: string[]): Reader {
  return reader(Type.Union(words.map((word) => Type.Literal(word))), (value, at) => {
    if (typeof value === "string" && words.includes(value)) return value;
    throw invalidRequest(
      at,
      `${at} must be ${words.length === 1 ? "" : "one of "}${words.map((word) => `"${word}"`).join(", ")}`,
    );
  });
}

export function listOf(item: Reader, lengthMin: number, lengthMax = Infinity): Reader {
  const schema = Type.Array(item.schema, { ...(lengthMin > 0 && { minItems: lengthMin }), ...upTo("maxItems", lengthMax) });
  return reader(schema, (value, at, context) => {
    if (!Array.isArray(value)) throw invalidRequest(at, `${at} must be an array`);
    if (value.length < lengthMin) throw invalidRequest(at, `${at} must not be empty`);
    if (value.length > lengthMax) throw invalidRequest(at, `${at} must not have more than ${lengthMax} items`);
    return value.map((one, index) => item(one, `${at}[${index}]`, context));
  });
}

/** A name that a model must write exactly. */
export const identifier: Reader = reader(Type.String({ pattern: "^[a-zA-Z0-9_-]{1,64}$" }), (value, at) => {
  if (typeof value === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(value)) return value;
  throw invalidRequest(at, `${at} must be 1 to 64 letters, digits, underscores or hyphens`);
});

/** Any object, such as a JSON Schema, sent on as it is. */
export const anyObject: Reader = reader(Type.Object({}), (value, at) => {
  if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
  return value;
});

/** Drops a field that was added to an answer and comes back with it: it has no meaning for a model. */
export const ignored: Reader = reader(Type.Unknown(), () => undefined);

/** An object of these fields and no others, read in this order. */
export function objectOf(fields: Record<string, Field>): Reader {
  const known = new Map(Object.entries(fields));
  return reader(fieldsSchema([...known]), (value, at, context) => {
    if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
    const result: JsonObject = {};
    for (const [name, field] of known) {
      const read = readField(value[name], `${at}.${name}`, field, context);
      if (read !== undefined) result[name] = read;
    }
    for (const name of Object.keys(value)) {
      if (!known.has(name)) throw unknownField(`${at}.${truncated(name)}`);
    }
    return result;
  });
}

/** The schema of an object of these fields and no others. */
export function fieldsSchema(fields: readonly (readonly [name: string, field: Field])[]): TObject {
  const properties: TProperties = {};
  for (const [name, { read, required, description, addition }] of fields) {
    const values = required ? read.schema : Type.Union([read.schema, Type.Null()]);
    const schema = { ...values, description, ...(addition && { "x-addition": true }) };
    properties[name] = required ? schema : Type.Optional(schema);
  }
  return Type.Object(properties, { additionalProperties: false });
}

/** Clients in several languages write absent fields as null. */
export function readField(value: unknown, at: string, { read, required }: Field, context: ReadContext): unknown {
  if (value !== undefined && value !== null) return read(value, at, context);
  if (required) throw invalidRequest(at, value === null ? `${at} must not be null` : `${at} is required`);
  return undefined;
}

/** Checks the value, and omits it if it asks for the default. */
export function omitIf(isDefault: (value: unknown, context: ReadContext) => boolean, read: Reader): Reader {
  return reader(read.schema, (value, at, context) => {
    const result = read(value, at, context);
    return isDefault(value, context) ? undefined : result;
  });
}

export function unknownField(at: string): Error {
  return unsupportedParameter(at, `${at} is not a supported field`);
}

/** A name from a request, short enough for an error message, and marked as sent. */
export function truncated(name: string): string {
  return asSent(name.length <= namesShownMax ? name : `${name.slice(0, namesShownMax)}…`);
}

/** Checks a field and does not send it on: it labels the request and does not change the answer. */
export function checkOnly(read: Reader): Reader {
  return reader(read.schema, (value, at, context) => {
    read(value, at, context);
    return undefined;
  });
}

function upTo(keyword: "maxLength" | "maxItems", max: number): Record<string, number> {
  return max === Infinity ? {} : { [keyword]: max };
}
