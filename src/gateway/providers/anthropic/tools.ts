/** The tool fields: tools and tool choice. */
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import type { ChatBody } from "../provider.ts";
import { fittedSchema, type FittedSchema, type SchemaProblem } from "./schema.ts";

export function toolFields(chat: ChatBody): JsonObject {
  const tools = asArray(chat["tools"]).map((tool) => toolOf(asObject(tool) ?? {}));
  if (tools.length === 0) return {};
  const choice = choiceOf(chat["tool_choice"]);
  const oneAtATime = chat["parallel_tool_calls"] === false && choice?.["type"] !== "none";
  if (oneAtATime) return { tools, tool_choice: { type: "auto", ...choice, disable_parallel_tool_use: true } };
  return { tools, ...(choice && { tool_choice: choice }) };
}

function toolOf({ function: called, cache_control }: JsonObject): JsonObject {
  const { name, description, parameters, strict } = asObject(called) ?? {};
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: strict === true ? strictSchema(parameters, "").schema : inputSchema(asObject(parameters) ?? {}),
    ...(strict === true && { strict }),
    ...(cache_control !== undefined && { cache_control }),
  };
}

/**
 * A function without parameters accepts none.
 * @param at the path of the parameters, for the problem
 */
function strictSchema(parameters: unknown, at: string): FittedSchema {
  const fitted = fittedSchema({ properties: {}, ...inputSchema(asObject(parameters) ?? {}) }, at);
  const { schema, problem } = fitted;
  return problem !== null || schema["type"] === "object" ? fitted : { schema, problem: { at: `${at}.type`, what: noObject } };
}

const noObject = "arguments that are not an object";

/**
 * What the API does not support in a function's parameters; null: nothing.
 * @param at the path of the parameters
 */
export function parametersProblem({ parameters, strict }: JsonObject, at: string): SchemaProblem | null {
  if (strict === true) return strictSchema(parameters, at).problem;
  const type = asObject(parameters)?.["type"] ?? "object";
  return [type].flat().includes("object") ? null : { at: `${at}.type`, what: noObject };
}

const combinations = ["allOf", "anyOf", "oneOf"];

/**
 * The API refuses `allOf`, `anyOf` and `oneOf` at the top of an input schema, which some tool servers write. The input then gets the
 * fields of all variants, requires those that are required in any case, and the model reads the combination in the description. A field
 * is described once: the description has a field's schema only where variants differ in it.
 */
function inputSchema(parameters: JsonObject): JsonObject {
  const combined = combinations.filter((keyword) => Array.isArray(parameters[keyword]));
  if (combined.length === 0) return { ...parameters, type: "object" };
  const rest = Object.fromEntries(Object.entries(parameters).filter(([keyword]) => !combined.includes(keyword)));
  const variants = [...combined.flatMap((keyword) => asArray(parameters[keyword])), rest];
  const always = combined.flatMap((keyword) => requiredBy(keyword, asArray(parameters[keyword])));
  const properties = Object.fromEntries(variants.flatMap((one) => Object.entries(propertiesOf(one))));
  const notes = combined.map((keyword) => {
    const described = asArray(parameters[keyword]).map((one) => withoutDescribed(one, properties));
    return `${keyword}: ${JSON.stringify(described)}`;
  });
  return {
    ...rest,
    type: "object",
    properties,
    required: [...new Set([...asArray(rest["required"]), ...always])],
    description: [asText(rest["description"]) ?? "", `{${notes.join(", ")}}`].filter((text) => text !== "").join("\n\n"),
  };
}

function propertiesOf(schema: unknown): JsonObject {
  return asObject(asObject(schema)?.["properties"]) ?? {};
}

/** Any value fits the schema `{}`, which stands for one of `properties`. */
function withoutDescribed(variant: unknown, properties: JsonObject): unknown {
  const own = Object.entries(propertiesOf(variant));
  if (own.length === 0) return variant;
  return {
    ...asObject(variant),
    properties: Object.fromEntries(own.map(([name, one]) => [name, one === properties[name] ? {} : one])),
  };
}

/** The fields that any of the schemas requires for `allOf`, else those that every one requires. */
function requiredBy(keyword: string, variants: readonly unknown[]): unknown[] {
  const lists = variants.map((one) => asArray(asObject(one)?.["required"]));
  if (keyword === "allOf") return lists.flat();
  const [first = [], ...others] = lists.map((list) => new Set(list));
  return [...first].filter((name) => others.every((list) => list.has(name)));
}

const choices = new Map<unknown, JsonObject>([
  ["auto", { type: "auto" }],
  ["none", { type: "none" }],
  ["required", { type: "any" }],
]);

/** null if the client made no choice. */
function choiceOf(choice: unknown): JsonObject | null {
  const called = asObject(asObject(choice)?.["function"]);
  return called ? { type: "tool", name: called["name"] } : (choices.get(choice) ?? null);
}
