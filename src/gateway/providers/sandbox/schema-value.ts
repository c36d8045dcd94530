/**
 * Makes a small value that a JSON Schema accepts, as the sandbox's structured output: the zero value of each type, within its bounds. It
 * knows the keywords that structured output uses; where it cannot keep one, it says which. The smallest value needs no reference twice, so
 * schemas that refer to themselves end.
 */
import { sandboxSchemaStepsMax } from "../../limits.ts";
import { asArray, asObject, type JsonObject } from "../wire/json.ts";
import { accepts, isRefused, resolveReference, SchemaWork, UnsatisfiableError } from "./schema-check.ts";

/** @throws UnsatisfiableError with the path of the keyword that cannot be kept */
export function schemaValue(root: unknown): unknown {
  const work = new SchemaWork(root, sandboxSchemaStepsMax);
  const value = new SchemaValues(work).valueOf(root, "", []);
  if (accepts(root, value, work)) return value;
  throw new UnsatisfiableError("", "its keywords exclude each other, or are more than the sandbox knows");
}

class SchemaValues {
  readonly #work: SchemaWork;

  constructor(work: SchemaWork) {
    this.#work = work;
  }

  /**
   * @param at the path of the schema
   * @param references those that are being followed: the smallest value needs none of them again
   */
  valueOf(given: unknown, at: string, references: readonly string[]): unknown {
    const schema = given === true ? {} : asObject(given);
    if (schema === null) throw new UnsatisfiableError(at, "no value is allowed there");
    const keywords = Object.keys(schema);
    this.#work.take(1 + keywords.length, at);
    const refused = keywords.find(isRefused);
    if (refused !== undefined) throw new UnsatisfiableError(`${at}.${refused}`, "the sandbox does not know this keyword");
    const { $ref, allOf, anyOf, oneOf, ...own } = schema;
    if (typeof $ref === "string") {
      if (this.#isFollowed($ref, references)) throw new UnsatisfiableError(`${at}.$ref`, "the value would never end");
      const { $ref: _followed, ...others } = schema;
      return this.valueOf(this.#merged(this.#followed($ref, at), others, at), at, [...references, $ref]);
    }
    if (allOf !== undefined) {
      const { allOf: _all, ...others } = schema;
      return this.#all(asArray(allOf), others, { at, references });
    }
    const alternatives = anyOf === undefined ? oneOf : anyOf;
    if (alternatives !== undefined) {
      const others = anyOf === undefined ? own : { ...own, ...(oneOf !== undefined && { oneOf }) };
      return this.#first(asArray(alternatives), others, {
        at: `${at}.${anyOf === undefined ? "oneOf" : "anyOf"}`,
        references,
        schema,
      });
    }
    if ("const" in schema || "enum" in schema) return this.#listed(schema, at);
    return this.#typed(schema, at, references);
  }

  #all(
    parts: readonly unknown[],
    others: JsonObject,
    { at, references }: { at: string; references: readonly string[] },
  ): unknown {
    let [whole, followed] = [others, references];
    for (const part of parts) {
      const object = part === true ? {} : asObject(part);
      if (object === null) throw new UnsatisfiableError(`${at}.allOf`, "no value is allowed there");
      const { $ref, ...rest } = object;
      if (typeof $ref === "string" && this.#isFollowed($ref, followed)) {
        throw new UnsatisfiableError(`${at}.allOf`, "the value would never end");
      }
      if (typeof $ref === "string") followed = [...followed, $ref];
      const named = typeof $ref === "string" ? this.#merged(this.#followed($ref, at), rest, at) : rest;
      whole = this.#merged(whole, named, at);
    }
    return this.valueOf(whole, at, followed);
  }

  /** The value of the first alternative that has one; of `oneOf` also accepted by no other. */
  #first(
    alternatives: readonly unknown[],
    others: JsonObject,
    { at, references, schema }: { at: string; references: readonly string[]; schema: JsonObject },
  ): unknown {
    let reason: unknown = new UnsatisfiableError(at, "it has no alternative that fits the rest");
    for (const [index, alternative] of alternatives.entries()) {
      try {
        const value = this.valueOf(
          this.#merged(others, alternative === true ? {} : (asObject(alternative) ?? { enum: [] }), at),
          `${at}[${index}]`,
          references,
        );
        if (accepts(schema, value, this.#work)) return value;
      } catch (error) {
        if (!(error instanceof UnsatisfiableError) || error.isFinal) throw error;
        reason = error;
      }
    }
    throw reason;
  }

  #listed(schema: JsonObject, at: string): unknown {
    const values = "const" in schema ? [schema["const"]] : asArray(schema["enum"]);
    const value = values.find((one) => accepts(schema, one, this.#work));
    if (value === undefined)
      throw new UnsatisfiableError(`${at}.${"const" in schema ? "const" : "enum"}`, "none of its values fits the rest");
    return value;
  }

  #typed(schema: JsonObject, at: string, references: readonly string[]): unknown {
    const { type: given = impliedType(schema) } = schema;
    const [type = "none"] = Array.isArray(given) ? given : [given];
    if (type === "object") return this.#object(schema, at, references);
    if (type === "array") return this.#array(schema, at, references);
    if (type === "string") return this.#paid(textWithin(schema, at), at);
    if (type === "number" || type === "integer") return numberWithin(schema, { at, whole: type === "integer" });
    if (type === "boolean") return false;
    if (type === "null") return null;
    throw new UnsatisfiableError(`${at}.type`, "the sandbox knows no value of it");
  }

  #object(schema: JsonObject, at: string, references: readonly string[]): JsonObject {
    const properties = asObject(schema["properties"]) ?? {};
    const required = asArray(schema["required"]);
    this.#work.take(required.length, at);
    const names = required.filter((name) => typeof name === "string");
    const entries = names.map((name) => {
      const isListed = Object.hasOwn(properties, name);
      const path = isListed ? `${at}.properties.${name}` : `${at}.additionalProperties`;
      return [
        name,
        this.valueOf(isListed ? properties[name] : (schema["additionalProperties"] ?? true), path, references),
      ] as const;
    });
    return Object.fromEntries(entries);
  }

  #array(schema: JsonObject, at: string, references: readonly string[]): unknown[] {
    const first = asArray(schema["prefixItems"]);
    const least = schema["minItems"];
    const count = typeof least === "number" ? least : 0;
    const values: unknown[] = [];
    for (let index = 0; index < count; index++) {
      const isFirst = index < first.length;
      values.push(
        this.valueOf(
          isFirst ? first[index] : (schema["items"] ?? true),
          isFirst ? `${at}.prefixItems[${index}]` : `${at}.items`,
          references,
        ),
      );
    }
    return values;
  }

  #isFollowed(reference: string, references: readonly string[]): boolean {
    this.#work.take(references.length);
    this.#work.read(references.length * reference.length);
    return references.includes(reference);
  }

  #followed(reference: string, at: string): JsonObject {
    const target = resolveReference(reference, this.#work);
    if (target === null)
      throw new UnsatisfiableError(`${at}.$ref`, `it names "${reference.slice(0, 100)}", which is not in the schema`);
    return target;
  }

  #paid(text: string, at: string): string {
    this.#work.take(text.length, at);
    return text;
  }

  #merged(one: JsonObject, other: JsonObject, at: string): JsonObject {
    return mergedSchema([one, other], { at, work: this.#work });
  }
}

/** Where a schema names no type, by its keywords. Without any, null is as good as every other value. */
function impliedType(schema: JsonObject): string {
  if ("properties" in schema || "required" in schema) return "object";
  if ("items" in schema || "prefixItems" in schema) return "array";
  return "null";
}

// Texts and numbers

/** A value of each format of JSON Schema that has a syntax. */
const ofFormat: Record<string, string> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  duration: "PT0S",
  email: "user@example.com",
  "idn-email": "user@example.com",
  hostname: "example.com",
  "idn-hostname": "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  iri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** An empty string, or one that is just long enough. A pattern next to a known format is assumed to say the same as the format. */
function textWithin(schema: JsonObject, at: string): string {
  const { format, pattern, minLength } = schema;
  const known = typeof format === "string" && Object.hasOwn(ofFormat, format) ? ofFormat[format] : undefined;
  if (known !== undefined) return known;
  if (pattern !== undefined) throw new UnsatisfiableError(`${at}.pattern`, "the sandbox makes no text for a pattern");
  return "x".repeat(typeof minLength === "number" ? Math.min(minLength, textMax) : 0);
}

/** More than any schema may ask for. */
const textMax = 100_000;

/** 0, or the number within the bounds that is nearest to it. */
function numberWithin(schema: JsonObject, { at, whole }: { at: string; whole: boolean }): number {
  const { multipleOf } = schema;
  const step = typeof multipleOf === "number" ? multipleOf : whole ? 1 : 0;
  const [least, least2] = [numberOf(schema, "minimum"), numberOf(schema, "exclusiveMinimum")];
  const [most, most2] = [numberOf(schema, "maximum"), numberOf(schema, "exclusiveMaximum")];
  const low = Math.max(least ?? -Infinity, least2 ?? -Infinity);
  const high = Math.min(most ?? Infinity, most2 ?? Infinity);
  const fits = (value: number) => value >= low && value <= high && value !== least2 && value !== most2;
  const onStep = (value: number) => (step === 0 ? [value] : [Math.ceil(value / step) * step, Math.floor(value / step) * step]);
  const near = [low, high]
    .filter(Number.isFinite)
    .flatMap((bound) => [...onStep(bound), ...onStep(bound + step), ...onStep(bound - step)]);
  const between = [(low + high) / 2, low + 1, high - 1].filter(Number.isFinite).flatMap(onStep);
  const value = [0, ...near, ...between].find(fits);
  if (value !== undefined) return value + 0;
  throw new UnsatisfiableError(
    `${at}.${least === null && least2 === null ? "maximum" : "minimum"}`,
    "no number is within the bounds",
  );
}

function numberOf(schema: JsonObject, keyword: string): number | null {
  const value = schema[keyword];
  return typeof value === "number" ? value : null;
}

// One schema for what two say together, as `allOf` and keywords next to a `$ref` mean it

/** Keywords that no value violates. */
const notes = new Set([
  "title",
  "description",
  "default",
  "examples",
  "$defs",
  "definitions",
  "$schema",
  "$id",
  "$comment",
  "deprecated",
]);

/** @throws UnsatisfiableError for a keyword of which both say something else, where that is not simple to unite */
function mergedSchema(
  [one, other]: readonly [JsonObject, JsonObject],
  { at, work }: { at: string; work: SchemaWork },
): JsonObject {
  const [entries, added] = [new Map(Object.entries(one)), Object.entries(other)];
  work.take(entries.size + added.length, at);
  for (const [keyword, value] of added) {
    const before = entries.get(keyword);
    if (before === undefined || notes.has(keyword)) entries.set(keyword, value);
    else entries.set(keyword, united(keyword, [before, value], { at, work }));
  }
  return Object.fromEntries(entries);
}

function united(
  keyword: string,
  [one, other]: readonly [unknown, unknown],
  { at, work }: { at: string; work: SchemaWork },
): unknown {
  const texts = [JSON.stringify(one), JSON.stringify(other)] as const;
  work.read(texts[0].length + texts[1].length, at);
  if (texts[0] === texts[1]) return one;
  if (keyword === "required") return [...new Set([...asArray(one), ...asArray(other)])];
  if (keyword === "type") return [...new Set([one].flat()).intersection(new Set([other].flat()))];
  if (keyword === "properties") return unitedProperties(asObject(one) ?? {}, asObject(other) ?? {});
  throw new UnsatisfiableError(`${at}.${keyword}`, "two parts of the schema say different things");
}

function unitedProperties(one: JsonObject, other: JsonObject): JsonObject {
  const entries = new Map(Object.entries(one));
  for (const [name, schema] of Object.entries(other)) {
    entries.set(name, entries.has(name) ? { allOf: [entries.get(name), schema] } : schema);
  }
  return Object.fromEntries(entries);
}
