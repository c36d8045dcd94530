/** Whether a JSON Schema accepts a value, for the keywords that the sandbox knows. Others are refused before (`isRefused`). */
import { asArray, asObject, type JsonObject } from "../wire/json.ts";

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

/** The schema, and how much of it may still be looked at: whoever asks chose both. */
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
}

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

/** @returns null: the schema has no such part */
export function resolveReference(reference: string, root: unknown): JsonObject | null {
  if (!reference.startsWith("#")) return null;
  let found: unknown = root;
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
  if (typeof $ref === "string" && !holds(resolveReference($ref, work.root))) return false;
  if (allOf !== undefined && !asArray(allOf).every(holds)) return false;
  if (anyOf !== undefined && !asArray(anyOf).some(holds)) return false;
  if (oneOf !== undefined && asArray(oneOf).filter(holds).length !== 1) return false;
  const isValue = (one: unknown) => isSame(one, value, work);
  if ("const" in rules && !isValue(rules["const"])) return false;
  if ("enum" in rules && !asArray(rules["enum"]).some(isValue)) return false;
  if (type !== undefined && ![type].flat().some((name) => isOfType(name, value))) return false;
  return ofKind(rules, value, work);
}

function ofKind(rules: JsonObject, value: unknown, work: SchemaWork): boolean {
  if (typeof value === "number") return acceptsNumber(rules, value);
  if (typeof value === "string") return isWithin([...value].length, rules["minLength"], rules["maxLength"]);
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

function acceptsArray(rules: JsonObject, values: unknown[], work: SchemaWork): boolean {
  const first = asArray(rules["prefixItems"]);
  work.take(values.length);
  if (!isWithin(values.length, rules["minItems"], rules["maxItems"])) return false;
  if (rules["uniqueItems"] === true && new Set(values.map((one) => JSON.stringify(one))).size < values.length) return false;
  return values.every((one, index) => accepts(index < first.length ? first[index] : (rules["items"] ?? true), one, work));
}

function acceptsObject(rules: JsonObject, object: JsonObject, work: SchemaWork): boolean {
  const properties = asObject(rules["properties"]) ?? {};
  const needed = asArray(rules["required"]);
  work.take(needed.length);
  if (!needed.every((name) => typeof name === "string" && Object.hasOwn(object, name))) return false;
  if (!isWithin(Object.keys(object).length, undefined, rules["maxProperties"])) return false;
  return Object.entries(object).every(([name, value]) =>
    accepts(Object.hasOwn(properties, name) ? properties[name] : (rules["additionalProperties"] ?? true), value, work),
  );
}

function isWithin(size: number, least: unknown, most: unknown): boolean {
  return !(typeof least === "number" && size < least) && !(typeof most === "number" && size > most);
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return asObject(value) !== null;
  return typeof value === type;
}

function isSame(one: unknown, other: unknown, work: SchemaWork): boolean {
  work.take(1);
  if (typeof one !== "object" || typeof other !== "object") return one === other;
  const text = JSON.stringify(one);
  work.take(text.length);
  return text === JSON.stringify(other);
}
