/**
 * Whether a JSON Schema accepts a value, for the keywords that the sandbox knows; others are refused before (`refusedKeywords`). The
 * client chooses the schema and the texts, and one thread serves all clients, so all work is paid for in steps (`SchemaWork`): beyond
 * them the schema is refused.
 */
import { asArray, asObject, type JsonObject } from "../wire/json.ts";

/** Keywords that restrict values in ways that the sandbox does not know. */
export const refusedKeywords: ReadonlySet<string> = new Set(
  (
    "not if then else contains minContains maxContains patternProperties propertyNames minProperties dependentRequired " +
    "dependentSchemas dependencies unevaluatedItems unevaluatedProperties additionalItems $dynamicRef $recursiveRef"
  ).split(" "),
);

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
  if (type !== undefined && !paid([type].flat(), work).some((name) => isOfType(name, value))) return false;
  if (typeof value === "number") return acceptsNumber(rules, value);
  if (typeof value === "string") return acceptsText(rules, value, work);
  if (Array.isArray(value)) return acceptsArray(rules, value, work);
  const object = asObject(value);
  return object === null || acceptsObject(rules, object, work);
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

/** A schema for which the sandbox makes no value. */
export class UnsatisfiableError extends Error {
  override name = "UnsatisfiableError";
  /** The path within the schema, such as `.properties.name.pattern`. */
  readonly at: string;
  /** Whether no alternative may be tried, because the work is used up. */
  readonly isFinal: boolean;

  constructor(at: string, reason: string, { isFinal = false } = {}) {
    super(reason);
    this.at = at;
    this.isFinal = isFinal;
  }
}

/** Reading this many characters takes as long as looking at one part of a schema. */
const charactersPerStep = 256;

/** The schema, and the steps that are left. */
export class SchemaWork {
  /** References name parts of it. */
  readonly root: unknown;
  #steps: number;

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
  read(characters: number): void {
    this.take(Math.ceil(characters / charactersPerStep));
  }
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
  const names = paid(Object.keys(fields), work);
  if (names.length !== paid(Object.keys(others), work).length) return false;
  return names.every((name) => Object.hasOwn(others, name) && isSame(fields[name], others[name], work));
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return asObject(value) !== null;
  return typeof value === type;
}

function acceptsNumber({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject, value: number): boolean {
  if (!isWithin(value, minimum, maximum)) return false;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) return false;
  return typeof multipleOf !== "number" || Number.isInteger(value / multipleOf);
}

/** A text has at least half as many characters as UTF-16 units, which decides most bounds without reading it. */
function acceptsText({ minLength: least, maxLength: most }: JsonObject, text: string, work: SchemaWork): boolean {
  if (!isWithin(text.length, least, undefined) || !isWithin(text.length / 2, undefined, most)) return false;
  if (isWithin(text.length / 2, least, undefined) && isWithin(text.length, undefined, most)) return true;
  work.read(text.length);
  let characters = 0;
  for (const _character of text) characters++;
  return isWithin(characters, least, most);
}

function acceptsArray(rules: JsonObject, values: unknown[], work: SchemaWork): boolean {
  const first = asArray(rules["prefixItems"]);
  if (!isWithin(paid(values, work).length, rules["minItems"], rules["maxItems"])) return false;
  if (rules["uniqueItems"] === true && !areDistinct(values, work)) return false;
  return values.every((one, index) => accepts(index < first.length ? first[index] : (rules["items"] ?? true), one, work));
}

function areDistinct(values: readonly unknown[], work: SchemaWork): boolean {
  const seen = new Set<string>();
  for (const value of values) {
    const text = JSON.stringify(value);
    work.read(text.length);
    seen.add(text);
  }
  return seen.size === values.length;
}

function acceptsObject(rules: JsonObject, object: JsonObject, work: SchemaWork): boolean {
  const properties = asObject(rules["properties"]) ?? {};
  const needed = paid(asArray(rules["required"]), work);
  if (!needed.every((name) => typeof name === "string" && Object.hasOwn(object, name))) return false;
  const names = paid(Object.keys(object), work);
  if (!isWithin(names.length, undefined, rules["maxProperties"])) return false;
  return names.every((name) =>
    accepts(Object.hasOwn(properties, name) ? properties[name] : (rules["additionalProperties"] ?? true), object[name], work),
  );
}

function isWithin(size: number, least: unknown, most: unknown): boolean {
  return !(typeof least === "number" && size < least) && !(typeof most === "number" && size > most);
}

/** The list, of which each entry is a step. @throws UnsatisfiableError when the work is used up */
function paid<T>(list: readonly T[], work: SchemaWork): readonly T[] {
  work.take(list.length);
  return list;
}
