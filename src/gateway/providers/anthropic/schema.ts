/**
 * Fits a JSON Schema into the subset that the API takes for answers and strict tools, as the vendor's own packages do
 * (https://platform.claude.com/docs/en/build-with-claude/structured-outputs): objects are closed, and a keyword that cannot be enforced
 * moves into the description, where the model reads it. An answer that is valid for a closed object is valid for the open one too. A schema
 * of which nothing, or only an empty object, would be left is reported to the client as a problem. The length of the result is bounded, and
 * with it the work; references become definitions, and a circular one is reported.
 */
import { asArray, asObject, asText, isEmpty, type JsonObject } from "../wire/json.ts";

export interface FittedSchema {
  schema: JsonObject;
  /** The first part that the subset cannot express; null: none. */
  problem: SchemaProblem | null;
}

export interface SchemaProblem {
  /** The path of the part, such as `response_format.json_schema.schema.properties.a.enum`. */
  at: string;
  what: string;
}

const stringFormats = new Set<unknown>([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);
const knownTypes = new Set<unknown>(["object", "array", "string", "integer", "number", "boolean", "null"]);
const scalarTypes = new Set<unknown>(["string", "integer", "number", "boolean", "null"]);
/** Not copied into the description: definitions are fitted where something refers to them, the others mean nothing to a model. */
const leftOut = new Set(["$schema", "$id", "$comment", "$anchor", "$defs", "definitions"]);
const pathCharactersMax = 200;
/** No schema is deep enough for a longer pointer. */
const pointerCharactersMax = 2_000;
/**
 * How long a schema may become, in characters of JSON: a part is written in place and as a definition, and again within a definition that
 * was written before anything referred to the part. Every visited part is written or ends the walk, so this bounds the work too.
 */
const lengthFactorMax = 3;
const lengthAlways = 4_096;
const objectKeywords = ["properties", "patternProperties", "additionalProperties", "required", "minProperties", "maxProperties"];
const arrayKeywords = ["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"];

/** The schema of a `response_format`, which takes the description if it has none; null if there is none. */
export function formatSchema(format: JsonObject): FittedSchema | null {
  const jsonSchema = asObject(format["json_schema"]);
  const schema = asObject(jsonSchema?.["schema"]);
  const description = asText(jsonSchema?.["description"]);
  return schema && fittedSchema({ ...(description && { description }), ...schema }, "response_format.json_schema.schema");
}

/** @param at the path of the schema, for the problem */
export function fittedSchema(schema: JsonObject, at: string): FittedSchema {
  return new SchemaFitter(schema, at).fit();
}

/** A part of the schema that is referred to, under a name in the fitted schema's `$defs`. */
interface Definition {
  name: string;
  part: unknown;
  at: string;
  /** The names of the definitions that it refers to. */
  refersTo: Set<string>;
}

class SchemaFitter {
  readonly #root: JsonObject;
  readonly #at: string;
  /** Keyed by their part. They are fitted one after another, since a chain of them may exceed the call stack. */
  readonly #definitions = new Map<unknown, Definition>();
  readonly #names = new Set<string>();
  #problem: SchemaProblem | null = null;
  /** The characters of JSON that were written. */
  #length = 0;
  readonly #lengthMax: number;
  /** The definition that is being fitted; absent: the root. */
  #referring: Definition | undefined;

  constructor(root: JsonObject, at: string) {
    this.#root = root;
    this.#at = at;
    this.#lengthMax = JSON.stringify(root).length * lengthFactorMax + lengthAlways;
  }

  fit(): FittedSchema {
    const schema = this.#node(this.#rootNode(), this.#at);
    const definitions: [name: string, schema: JsonObject][] = [];
    // Grows while it is walked.
    for (const definition of this.#definitions.values()) {
      if (this.#problem !== null) break;
      this.#referring = definition;
      this.#length += JSON.stringify(definition.name).length;
      definitions.push([definition.name, this.#node(definition.part, definition.at, null)]);
    }
    const circle = this.#findCircle();
    if (circle) this.#report(circle.at, "a recursive schema");
    const $defs = Object.fromEntries(definitions);
    return { schema: definitions.length === 0 ? schema : { ...schema, $defs }, problem: this.#problem };
  }

  /** A root that is only a reference is replaced by its target. */
  #rootNode(): unknown {
    let root: unknown = this.#root;
    for (let hops = 0; hops < 16; hops++) {
      const pointer = asText(asObject(root)?.["$ref"]);
      const target = pointer === null ? undefined : this.#resolved(pointer);
      if (target === undefined) return root;
      root = target;
    }
    return root;
  }

  /** @param known the definition that replaces this part here; null: none, or this is the definition */
  #node(value: unknown, at: string, known: Definition | null = this.#definitions.get(value) ?? null): JsonObject {
    if (this.#problem !== null) return {};
    const fitted = known === null ? this.#part(value, at) : this.#referTo(known);
    this.#length += ownLength(fitted);
    if (this.#length <= this.#lengthMax) return fitted;
    return this.#report(at, "references that make the schema more than three times as long");
  }

  #part(value: unknown, at: string): JsonObject {
    const schema = asObject(value);
    if (schema === null) return this.#report(at, "a schema that is not an object");
    if ("$ref" in schema) return this.#reference(schema["$ref"], `${at}.$ref`);
    const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !leftOut.has(keyword)));
    const { description, title } = rest;
    delete rest["description"];
    delete rest["title"];
    const fitted = this.#typed(rest, at);
    if ("$ref" in fitted) return fitted;
    const notes = Object.entries(rest).map(([keyword, one]) => `${keyword}: ${JSON.stringify(one)}`);
    const note = notes.length === 0 ? "" : `{${notes.join(", ")}}`;
    const described = [asText(description) ?? asText(fitted["description"]) ?? "", note].filter((text) => text !== "");
    return {
      ...fitted,
      ...(typeof title === "string" && { title }),
      ...(described.length > 0 && { description: described.join("\n\n") }),
    };
  }

  /** Removes from `rest` what the subset can express. */
  #typed(rest: JsonObject, at: string): JsonObject {
    const all = taken(rest, "allOf");
    if (Array.isArray(all)) {
      if (all.length !== 1) return this.#report(`${at}.allOf`, "several schemas at once");
      delete rest["type"];
      return this.#node(all[0], `${at}.allOf[0]`, null);
    }
    const keyword = Array.isArray(rest["anyOf"]) ? "anyOf" : "oneOf";
    if (Array.isArray(rest[keyword])) {
      delete rest["type"];
      const variants = asArray(taken(rest, keyword));
      return { anyOf: variants.map((one, index) => this.#node(one, `${at}.${keyword}[${index}]`)) };
    }
    const values = this.#values(rest, at);
    const type = taken(rest, "type") ?? typeOf(rest);
    if (Array.isArray(type)) return this.#severalTypes(type, { rest, values, at });
    if (type === "object") return this.#object(rest, at);
    if (type === "array") return this.#array(rest, at);
    if (type === "string") return { type, ...values, ...stringFormat(rest) };
    if (scalarTypes.has(type)) return { type, ...values };
    if (type === undefined && values["enum"] !== undefined) return values;
    return this.#report(type === undefined ? at : `${at}.type`, type === undefined ? "a schema without a type" : "this type");
  }

  /** `enum` and `const`, only of single values. */
  #values(rest: JsonObject, at: string): JsonObject {
    const list = taken(rest, "enum");
    const one = taken(rest, "const");
    if (Array.isArray(list) && !list.every(isScalar)) return this.#report(`${at}.enum`, "values that are lists or objects");
    if (one !== undefined && !isScalar(one)) return this.#report(`${at}.const`, "a value that is a list or an object");
    if (Array.isArray(list)) return { enum: list };
    if (one === undefined) return {};
    return "type" in rest ? { const: one } : { enum: [one] };
  }

  /** A list of simple types stays; other lists become variants, each with the keywords of its type. */
  #severalTypes(types: unknown[], { rest, values, at }: { rest: JsonObject; values: JsonObject; at: string }): JsonObject {
    if (!types.every((type) => knownTypes.has(type))) return this.#report(`${at}.type`, "this type");
    if (types.every((type) => scalarTypes.has(type))) return { type: types, ...values, ...stringFormat(rest) };
    const object = { ...takenAll(rest, objectKeywords), type: "object" };
    const array = { ...takenAll(rest, arrayKeywords), type: "array" };
    const variants = [...new Set(types)].map((type) => {
      if (type === "object" || type === "array") return this.#node(type === "object" ? object : array, at);
      return this.#node({ ...values, type }, at);
    });
    return { anyOf: variants };
  }

  #object(rest: JsonObject, at: string): JsonObject {
    const given = asObject(taken(rest, "properties"));
    const others = taken(rest, "additionalProperties");
    const required = taken(rest, "required");
    if ((given === null || isEmpty(given)) && (others === undefined ? given === null : others !== false)) {
      return this.#report(
        `${at}.${others === undefined ? "properties" : "additionalProperties"}`,
        "an object whose fields are not named",
      );
    }
    const properties = Object.entries(given ?? {}).map(([name, part]) => [name, this.#node(part, `${at}.properties.${name}`)]);
    return {
      type: "object",
      properties: Object.fromEntries(properties),
      additionalProperties: false,
      ...(Array.isArray(required) && { required }),
    };
  }

  #array(rest: JsonObject, at: string): JsonObject {
    const atLeast = rest["minItems"] === 0 || rest["minItems"] === 1 ? { minItems: taken(rest, "minItems") } : {};
    if (rest["items"] === undefined || Array.isArray(rest["items"])) return { type: "array", ...atLeast };
    return { type: "array", items: this.#node(taken(rest, "items"), `${at}.items`), ...atLeast };
  }

  #reference(pointer: unknown, at: string): JsonObject {
    const text = asText(pointer) ?? "";
    const part = text === "#" ? this.#root : this.#resolved(text);
    if (part === undefined) return this.#report(at, "a reference to a part that the schema lacks");
    const definition = this.#definitions.get(part) ?? this.#define(segmentsOf(text), part);
    this.#definitions.set(part, definition);
    return this.#referTo(definition);
  }

  #define(segments: readonly string[], part: unknown): Definition {
    return { name: this.#nameFor(segments), part, at: [this.#at, ...segments].join("."), refersTo: new Set() };
  }

  #referTo({ name }: Definition): JsonObject {
    this.#referring?.refersTo.add(name);
    return { $ref: `#/$defs/${name}` };
  }

  /** The part at a JSON pointer; undefined if there is none. */
  #resolved(pointer: string): unknown {
    if (!pointer.startsWith("#/") || pointer.length > pointerCharactersMax) return undefined;
    let part: unknown = this.#root;
    for (const segment of segmentsOf(pointer)) {
      if (typeof part !== "object" || part === null || !Object.hasOwn(part, segment)) return undefined;
      part = Reflect.get(part, segment);
    }
    return part;
  }

  #nameFor(segments: readonly string[]): string {
    let name = (segments.at(-1) ?? "").replace(/[^\w-]/g, "_") || "part";
    while (this.#names.has(name)) name += `_${this.#names.size}`;
    this.#names.add(name);
    return name;
  }

  /** Finds a definition in a circle of references. Removes, one by one, the definitions that refer to none of the rest. */
  #findCircle(): Definition | undefined {
    const left = new Map([...this.#definitions.values()].map((one) => [one.name, one]));
    const referredBy = new Map<string, string[]>();
    const waiting: string[] = [];
    for (const { name, refersTo } of left.values()) {
      if (refersTo.size === 0) waiting.push(name);
      for (const other of refersTo) {
        const referring = referredBy.get(other) ?? [];
        referring.push(name);
        referredBy.set(other, referring);
      }
    }
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      left.delete(name);
      for (const referring of referredBy.get(name) ?? []) {
        const open = left.get(referring)?.refersTo;
        if (open?.delete(name) && open.size === 0) waiting.push(referring);
      }
    }
    return left.values().next().value;
  }

  /** Keeps the first problem. @returns a placeholder for the part: its schema is never sent */
  #report(at: string, what: string): JsonObject {
    const path = at.length <= pathCharactersMax ? at : `${at.slice(0, pathCharactersMax)}…`;
    this.#problem ??= { at: path, what };
    return {};
  }
}

function taken(rest: JsonObject, keyword: string): unknown {
  const value = rest[keyword];
  delete rest[keyword];
  return value;
}

function takenAll(rest: JsonObject, keywords: readonly string[]): JsonObject {
  return Object.fromEntries(keywords.filter((keyword) => keyword in rest).map((keyword) => [keyword, taken(rest, keyword)]));
}

function typeOf(rest: JsonObject): string | undefined {
  if (asObject(rest["properties"]) !== null) return "object";
  return rest["items"] === undefined ? undefined : "array";
}

function stringFormat(rest: JsonObject): JsonObject {
  return stringFormats.has(rest["format"]) ? { format: taken(rest, "format") } : {};
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== "object";
}

/** Percent encoding is decoded before the slashes, by RFC 6901. */
function segmentsOf(pointer: string): string[] {
  const parts = decoded(pointer).split("/").slice(1);
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

/** The characters of a part's JSON, without those of its own parts, which were already counted. */
function ownLength(part: JsonObject): number {
  let length = 0;
  for (const [keyword, value] of Object.entries(part)) {
    const names = keyword === "properties" ? Object.keys(asObject(value) ?? {}) : null;
    const isOfParts = keyword === "items" || keyword === "anyOf";
    length += keyword.length + punctuation + (isOfParts ? 0 : JSON.stringify(names ?? value).length);
  }
  return length;
}

/** The characters around a keyword: its quotes, a colon, and a comma or braces. */
const punctuation = 5;
