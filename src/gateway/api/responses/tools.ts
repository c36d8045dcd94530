/**
 * Reads the tools of a Responses request as a chat has them, and finds the client's own tool by the name that a model calls.
 * Every model that takes tools takes functions, and some take custom tools. For the others a custom tool becomes a function with one text,
 * and its grammar goes into the description. A tool of a namespace is named `NAMESPACE__NAME`. The client's search for tools is a function,
 * and what it finds comes after all other tools, so that the prompt before them stays the same from turn to turn.
 * Web search is left out and listed, since some agents always send it. Other tools that a provider would run itself are refused, because
 * they cost more than tokens. The description of a namespace is left out: a chat has no place for it.
 */
import { hash } from "node:crypto";
import { Type, type TSchema } from "@sinclair/typebox";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { invalidRequest, unsupportedParameter } from "../../../kernel/errors.ts";
import { pathText, type FieldPath } from "../../providers/provider-error.ts";
import { parallelToolCalls, toolChoice } from "../request/chat-parts.ts";
import { requireSupport } from "../request/chat-fields.ts";
import {
  anyObject,
  anyString,
  boolean,
  identifier,
  listOf,
  nullable,
  objectOf,
  oneOf,
  readField,
  required,
  truncated,
  type Field,
  type Reader,
  type ReadContext,
} from "../request/read-value.ts";
import { supports } from "../request/requested-model.ts";

/** The client's tool behind a call. */
export interface CalledTool {
  kind: "function" | "custom" | "search";
  name: string;
  /** Absent: it is in none. */
  namespace?: string;
}

/** By the names that models know. */
export type ToolNames = ReadonlyMap<string, CalledTool>;

/** Where the client wrote a tool of the chat. */
const place: unique symbol = Symbol("the client's path");

interface SentTool {
  type: "function" | "custom";
  [place]: FieldPath;
  [field: string]: unknown;
}

/** The fields of a chat that are about tools. */
interface ToolFields {
  tools?: SentTool[];
  tool_choice?: unknown;
  parallel_tool_calls?: unknown;
}

const searchName = "tool_search";
const nameCharactersMax = 64;
const hashCharacters = 8;
const grammarCharactersMax = 16 * 1024;

/** The name by which a model knows a tool, always the same for the same tool. */
export function sentName(name: string, namespace?: string): string {
  if (namespace === undefined) return name;
  const whole = `${namespace}__${name}`;
  if (whole.length <= nameCharactersMax) return whole;
  return `${whole.slice(0, nameCharactersMax - hashCharacters - 2)}__${hash("sha256", whole, "hex").slice(0, hashCharacters)}`;
}

/** A custom tool's call as a call of a function, for models without custom tools. */
export function inputArguments(input: string): string {
  return JSON.stringify({ input });
}

/** Reads `tools`, the tools within `input`, `tool_choice` and `parallel_tool_calls`. @throws GatewayError with `param` */
export function readToolFields(context: ReadContext): ToolFields {
  const { request } = context;
  const tools = readTools(context);
  const [first] = tools;
  if (first !== undefined) requireSupport("tools", pathText(first[place].slice(0, 1)), context);
  const choice = request["tool_choice"] ?? undefined;
  const parallel = request["parallel_tool_calls"] ?? undefined;
  // The chat's readers look at its tools.
  const asChat = { ...context, request: { tools } };
  const fields = {
    tool_choice: choice === undefined ? undefined : toolChoice(readChoice(choice, tools, context), "tool_choice", asChat),
    parallel_tool_calls: parallel === undefined ? undefined : parallelToolCalls(parallel, "parallel_tool_calls", asChat),
  };
  return Object.fromEntries(
    Object.entries({ tools: first && tools, ...fields }).filter(([, value]) => value !== undefined),
  ) as ToolFields;
}

/** The names of a request that was read. */
export function toolNamesOf(request: JsonObject): ToolNames {
  return new Map([...declaredTools(request)].flatMap(({ tool, namespace }) => namedBy(tool, namespace)));
}

/** The client's path of a path in the tools of a chat. */
export function toolPath(tools: unknown, [index = ""]: FieldPath): FieldPath {
  const tool: unknown = Array.isArray(tools) ? tools[Number(index)] : undefined;
  return isSent(tool) ? tool[place] : ["tools"];
}

/** The tools as an answer repeats them: without those that were left out, and with the defaults of absent fields. */
export function repeatedTools(value: unknown): unknown[] {
  const tools: unknown[] = Array.isArray(value) ? value : [];
  return tools.filter((tool) => !isWebSearch(tool)).map(withDefaults);
}

function withDefaults(tool: unknown): unknown {
  if (!isJsonObject(tool)) return tool;
  if (tool["type"] === "function") return { ...tool, parameters: tool["parameters"] ?? null, strict: tool["strict"] ?? false };
  const given = Object.fromEntries(Object.entries(tool).filter(([, value]) => value !== null));
  return tool["type"] === "namespace" ? { description: "", ...given } : given;
}

// The tools

const toolType = (...words: string[]): Field => required(oneOf(...words), "The kind of tool");
const toolUse = nullable(anyString, "What it does, so that the model knows when to call it");
const deferred = nullable(boolean, "Whether only the client's search for tools loads it");
const functionTool = objectOf({
  type: toolType("function"),
  name: required(identifier, "Name of the function, which the model writes exactly"),
  description: toolUse,
  parameters: nullable(anyObject, "JSON Schema of the arguments; absent: none"),
  strict: nullable(boolean, "Whether the arguments must follow the schema exactly; absent: no"),
  defer_loading: deferred,
});
const customTool = objectOf({
  type: toolType("custom"),
  name: required(identifier, "Name of the tool, which the model writes exactly"),
  description: toolUse,
  format: nullable(anyObject, "The form of the input. Models without custom tools get a grammar as a description"),
  defer_loading: deferred,
});
const searchTool = objectOf({
  type: toolType(searchName),
  execution: required(oneOf("client"), "Who searches: only the client"),
  description: toolUse,
  parameters: nullable(anyObject, "JSON Schema of the search"),
});
const readers: ReadonlyMap<unknown, Reader> = new Map([
  ["function", functionTool],
  ["custom", customTool],
]);
const ofNamespace = objectOf({
  type: toolType("namespace"),
  name: required(identifier, "Name of the namespace"),
  description: nullable(anyString, "What its tools are for; not sent on"),
  tools: required(listOf(anyObject, 0), "Functions and custom tools"),
});

const webSearch = Type.Object({ type: Type.String({ pattern: "^web_search", description: "Left out and listed" }) });

export const toolsSchema: TSchema = Type.Array(
  Type.Union([...[functionTool, customTool, searchTool, ofNamespace].map(({ schema }) => schema), webSearch]),
);

interface Declared {
  tool: JsonObject;
  at: FieldPath;
  namespace?: string;
  /** It is within `input`, where it may repeat an earlier tool. */
  isLater: boolean;
}

/** Functions, custom tools and the search, also in namespaces, in the order of the prompt. What is no object is left to the reader. */
function* declaredTools(request: JsonObject): Generator<Declared> {
  yield* declaredIn(request["tools"], ["tools"], false);
  const items: unknown[] = Array.isArray(request["input"]) ? request["input"] : [];
  for (const [index, item] of items.entries()) {
    if (!isJsonObject(item) || !bringsTools.has(item["type"])) continue;
    yield* declaredIn(item["tools"], ["input", String(index), "tools"], true);
  }
}

const bringsTools: ReadonlySet<unknown> = new Set(["additional_tools", "tool_search_output"]);

function* declaredIn(value: unknown, at: FieldPath, isLater: boolean): Generator<Declared> {
  if (!Array.isArray(value)) return;
  for (const [index, tool] of value.entries()) {
    if (!isJsonObject(tool)) continue;
    const own = [...at, String(index)];
    if (tool["type"] !== "namespace") {
      yield { tool, at: own, isLater };
      continue;
    }
    const inner: unknown[] = Array.isArray(tool["tools"]) ? tool["tools"] : [];
    for (const [place, one] of inner.entries())
      if (isJsonObject(one)) yield { tool: one, at: [...own, "tools", String(place)], namespace: String(tool["name"]), isLater };
  }
}

function namedBy(tool: JsonObject, namespace?: string): [string, CalledTool][] {
  const { type, name } = tool;
  if (type === searchName) return [[searchName, { kind: "search", name: searchName }]];
  if ((type !== "function" && type !== "custom") || typeof name !== "string") return [];
  return [[sentName(name, namespace), { kind: type, name, ...(namespace !== undefined && { namespace }) }]];
}

function readTools(context: ReadContext): SentTool[] {
  const { request } = context;
  requireTools(request["tools"], "tools", context);
  const declared = [...declaredTools(request)];
  const isSearched = declared.some(({ tool }) => tool["type"] === searchName);
  const known = new Map<string, CalledTool>();
  const sent: SentTool[] = [];
  for (const one of declared) {
    const at = pathText(one.at);
    if (isWebSearch(one.tool)) {
      context.ignored?.add(at);
      continue;
    }
    const tool = readTool(one, context);
    const [[name, called] = ["", null]] = namedBy(one.tool, one.namespace);
    const before = known.get(name);
    if (before !== undefined && one.isLater && isSame(before, called)) continue;
    if (before !== undefined) throw invalidRequest(`${at}.name`, `${at}.name: another tool has the same name`);
    if (called !== null) known.set(name, called);
    // The client's search finds it, and its result within `input` has it.
    if (tool !== null && !(isSearched && !one.isLater && one.tool["defer_loading"] === true)) sent.push(tool);
  }
  return sent;
}

/** Checks what a list of tools and its namespaces have besides the tools themselves. */
export function requireTools(value: unknown, at: string, context: ReadContext): void {
  if (value == null) return;
  if (!Array.isArray(value)) throw invalidRequest(at, `${at} must be an array`);
  for (const [index, tool] of value.entries()) {
    const place = `${at}[${index}]`;
    if (!isJsonObject(tool)) throw invalidRequest(place, `${place} must be an object`);
    if (tool["type"] === "namespace") ofNamespace(tool, place, context);
  }
}

function readTool({ tool, at: path, namespace }: Declared, context: ReadContext): SentTool | null {
  const at = pathText(path);
  const type = readField(tool["type"], `${at}.type`, anyType, context);
  if (type === searchName && namespace === undefined) return searchFunction(readSearch(tool, at, context), path);
  const read = readers.get(type);
  if (read === undefined) {
    throw unsupportedParameter(`${at}.type`, `${at}.type: a tool of type "${truncated(String(type))}" is not supported`);
  }
  const own = read(tool, at, context) as JsonObject;
  const { name, description } = own;
  const sent = sentName(String(name), namespace);
  if (type === "function") {
    const { parameters, strict } = own;
    return { type: "function", [place]: path, function: present({ name: sent, description, parameters, strict }) };
  }
  const format = isJsonObject(own["format"]) ? readFormat(own["format"], at, context) : null;
  if (!supports(context.model, "custom_tools")) return emulated(sent, description, format, path);
  return { type: "custom", [place]: path, custom: present({ name: sent, description, format: format ?? undefined }) };
}

const anyType = required(anyString, "The kind of tool");

function readSearch(tool: JsonObject, at: string, context: ReadContext): JsonObject {
  const execution = `${at}.execution`;
  if (tool["execution"] !== "client") throw unsupportedParameter(execution, `${execution}: only "client" is supported`);
  return searchTool(tool, at, context) as JsonObject;
}

function searchFunction({ description, parameters }: JsonObject, path: FieldPath): SentTool {
  return { type: "function", [place]: path, function: present({ name: searchName, description, parameters }) };
}

const textFormat = objectOf({ type: required(oneOf("text"), "Free text") });
const grammarFormat = objectOf({
  type: required(oneOf("grammar"), "Text of a grammar"),
  syntax: required(oneOf("lark", "regex"), "The language of the grammar"),
  definition: required(anyString, "The grammar"),
});

/** @returns the format as a chat has it */
function readFormat(value: JsonObject, at: string, context: ReadContext): JsonObject | null {
  const place = `${at}.format`;
  if (value["type"] === "text") return (void textFormat(value, place, context), null);
  const { type, syntax, definition } = grammarFormat(value, place, context) as JsonObject;
  return { type, grammar: { syntax, definition } };
}

/** A model without custom tools writes the input as the only argument of a function. */
function emulated(name: string, description: unknown, format: JsonObject | null, path: FieldPath): SentTool {
  const { syntax, definition } = isJsonObject(format?.["grammar"]) ? format["grammar"] : {};
  const grammar =
    format === null
      ? ""
      : `The input must follow this ${String(syntax)} grammar:\n${String(definition).slice(0, grammarCharactersMax)}`;
  const text = [description, grammar].filter((one) => typeof one === "string" && one !== "").join("\n\n");
  const parameters = {
    type: "object",
    properties: { input: { type: "string", description: "The whole input, as it is" } },
    required: ["input"],
    additionalProperties: false,
  };
  return { type: "function", [place]: path, function: present({ name, description: text || undefined, parameters }) };
}

function isWebSearch(tool: unknown): boolean {
  const type = isJsonObject(tool) ? tool["type"] : undefined;
  return typeof type === "string" && type.startsWith("web_search");
}

function isSame(one: CalledTool, other: CalledTool | null): boolean {
  return one.kind === other?.kind && one.name === other.name && one.namespace === other.namespace;
}

function isSent(tool: unknown): tool is SentTool {
  return typeof tool === "object" && tool !== null && place in tool;
}

function present(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

// The choice among them

const allowedMode = required(oneOf("auto", "required"), "Whether the model must call one");

/** @returns the choice as a chat has it */
function readChoice(choice: unknown, tools: readonly SentTool[], context: ReadContext): unknown {
  if (typeof choice === "string") return choice;
  if (!isJsonObject(choice)) throw invalidRequest("tool_choice", "tool_choice must be a string or an object");
  if (choice["type"] !== "allowed_tools") return readNamed(choice, "tool_choice", tools);
  const { tools: allowed } = choice;
  const mode = readField(choice["mode"], "tool_choice.mode", allowedMode, context);
  if (!Array.isArray(allowed)) throw invalidRequest("tool_choice.tools", "tool_choice.tools must be an array");
  const chosen = allowed.map((one, index) => readNamed(one, `tool_choice.tools[${index}]`, tools));
  return { type: "allowed_tools", allowed_tools: { mode, tools: chosen } };
}

function readNamed(choice: unknown, at: string, tools: readonly SentTool[]): JsonObject {
  const { type, name, namespace } = isJsonObject(choice) ? choice : {};
  if (type !== "function" && type !== "custom") {
    throw unsupportedParameter(at, `${at}: only functions and custom tools can be chosen by name`);
  }
  const sent = typeof name === "string" ? sentName(name, typeof namespace === "string" ? namespace : undefined) : "";
  const tool = tools.find((one) => nameOf(one) === sent);
  if (tool === undefined) throw invalidRequest(`${at}.name`, `${at}.name is not the name of a tool that was sent`);
  return { type: tool.type, [tool.type]: { name: sent } };
}

function nameOf(tool: SentTool): unknown {
  const own = tool[tool.type];
  return isJsonObject(own) ? own["name"] : undefined;
}
