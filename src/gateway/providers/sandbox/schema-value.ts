/**
 * Makes a small value that a JSON Schema accepts, as the sandbox's structured output: the zero value of each type, within its bounds. It
 * knows the keywords that structured output uses. A guess may be wrong, as where two parts of `allOf` bound the same field: the value is
 * checked against the whole schema, and a schema that does not accept it is refused with the path of what cannot be kept. The smallest
 * value needs no reference twice, so schemas that refer to themselves end.
 *
 * Why no package: clients send the schemas, and json-schema-faker 0.6 has no bound for its work. Of twenty hostile schemas, one per request
 * (test/hostile/blocking), three held the thread for more than 10 s, as did `minItems: 1000000000`. It also returns values that their
 * schema refuses, such as for a minimum above the maximum, and its values are random, so no test can predict them.
 */
import { asSent } from "../../../kernel/errors.ts";
import { sandboxSchemaStepsMax } from "../../limits.ts";
import { asArray, asObject, isEmpty, type JsonObject } from "../wire/json.ts";
import { accepts, refusedKeywords, resolveReference, SchemaWork, UnsatisfiableError } from "./schema-check.ts";

/** @throws UnsatisfiableError with the path of what cannot be kept */
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
   * @param followed the references that led there: the smallest value needs none of them again
   */
  valueOf(given: unknown, at: string, followed: readonly string[]): unknown {
    const schema = schemaObject(given, at);
    const keywords = Object.keys(schema);
    this.#work.take(1 + keywords.length, at);
    const refused = keywords.find((keyword) => refusedKeywords.has(keyword));
    if (refused !== undefined) throw new UnsatisfiableError(`${at}.${refused}`, "the sandbox does not know this keyword");
    const { $ref, allOf, ...own } = schema;
    if (typeof $ref === "string" || allOf !== undefined) {
      const parts = [...(typeof $ref === "string" ? [{ $ref }] : []), own, ...asArray(allOf)];
      return this.#together(parts, at, followed);
    }
    if ("anyOf" in schema || "oneOf" in schema) return this.#first(schema, at, followed);
    if ("const" in schema) return this.#accepted([schema["const"]], schema, `${at}.const`, "it does not fit the rest");
    if ("enum" in schema)
      return this.#accepted(asArray(schema["enum"]), schema, `${at}.enum`, "none of its values fits the rest");
    return this.#typed(schema, at, followed);
  }

  /** The value of all parts as one schema. */
  #together(parts: readonly unknown[], at: string, followed: readonly string[]): unknown {
    this.#work.take(parts.length, at);
    let [whole, references] = [{} as JsonObject, followed];
    for (const part of parts) {
      const { $ref, ...own } = schemaObject(part, at);
      let target = {};
      if (typeof $ref === "string") {
        target = this.#followed($ref, at, references);
        references = [...references, $ref];
      }
      for (const rules of [target, own]) whole = this.#merged(whole, rules, at);
    }
    return this.valueOf(whole, at, references);
  }

  #followed(reference: string, at: string, references: readonly string[]): JsonObject {
    const target = resolveReference(reference, this.#work);
    if (target === null)
      throw new UnsatisfiableError(`${at}.$ref`, `it names "${asSent(reference.slice(0, 100))}", which is not in the schema`);
    this.#work.take(references.length, at);
    if (references.includes(reference)) throw new UnsatisfiableError(`${at}.$ref`, "the value would never end");
    return target;
  }

  /** If both have a keyword, the second counts, unless the two simply add up. */
  #merged(one: JsonObject, other: JsonObject, at: string): JsonObject {
    if (isEmpty(other)) return one;
    const whole: JsonObject = { ...one, ...other };
    this.#work.take(Object.keys(whole).length, at);
    for (const keyword of ["required", "allOf"].filter((name) => name in one && name in other)) {
      const list = [...asArray(one[keyword]), ...asArray(other[keyword])];
      this.#work.take(list.length, at);
      whole[keyword] = list;
    }
    if ("properties" in one) whole["properties"] = { ...asObject(one["properties"]), ...asObject(other["properties"]) };
    return whole;
  }

  /** The value of the first alternative that has one; of `oneOf` also accepted by no other. */
  #first(schema: JsonObject, at: string, followed: readonly string[]): unknown {
    const keyword = "anyOf" in schema ? "anyOf" : "oneOf";
    const { [keyword]: alternatives, ...others } = schema;
    const path = `${at}.${keyword}`;
    let reason: unknown = new UnsatisfiableError(path, "it has no alternative that fits the rest");
    for (const [index, alternative] of asArray(alternatives).entries()) {
      try {
        const value = this.#together([others, alternative], `${path}[${index}]`, followed);
        if (accepts(schema, value, this.#work)) return value;
      } catch (error) {
        if (!(error instanceof UnsatisfiableError) || error.isFinal) throw error;
        reason = error;
      }
    }
    throw reason;
  }

  /** The first of the values that the schema accepts. */
  #accepted(values: readonly unknown[], schema: JsonObject, at: string, reason: string): unknown {
    const value = values.find((one) => accepts(schema, one, this.#work));
    if (value === undefined) throw new UnsatisfiableError(at, reason);
    return value;
  }

  #typed(schema: JsonObject, at: string, followed: readonly string[]): unknown {
    const { type: given = impliedType(schema) } = schema;
    const type: unknown = Array.isArray(given) ? given[0] : given;
    if (type === "object") return this.#object(schema, at, followed);
    if (type === "array") return this.#array(schema, at, followed);
    if (type === "string") return this.#text(schema, at);
    if (type === "number" || type === "integer")
      return this.#accepted(numbersNear(schema, type), schema, at, "no number is within its bounds");
    if (type === "boolean") return false;
    if (type === "null") return null;
    throw new UnsatisfiableError(`${at}.type`, "the sandbox knows no value of it");
  }

  #object(schema: JsonObject, at: string, followed: readonly string[]): JsonObject {
    const properties = asObject(schema["properties"]) ?? {};
    const required = asArray(schema["required"]);
    this.#work.take(required.length, at);
    const names = required.filter((name) => typeof name === "string");
    const entries = names.map((name): [string, unknown] => {
      const isListed = Object.hasOwn(properties, name);
      const path = isListed ? `${at}.properties.${name}` : `${at}.additionalProperties`;
      return [name, this.valueOf(isListed ? properties[name] : (schema["additionalProperties"] ?? true), path, followed)];
    });
    return Object.fromEntries(entries);
  }

  #array(schema: JsonObject, at: string, followed: readonly string[]): unknown[] {
    const first = asArray(schema["prefixItems"]);
    const values: unknown[] = [];
    while (values.length < countOf(schema["minItems"])) {
      const index = values.length;
      const [part, path] = index < first.length ? [first[index], `prefixItems[${index}]`] : [schema["items"] ?? true, "items"];
      values.push(this.valueOf(part, `${at}.${path}`, followed));
    }
    return values;
  }

  /** An empty text, or one that is just long enough. A pattern next to a known format is assumed to say the same as the format. */
  #text({ format, pattern, minLength }: JsonObject, at: string): string {
    if (typeof format === "string" && Object.hasOwn(ofFormat, format)) return ofFormat[format] ?? "";
    if (pattern !== undefined) throw new UnsatisfiableError(`${at}.pattern`, "the sandbox makes no text for a pattern");
    this.#work.take(countOf(minLength), at);
    return "x".repeat(countOf(minLength));
  }
}

function schemaObject(given: unknown, at: string): JsonObject {
  const schema = given === true ? {} : asObject(given);
  if (schema === null) throw new UnsatisfiableError(at, "no value is allowed there");
  return schema;
}

/** The type of a schema that names none, by its keywords. Without any, null is as good as any other value. */
function impliedType(schema: JsonObject): string {
  if ("properties" in schema || "required" in schema) return "object";
  return "items" in schema || "prefixItems" in schema ? "array" : "null";
}

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

/** 0, and numbers at the bounds, just beyond them and between them. */
function numbersNear({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: JsonObject, type: string): number[] {
  const step = typeof multipleOf === "number" ? multipleOf : type === "integer" ? 1 : 0;
  const bounds = [minimum, exclusiveMinimum, maximum, exclusiveMaximum].filter((bound) => typeof bound === "number");
  const middle = (Math.min(...bounds) + Math.max(...bounds)) / 2;
  const beyond = bounds.flatMap((bound) => [bound, bound + (step || 1), bound - (step || 1)]);
  const near = [0, ...beyond, middle].filter(Number.isFinite);
  return step === 0 ? near : near.flatMap((number) => [Math.ceil(number / step) * step, Math.floor(number / step) * step]);
}

/** How many items or characters a bound requires. */
function countOf(value: unknown): number {
  return typeof value === "number" ? Math.max(0, Math.ceil(value)) : 0;
}
