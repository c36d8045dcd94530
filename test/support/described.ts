/** Validates values against the schemas of a served OpenAPI document: plain JSON, as a client generator reads it. */

export type Json = Record<string, unknown>;

/** The keywords that the document may use. This test understands no others. */
const keywords: Record<string, (value: unknown, told: unknown, context: Context) => string[]> = {
  type: (value, types) => (listOf(types).some((type) => isOfType(value, type)) ? [] : [`is no ${String(types)}`]),
  enum: (value, words) => (listOf(words).includes(value) ? [] : [`is none of ${JSON.stringify(words)}`]),
  const: (value, word) => (value === word ? [] : [`is not ${JSON.stringify(word)}`]),
  pattern: (value, pattern) =>
    typeof value !== "string" || new RegExp(String(pattern), "u").test(value) ? [] : [`is not ${String(pattern)}`],
  minLength: (value, min) => bound(typeof value === "string", () => [...String(value)].length >= Number(min), "is too short"),
  maxLength: (value, max) => bound(typeof value === "string", () => [...String(value)].length <= Number(max), "is too long"),
  minimum: (value, min) => bound(typeof value === "number", () => Number(value) >= Number(min), "is too small"),
  maximum: (value, max) => bound(typeof value === "number", () => Number(value) <= Number(max), "is too large"),
  minItems: (value, min) => bound(Array.isArray(value), () => listOf(value).length >= Number(min), "has too few items"),
  maxItems: (value, max) => bound(Array.isArray(value), () => listOf(value).length <= Number(max), "has too many items"),
  minProperties: (value, min) =>
    bound(isJson(value), () => Object.keys(jsonOf(value)).length >= Number(min), "has too few fields"),
  maxProperties: (value, max) =>
    bound(isJson(value), () => Object.keys(jsonOf(value)).length <= Number(max), "has too many fields"),
  required: (value, names) =>
    isJson(value)
      ? listOf(names)
          .filter((name) => !Object.hasOwn(value, String(name)))
          .map((name) => `lacks ${String(name)}`)
      : [],
  properties: (value, properties, context) =>
    isJson(value)
      ? Object.entries(jsonOf(properties)).flatMap(([name, schema]) =>
          Object.hasOwn(value, name) ? problemsOf(value[name], schema, { ...context, at: `${context.at}.${name}` }) : [],
        )
      : [],
  additionalProperties: (value, rule, context) =>
    isJson(value)
      ? Object.keys(value)
          .filter((name) => !Object.hasOwn(jsonOf(context.schema["properties"] ?? {}), name))
          .flatMap((name) =>
            rule === false ? [`has ${name}`] : problemsOf(value[name], rule, { ...context, at: `${context.at}.${name}` }),
          )
      : [],
  propertyNames: (value, rule, context) =>
    isJson(value) ? Object.keys(value).flatMap((name) => problemsOf(name, rule, context)) : [],
  items: (value, rule, context) =>
    Array.isArray(value)
      ? value.flatMap((one, index) => problemsOf(one, rule, { ...context, at: `${context.at}[${index}]` }))
      : [],
  anyOf: (value, branches, context) => {
    const outcomes = listOf(branches).map((branch) => problemsOf(value, branch, context));
    return outcomes.some((problems) => problems.length === 0) ? [] : [`is none of the possible: ${outcomes.flat().join("; ")}`];
  },
  $ref: (value, pointer, context) => problemsOf(value, resolve(context.document, String(pointer)), context),
  description: () => [],
  default: () => [],
  deprecated: () => [],
  writeOnly: () => [],
  "x-addition": () => [],
};

export const knownKeywords: ReadonlySet<string> = new Set(Object.keys(keywords));

interface Context {
  document: Json;
  /** The path of the value. */
  at: string;
  /** The schema that contains the keyword. */
  schema: Json;
}

/** Every path where the value violates the schema. @throws Error at an unknown keyword */
export function problems(document: Json, schema: unknown, value: unknown): string[] {
  return problemsOf(value, schema, { document, at: "", schema: {} });
}

function problemsOf(value: unknown, rules: unknown, context: Context): string[] {
  const schema = jsonOf(rules);
  return Object.entries(schema).flatMap(([keyword, told]) => {
    const check = keywords[keyword];
    if (!check) throw new Error(`The document uses the keyword "${keyword}" at ${context.at}`);
    return check(value, told, { ...context, schema }).map((problem) =>
      problem.startsWith(".") ? problem : `${context.at || "."} ${problem}`,
    );
  });
}

/** The target of a reference such as `#/components/schemas/Key`. @throws Error if it does not exist */
export function resolve(document: Json, pointer: string): Json {
  let found: unknown = document;
  for (const step of pointer.replace(/^#\//, "").split("/")) {
    found = isJson(found) ? found[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  }
  if (!isJson(found)) throw new Error(`The reference ${pointer} points at nothing`);
  return found;
}

/** The value itself, or the target of a reference. */
export function followed(document: Json, value: unknown): Json {
  const { $ref } = jsonOf(value);
  return typeof $ref === "string" ? resolve(document, $ref) : jsonOf(value);
}

/** A body contains one value, or several in an event stream or in lines. */
export function valuesOf(type: string, text: string): unknown[] {
  if (/[/+]json$/.test(type)) return [JSON.parse(text)];
  if (["text/plain", "text/html", "image/svg+xml"].includes(type)) return [text];
  const lines = text.split("\n").map((line) => line.replace(/^data: /, ""));
  return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

/** A schema as plain JSON, without its descriptions. */
export function withoutTitles(schema: unknown): unknown {
  const isTitle = (key: string, value: unknown) => key === "title" && typeof value === "string";
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => (isTitle(key, value) ? undefined : value));
}

export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @throws Error if the document has something else than an object */
export function jsonOf(value: unknown): Json {
  if (isJson(value)) return value;
  throw new Error(`There is ${JSON.stringify(value)} in place of an object`);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function bound(concerned: boolean, holds: () => boolean, problem: string): string[] {
  return !concerned || holds() ? [] : [problem];
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  return type === "object" ? isJson(value) : typeof value === type;
}
