/**
 * Whether a JSON Schema accepts a value, for the keywords that the sandbox knows; others are refused before (`isRefused`). The client
 * chooses the schema and the texts, and one thread serves all clients, so all work is paid for in steps (`SchemaWork`): beyond them the
 * schema is refused.
 */
import { asArray, asObject, type JsonObject } from "../wire/json.ts";

const refusedKeywords = new Set([
  "not",
  "if",
  "then",
  "else",
  "contains",
  "minContains",
  "maxContains",
  "patternProperties",
  "propertyNames",
  "minProperties",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "unevaluatedItems",
  "unevaluatedProperties",
  "$dynamicRef",
  "$recursiveRef",
  "additionalItems",
]);

/** Keywords that restrict values in ways that the sandbox does not know. */
export function isRefused(keyword: string): boolean {
  return refusedKeywords.has(keyword);
}

/** @returns null: the schema has no such part @throws UnsatisfiableError when the work is used up */
export function resolveReference(reference: string, work: SchemaWork): JsonObject | null {
  if (!reference.startsWith("#")) return null;
  work.read(reference.length);
  let found: unknown = work.root;
  for (const part of reference.slice(1).split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return null;
    found = Object(found)[name];
  }
  return found === true ? {} : asObject(found);
}

/** @throws UnsatisfiableError when the work is used up */
export function accepts(schema: unknown, value: unknown, work: SchemaWork): boolean {
  work.take(1);
  if (typeof schema === "boolean") return schema;
  const rules = asObject(schema);
  if (rules === null) return false;
  const holds = (one: unknown) => accepts(one, value, work);
  const { $ref, allOf, anyOf, oneOf, type } = rules;
  if (typeof $ref === "string" && !holds(resolveReference($ref, work))) return false;
  if (allOf !== undefined && !asArray(allOf).every(holds)) return false;
  if (anyOf !== undefined && !asArray(anyOf).some(holds)) return false;
  if (oneOf !== undefined && asArray(oneOf).filter(holds).length !== 1) return false;
  const isValue = (one: unknown) => isSame(one, value, work);
  if ("const" in rules && !isValue(rules["const"])) return false;
  if ("enum" in rules && !asArray(rules["enum"]).some(isValue)) return false;
  if (type !== undefined && !typesOf(type, work).some((name) => isOfType(name, value))) return false;
  return ofKind(rules, value, work);
}

/** Whether two values of JSON are equal; the fields of an object have no order. */
function isSame(one: unknown, other: unknown, work: SchemaWork): boolean {
  work.take(1);
  if (typeof one === "string" && typeof other === "string") {
    if (one.length !== other.length) return false;
    work.read(one.length);
    return one === other;
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, index) => isSame(value, other[index], work));
  }
  const [fields, others] = [asObject(one), asObject(other)];
  if (fields === null || others === null) return one === other;
  const entries = work.entriesOf(fields);
  if (entries.length !== work.entriesOf(others).length) return false;
  return entries.every(([name, value]) => Object.hasOwn(others, name) && isSame(value, others[name], work));
}

/** One or more names of types. */
function typesOf(type: unknown, work: SchemaWork): readonly unknown[] {
  if (!Array.isArray(type)) return [type];
  work.take(type.length);
  return type;
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return asObject(value) !== null;
  return typeof value === type;
}

function ofKind(rules: JsonObject, value: unknown, work: SchemaWork): boolean {
  if (typeof value === "number") return acceptsNumber(rules, value);
  if (typeof value === "string") return acceptsText(rules, value, work);
  if (Array.isArray(value)) return acceptsArray(rules, value, work);
  const object = asObject(value);
  return object === null || acceptsObject(rules, object, work);
}

function acceptsNumber({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject, value: number): boolean {
  if (!isWithin(value, minimum, maximum)) return false;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) return false;
  return typeof multipleOf !== "number" || Number.isInteger(value / multipleOf);
}

function isWithin(size: number, least: unknown, most: unknown): boolean {
  return !(typeof least === "number" && size < least) && !(typeof most === "number" && size > most);
}

/** A text has at least half as many characters as units of UTF-16: most bounds are decided without a look at it. */
function acceptsText({ minLength: least, maxLength: most }: JsonObject, text: string, work: SchemaWork): boolean {
  if (!isWithin(text.length, least, undefined) || !isWithin(text.length / 2, undefined, most)) return false;
  if (isWithin(text.length / 2, least, undefined) && isWithin(text.length, undefined, most)) return true;
  return isWithin(work.charactersOf(text), least, most);
}

function acceptsArray(rules: JsonObject, values: unknown[], work: SchemaWork): boolean {
  const first = asArray(rules["prefixItems"]);
  work.take(values.length);
  if (!isWithin(values.length, rules["minItems"], rules["maxItems"])) return false;
  if (rules["uniqueItems"] === true && !work.areDistinct(values)) return false;
  return values.every((one, index) => accepts(index < first.length ? first[index] : (rules["items"] ?? true), one, work));
}

function acceptsObject(rules: JsonObject, object: JsonObject, work: SchemaWork): boolean {
  const properties = asObject(rules["properties"]) ?? {};
  const needed = asArray(rules["required"]);
  work.take(needed.length);
  if (!needed.every((name) => typeof name === "string" && Object.hasOwn(object, name))) return false;
  const entries = work.entriesOf(object);
  if (!isWithin(entries.length, undefined, rules["maxProperties"])) return false;
  return entries.every(([name, value]) =>
    accepts(Object.hasOwn(properties, name) ? properties[name] : (rules["additionalProperties"] ?? true), value, work),
  );
}

// Work

/** A schema that the sandbox makes no value for. */
export class UnsatisfiableError extends Error {
  override name = "UnsatisfiableError";
  /** The path of the keyword within the schema, such as `.properties.name.pattern`. */
  readonly at: string;
  /** Whether no alternative may be tried: the work is used up. */
  readonly isFinal: boolean;

  constructor(at: string, reason: string, { isFinal = false } = {}) {
    super(reason);
    this.at = at;
    this.isFinal = isFinal;
  }
}

/** Reading this many characters takes as long as looking at one part of a schema. */
const charactersPerStep = 256;

/** The schema, and the steps that are left. What is long to find out is found out once for each value. */
export class SchemaWork {
  /** References name parts of it. */
  readonly root: unknown;
  #steps: number;
  readonly #lengths = new Map<string, number>();
  readonly #entries = new WeakMap<JsonObject, [string, unknown][]>();
  readonly #distinct = new WeakMap<readonly unknown[], boolean>();

  constructor(root: unknown, steps: number) {
    this.root = root;
    this.#steps = steps;
  }

  /** @throws UnsatisfiableError when the work is used up */
  take(steps: number, at = ""): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new UnsatisfiableError(at, "the schema, or the value for it, is too large", { isFinal: true });
  }

  /** @throws UnsatisfiableError when the work is used up */
  read(characters: number, at = ""): void {
    this.take(Math.ceil(characters / charactersPerStep), at);
  }

  /** Characters of a text, of which some are two units of it. @throws UnsatisfiableError when the work is used up */
  charactersOf(text: string): number {
    const known = this.#lengths.get(text);
    if (known !== undefined) return known;
    this.read(text.length);
    let characters = 0;
    for (let at = 0; at < text.length; at += isPair(text, at) ? 2 : 1) characters++;
    this.#lengths.set(text, characters);
    return characters;
  }

  /** @throws UnsatisfiableError when the work is used up */
  entriesOf(object: JsonObject): [string, unknown][] {
    const known = this.#entries.get(object);
    if (known !== undefined) return known;
    const entries = Object.entries(object);
    this.take(entries.length);
    this.#entries.set(object, entries);
    return entries;
  }

  /** Whether all values are different. @throws UnsatisfiableError when the work is used up */
  areDistinct(values: readonly unknown[]): boolean {
    const known = this.#distinct.get(values);
    if (known !== undefined) return known;
    const seen = new Set<string>();
    for (const value of values) {
      const text = JSON.stringify(value);
      this.read(text.length);
      seen.add(text);
    }
    this.#distinct.set(values, seen.size === values.length);
    return seen.size === values.length;
  }
}

/** Whether two units of UTF-16 are one character there. */
function isPair(text: string, at: number): boolean {
  const [first, second] = [text.charCodeAt(at), text.charCodeAt(at + 1)];
  return first >= 0xd8_00 && first <= 0xdb_ff && second >= 0xdc_00 && second <= 0xdf_ff;
}
