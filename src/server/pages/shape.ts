/**
 * A JSON Schema of the OpenAPI document as the reference reads it: fields, and their types and bounds in words, such as `array of string or
 * null` and `1 to 256 characters`. It reads only the keywords that the document uses, and hides regular expressions that refuse only
 * invisible characters.
 */
import { markup, type Html } from "../../http/html.ts";
import type { JsonSchema } from "../../http/json-schema.ts";
import { isJsonObject } from "../../http/json.ts";
import { joined } from "./site.ts";

export interface Shape {
  /** The name of the schema that it refers to; the rest is then empty. */
  reference: string | null;
  /** The names of JSON's types. Empty: any value. */
  types: string[];
  description: string;
  /** The branches of `anyOf`. */
  branches: Shape[];
  /** The shape of a list's items. */
  items: Shape | null;
  /** The shape of the values of an object whose keys are free. */
  values: Shape | null;
  fields: ShapeField[];
  /** All allowed values; empty: not enumerated. */
  words: unknown[];
  default: unknown;
  /** A regular expression of the document. */
  expression: string | null;
  /** The keywords with a number, such as `maxLength`. */
  numbers: Partial<Record<Bound, number>>;
}

export interface ShapeField {
  name: string;
  required: boolean;
  shape: Shape;
}

const bounds = [
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
] as const;
type Bound = (typeof bounds)[number];

const referenceStart = "#/components/schemas/";

export function shapeOf(schema: JsonSchema): Shape {
  const { $ref, type, description, anyOf, items, additionalProperties } = schema;
  return {
    reference: typeof $ref === "string" ? $ref.slice(referenceStart.length) : null,
    types: listOf(type).map(String),
    description: typeof description === "string" ? description : "",
    branches: listOf(anyOf).filter(isJsonObject).map(shapeOf),
    items: isJsonObject(items) ? shapeOf(items) : null,
    values: isJsonObject(additionalProperties) ? shapeOf(additionalProperties) : null,
    fields: fieldsOf(schema),
    words: "const" in schema ? [schema["const"]] : listOf(schema["enum"]),
    default: schema["default"],
    expression: typeof schema["pattern"] === "string" ? schema["pattern"] : null,
    numbers: Object.fromEntries(bounds.filter((name) => typeof schema[name] === "number").map((name) => [name, schema[name]])),
  };
}

/** The shape itself, or what remains of a union with null; the description stays. */
export function withoutNull(shape: Shape): Shape {
  const others = shape.branches.filter(({ types }) => types.join() !== "null");
  const [only] = others;
  if (only === undefined || others.length === shape.branches.length) return shape;
  if (others.length > 1) return { ...shape, branches: others };
  return { ...only, description: shape.description || only.description, default: shape.default ?? only.default };
}

/** The type of a field in words, such as `array of string or null`; a named schema is a link. */
export function typeWords(shape: Shape): Html {
  const { reference, branches, items, values, types } = shape;
  if (reference !== null) return markup`<a href="#${schemaId(reference)}">${reference}</a>`;
  if (branches.length > 0) return joined(distinct(branches.map(typeWords)), " or ");
  if (types.includes("array") && items !== null) return markup`array of ${typeWords(items)}`;
  if (types.includes("object") && values !== null) return markup`object, each value ${typeWords(values)}`;
  return markup`${types.length === 0 ? "any value" : types.join(" or ")}`;
}

/** The place of a named schema on its page. */
export function schemaId(name: string): string {
  return `schema-${name}`;
}

/** Any number of bounds, such as `1 to 256 characters`; those of a list's items follow `each`. */
export function boundWords(shape: Shape): Html[] {
  const own = [
    ...wordList(shape.words),
    ...quantity(shape, ["minimum", "maximum"], ""),
    ...quantity(shape, ["minLength", "maxLength"], "characters"),
    ...quantity(shape, ["minItems", "maxItems"], "items"),
    ...quantity(shape, ["minProperties", "maxProperties"], "fields"),
    ...expressionWords(shape.expression),
  ];
  const ofBranches = shape.branches.flatMap(boundWords);
  const ofItems = shape.items === null ? [] : boundWords(shape.items).map((words) => markup`each ${words}`);
  const byDefault = shape.default === undefined ? [] : [markup`default <code>${JSON.stringify(shape.default)}</code>`];
  return distinct([...own, ...ofBranches, ...ofItems, ...byDefault]);
}

function listOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function fieldsOf({ properties, required }: JsonSchema): ShapeField[] {
  if (!isJsonObject(properties)) return [];
  const needed = listOf(required);
  const fields = Object.entries(properties).filter((entry): entry is [string, JsonSchema] => isJsonObject(entry[1]));
  return fields.map(([name, schema]) => ({ name, required: needed.includes(name), shape: shapeOf(schema) }));
}

function distinct(parts: readonly Html[]): Html[] {
  return [...new Map(parts.map((part) => [String(part), part])).values()];
}

function wordList(words: unknown[]): Html[] {
  if (words.length === 0) return [];
  const codes = words.map((word) => markup`<code>${typeof word === "string" ? word : JSON.stringify(word)}</code>`);
  return [words.length === 1 ? markup`only ${codes}` : joined(codes, ", ", " or ")];
}

function quantity({ numbers }: Shape, [least, most]: [Bound, Bound], unit: string): Html[] {
  const [min, max] = [numbers[least], numbers[most]].map((bound) => bound?.toLocaleString("en-US"));
  const after = unit === "" ? "" : ` ${unit}`;
  if (min !== undefined && max !== undefined) return [markup`${min === max ? min : `${min} to ${max}`}${after}`];
  if (min !== undefined) return [markup`at least ${min}${after}`];
  return max === undefined ? [] : [markup`at most ${max}${after}`];
}

/** The expressions of ordinary text, which refuse only invisible characters. */
const textExpressions = new Map([
  [String.raw`^[^\u0000-\u001f\u007f]*$`, "one line without control characters"],
  [String.raw`^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$`, "no control characters but tab and line breaks"],
  [String.raw`^[^\s@\u0000-\u001f\u007f]+@[^\s@\u0000-\u001f\u007f]+$`, "an e-mail address"],
]);

function expressionWords(expression: string | null): Html[] {
  if (expression === null) return [];
  const words = textExpressions.get(expression);
  return [words === undefined ? markup`matches <code>${expression}</code>` : markup`${words}`];
}
