/**
 * The fields that the official schema allows and generateContent does not support, each refused by its path before credit is reserved.
 * After a refusal by the provider, this also finds the chat's field that the refused one was made from. Google writes names in either case.
 */
import type { Route } from "../../models/model.ts";
import { snakeCase, type FieldPath } from "../provider-error.ts";
import type { ChatBody, ChatMessage, UnsupportedField } from "../provider.ts";
import { asArray, asObject, asText, type JsonObject, ToolArguments } from "../wire/json.ts";
import { cacheBreakpoints, because, contentPath, placesOf, type Place, type SentTurn, isInstruction } from "../wire/requests.ts";
import { isSpoken, allowedNames, googleConversation } from "./request.ts";

/** See `WireFormat.unsupportedField`. */
export function googleUnsupportedField(chat: ChatBody): UnsupportedField | null {
  for (const unsupportedField of findAll(chat)) return unsupportedField;
  return null;
}

const fieldsCarried = new Set([
  "model",
  "messages",
  "temperature",
  "top_p",
  "stop",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "response_format",
  "reasoning_effort",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
]);
/** Reasoning is left out: the model signs its own in the ids of its calls. */
const messageFieldsCarried = new Set([
  "role",
  "content",
  "name",
  "refusal",
  "tool_calls",
  "tool_call_id",
  "function_call",
  "reasoning_content",
]);
const stopsMax = 5;
const noObject = "arguments that are not a JSON object, or too deep or too large";

function* findAll(chat: ChatBody): Generator<UnsupportedField> {
  yield* inMessages(chat.messages);
  if (!chat.messages.some(isSpoken)) yield because("messages", "only empty texts");
  for (const field of Object.keys(chat)) if (!fieldsCarried.has(field)) yield because(field);
  const stops = [chat["stop"] ?? []].flat();
  if (stops.length > stopsMax) yield because("stop", `more than ${stopsMax} sequences`);
  if (stops.includes("")) yield because("stop", "an empty sequence");
  yield* inTools(chat);
  for (const breakpoint of cacheBreakpoints(chat)) yield because(breakpoint);
}

function* inMessages(messages: readonly ChatMessage[]): Generator<UnsupportedField> {
  const called = new Set<unknown>();
  const read = new ToolArguments();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    yield* inFields(message, at);
    if (message.role === "tool" && !called.has(message["tool_call_id"])) {
      yield because(`${at}.tool_call_id`, "an id without an earlier call");
    }
    for (const call of asArray(message["tool_calls"])) called.add(asObject(call)?.["id"]);
    yield* inCalls(message, { at, read });
  }
}

function* inFields(message: ChatMessage, at: string): Generator<UnsupportedField> {
  for (const field of Object.keys(message)) {
    if (!messageFieldsCarried.has(field)) yield because(`${at}.${field}`);
  }
}

function* inCalls(message: ChatMessage, { at, read }: { at: string; read: ToolArguments }): Generator<UnsupportedField> {
  const isObject = (called: JsonObject) => read.read(asText(called["arguments"]) ?? "") !== null;
  const old = asObject(message["function_call"]);
  if (old && !isObject(old)) yield because(`${at}.function_call.arguments`, noObject);
  for (const [index, call] of asArray(message["tool_calls"]).entries()) {
    const called = asObject(asObject(call)?.["function"]);
    if (called === null) yield because(`${at}.tool_calls[${index}].type`, "calls of custom tools");
    else if (!isObject(called)) yield because(`${at}.tool_calls[${index}].function.arguments`, noObject);
  }
}

function* inTools(chat: ChatBody): Generator<UnsupportedField> {
  for (const [index, tool] of asArray(chat["tools"]).entries()) {
    if (asObject(tool)?.["type"] !== "function") yield because(`tools[${index}].type`, "custom tools");
  }
  const choice = asObject(chat["tool_choice"]);
  const allowed = choice && allowedNames(choice);
  if (choice?.["type"] === "custom") yield because("tool_choice.type", "custom tools");
  if (allowed?.includes(null)) yield because("tool_choice.allowed_tools.tools", "tools other than functions");
  if (allowed?.length === 0 && asObject(choice?.["allowed_tools"])?.["mode"] === "required") {
    yield because("tool_choice.allowed_tools.tools", "no tool to choose from");
  }
}

// The client's field

/** See `WireFormat.clientField`. Google writes names in either case. */
export function googleClientField({ chat, route }: { chat: ChatBody; route: Route }): (path: FieldPath) => FieldPath | null {
  const turnsOf = (some: readonly ChatMessage[]): readonly SentTurn[] => googleConversation(some, route.upstreamModel).contents;
  const turnOf = (message: ChatMessage): SentTurn | null => (isInstruction(message) ? null : (turnsOf([message]).at(-1) ?? null));
  const placeOf = placesOf({ messages: chat.messages, turnsOf, turnOf, kindOf });
  return (path) => fieldAt(path, chat, placeOf);
}

function kindOf(part: JsonObject): string {
  return ["functionCall", "functionResponse"].find((kind) => kind in part) ?? "text";
}

function fieldAt([first = "", ...rest]: FieldPath, chat: ChatBody, placeOf: ReturnType<typeof placesOf>): FieldPath | null {
  switch (snakeCase(first)) {
    case "contents":
      return inContents(rest, placeOf);
    case "system_instruction":
      return inInstructions(chat.messages);
    case "generation_config":
      return inConfig(rest);
    case "tools":
      return inDeclarations(rest);
    case "tool_config":
      return ["tool_choice"];
    case "model":
      return ["model"];
    default:
      // Some messages name a field without the object that holds it.
      return inConfig([first, ...rest]);
  }
}

function inContents([turn = "", , part, ...inner]: FieldPath, placeOf: ReturnType<typeof placesOf>): FieldPath {
  if (!isIndex(turn)) return ["messages"];
  const place = placeOf({ turn: Number(turn), part: part !== undefined && isIndex(part) ? Number(part) : null });
  return place === null ? ["messages"] : ["messages", String(place.index), ...inPart(place, inner)];
}

function isIndex(text: string): boolean {
  return /^\d{1,5}$/.test(text);
}

const callFields = new Map([
  ["id", ["id"]],
  ["name", ["function", "name"]],
  ["args", ["function", "arguments"]],
]);

function inPart({ message, kind, nth }: Place, names: FieldPath): FieldPath {
  if (kind === null) return [];
  if (kind === "functionCall") {
    const inCall = names.flatMap((name) => callFields.get(name) ?? []);
    return ["tool_calls", String(nth), ...inCall.slice(0, 2)];
  }
  if (kind === "functionResponse") return names.includes("id") ? ["tool_call_id"] : names.includes("response") ? ["content"] : [];
  return contentPath(message.content, nth);
}

/** They are sent as one text, so the first one is named. */
function inInstructions(messages: readonly ChatMessage[]): FieldPath {
  const index = messages.findIndex(isInstruction);
  return index === -1 ? ["messages"] : ["messages", String(index), "content"];
}

const configFields = new Map<string, FieldPath>([
  ["max_output_tokens", ["max_tokens"]],
  ["temperature", ["temperature"]],
  ["top_p", ["top_p"]],
  ["stop_sequences", ["stop"]],
  ["seed", ["seed"]],
  ["frequency_penalty", ["frequency_penalty"]],
  ["presence_penalty", ["presence_penalty"]],
  ["response_mime_type", ["response_format"]],
  ["response_schema", ["response_format", "json_schema", "schema"]],
  ["response_json_schema", ["response_format", "json_schema", "schema"]],
  ["thinking_config", ["reasoning_effort"]],
  ["thinking_budget", ["reasoning_effort"]],
  ["thinking_level", ["reasoning_effort"]],
]);

function inConfig([name = "", ...rest]: FieldPath): FieldPath | null {
  const field = configFields.get(snakeCase(name));
  return field === undefined ? null : [...field, ...rest];
}

/** All functions are declared in one tool. */
function inDeclarations([, declarations, index, name, ...inner]: FieldPath): FieldPath {
  if (declarations === undefined || index === undefined) return ["tools"];
  if (name === undefined) return ["tools", index];
  const isSchema = ["parameters", "parameters_json_schema"].includes(snakeCase(name));
  return ["tools", index, "function", isSchema ? "parameters" : name, ...inner];
}
