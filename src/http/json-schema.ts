/**
 * Writes the schemas of the code as JSON Schema for people and generators. Branches that accept nothing or everything are dropped, literals
 * become one enumeration, and every field has a description. The output is for documents only; nothing validates with it. Also here: the
 * two kinds of fields that almost every answer's schema has.
 */
import { Type, type TSchema, type TString } from "@sinclair/typebox";

/** A field of an answer. */
export function text(description: string): TString {
  return Type.String({ description });
}

export function textOrNull(description: string) {
  return Type.Union([Type.String(), Type.Null()], { description });
}

export type JsonSchema = Record<string, unknown>;

/** The schemas that the document lists as components, with their names. */
export type Names = ReadonlyMap<TSchema, string>;

/** The schema, or a reference if it has a name. */
export function schemaOrReference(schema: TSchema, names: Names): JsonSchema {
  const name = names.get(schema);
  return name === undefined ? jsonSchema(schema, names) : { $ref: `#/components/schemas/${name}` };
}

export function jsonSchema(schema: TSchema, names: Names): JsonSchema {
  const { anyOf, properties, patternProperties, items, title, description, ...rest } = schema;
  const written: JsonSchema = { ...rest, ...wording(title, description) };
  if (Array.isArray(anyOf)) return { ...union(anyOf.map((one) => schemaOrReference(one, names))), ...written };
  if (items !== undefined) written["items"] = schemaOrReference(items, names);
  if (properties !== undefined) writeProperties(written, properties, names);
  // A record: its pattern matches every key.
  for (const value of Object.values<TSchema>(patternProperties ?? {}))
    written["additionalProperties"] = schemaOrReference(value, names);
  return written;
}

/** A form's description completes the sentence "… is needed"; its title names what the field means. */
function wording(title: unknown, description: unknown): JsonSchema {
  const words = [title, description].filter((text) => typeof text === "string").join(": ");
  if (words === "") return {};
  return { description: (words.charAt(0).toUpperCase() + words.slice(1)).replace(/,$/, "") };
}

/** Joins literals to one enumeration; drops branches that accept nothing or everything, and unwraps unions of one branch. */
function union(branches: JsonSchema[]): JsonSchema {
  const open = branches.flatMap(branchesOf).filter((branch) => !isNever(branch));
  if (open.some((branch) => Object.keys(branch).length === 0)) return {};
  const words = open.filter((branch) => "const" in branch && !("description" in branch));
  const others = open.filter((branch) => !words.includes(branch));
  const listed = words.length < 2 ? words : [{ type: words[0]?.["type"], enum: words.map((word) => word["const"]) }];
  const [first, ...further] = [...listed, ...others];
  if (first === undefined) return { not: {} };
  if (further.length === 0) return first;
  return hoisted([first, ...further]);
}

/** Flattens an inner union without a description. */
function branchesOf(branch: JsonSchema): JsonSchema[] {
  const { anyOf, ...rest } = branch;
  return Array.isArray(anyOf) && Object.keys(rest).length === 0 ? anyOf : [branch];
}

function isNever({ not }: JsonSchema): boolean {
  return typeof not === "object" && not !== null && Object.keys(not).length === 0;
}

/** Moves the description of a nullable branch to the field. */
function hoisted(branches: JsonSchema[]): JsonSchema {
  const described = branches.filter((branch) => branch["type"] !== "null");
  const [only] = described;
  if (only === undefined || described.length > 1 || only["description"] === undefined) return { anyOf: branches };
  const { description, "x-addition": addition, ...rest } = only;
  const words = { description, ...(addition === true && { "x-addition": true }) };
  return { anyOf: branches.map((branch) => (branch === only ? rest : branch)), ...words };
}

/** Omits fields that accept no value: unknown fields are refused anyway. */
function writeProperties(written: JsonSchema, properties: Record<string, TSchema>, names: Names): void {
  const fields = Object.entries(properties).map(([name, one]) => [name, schemaOrReference(one, names)] as const);
  const open = fields.filter(([, field]) => !isNever(field));
  if (open.length > 0) written["properties"] = Object.fromEntries(open);
}
