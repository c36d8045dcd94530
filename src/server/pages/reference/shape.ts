/** A JSON Schema of the OpenAPI document as the reference reads it. */
import type { JsonSchema } from "../../../http/json-schema.ts";

export interface Shape {
  /** The name of the schema that it refers to; the rest is then empty. */
  reference: string | null;
  /** The names of JSON's types. Empty: any value. */
  types: string[];
  description: string;
  /** Of `anyOf`. */
  branches: Shape[];
  /** Of a list. */
  items: Shape | null;
  /** Of an object whose keys are free. */
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
export type Bound = (typeof bounds)[number];

const referenceStart = "#/components/schemas/";

export function shapeOf(schema: JsonSchema): Shape {
  const { $ref, type, description, anyOf, items, additionalProperties } = schema;
  return {
    reference: typeof $ref === "string" ? $ref.slice(referenceStart.length) : null,
    types: listOf(type).map(String),
    description: typeof description === "string" ? description : "",
    branches: listOf(anyOf).filter(isSchema).map(shapeOf),
    items: isSchema(items) ? shapeOf(items) : null,
    values: isSchema(additionalProperties) ? shapeOf(additionalProperties) : null,
    fields: fieldsOf(schema),
    words: "const" in schema ? [schema["const"]] : listOf(schema["enum"]),
    default: schema["default"],
    expression: typeof schema["pattern"] === "string" ? schema["pattern"] : null,
    numbers: Object.fromEntries(bounds.filter((name) => typeof schema[name] === "number").map((name) => [name, schema[name]])),
  };
}

function fieldsOf({ properties, required }: JsonSchema): ShapeField[] {
  if (!isSchema(properties)) return [];
  const needed = listOf(required);
  const fields = Object.entries(properties).filter((entry): entry is [string, JsonSchema] => isSchema(entry[1]));
  return fields.map(([name, schema]) => ({ name, required: needed.includes(name), shape: shapeOf(schema) }));
}

/** The shape itself, or what remains of a union with null; the description stays. */
export function withoutNull(shape: Shape): Shape {
  const others = shape.branches.filter(({ types }) => types.join() !== "null");
  const [only] = others;
  if (only === undefined || others.length === shape.branches.length) return shape;
  if (others.length > 1) return { ...shape, branches: others };
  return { ...only, description: shape.description || only.description, default: shape.default ?? only.default };
}

function listOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
