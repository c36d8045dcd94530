/**
 * The fields that the official schema allows and the Messages API does not support, each refused by its path before credit is reserved.
 * After a refusal by the provider, this also finds the chat's field that the refused one was made from: several messages are one turn
 * there, and all instructions one field.
 */
import type { Route } from "../../models/model.ts";
import { givesBack } from "../../tool-call-id.ts";
import type { FieldPath } from "../provider-error.ts";
import type { ChatBody, ChatMessage, UnsupportedField } from "../provider.ts";
import { signerOf } from "../wire/answers.ts";
import { asArray, asObject, asText, type JsonObject, ToolArguments } from "../wire/json.ts";
import {
  cacheBreakpoints,
  because,
  contentPath,
  hasThoughts,
  placesOf,
  type Place,
  type SentTurn,
  isInstruction,
  withReminders,
} from "../wire/requests.ts";
import { conversationOf } from "./messages.ts";
import { cacheBreakpointsMax, nativeField, nativeMessages } from "./native.ts";
import { parametersProblem } from "./request.ts";
import { formatSchema, type SchemaProblem } from "./schema.ts";

/** See `WireFormat.unsupportedField`. */
export function anthropicUnsupportedField(chat: ChatBody): UnsupportedField | null {
  // What the API itself takes, its endpoint has checked.
  if (nativeMessages(chat) !== null) return null;
  for (const unsupportedField of findAll(chat)) return unsupportedField;
  return null;
}

const fieldsCarried = new Set([
  "model",
  "messages",
  "temperature",
  "top_p",
  "stop",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning_effort",
  "response_format",
  "cache_control",
]);
const messageFieldsCarried = new Set(["role", "content", "name", "refusal", "tool_calls", "tool_call_id", "reasoning_content"]);

function* findAll(chat: ChatBody): Generator<UnsupportedField> {
  const args = new ToolArguments();
  for (const [index, message] of chat.messages.entries()) yield* inMessage(message, { at: `messages[${index}]`, args });
  if (conversationOf(chat.messages).turns.length === 0) yield because("messages", "a conversation without any text");
  for (const field of Object.keys(chat)) if (!fieldsCarried.has(field)) yield because(field);
  yield* inOptions(chat);
  yield* inTools(chat);
  const [, , , , fifth] = cacheBreakpoints(chat);
  if (fifth !== undefined) yield because(fifth, `more than ${cacheBreakpointsMax} in a request`);
}

function* inMessage(message: ChatMessage, { at, args }: { at: string; args: ToolArguments }): Generator<UnsupportedField> {
  if (message.role === "function") yield because(`${at}.role`, "the role function; use tools");
  for (const field of Object.keys(message)) if (!messageFieldsCarried.has(field)) yield because(`${at}.${field}`);
  if (message.role !== "tool") yield* inParts(message.content, `${at}.content`);
  for (const [index, call] of asArray(message["tool_calls"]).entries()) {
    yield* inToolCall(asObject(call) ?? {}, { at: `${at}.tool_calls[${index}]`, args });
  }
}

/** Blank texts are left out, and a breakpoint must not be lost with them. */
function* inParts(content: unknown, at: string): Generator<UnsupportedField> {
  for (const [index, part] of asArray(content).entries()) {
    const { text, cache_control } = asObject(part) ?? {};
    if (cache_control !== undefined && !/\S/.test(asText(text) ?? "")) {
      yield because(`${at}[${index}].cache_control`, "a breakpoint at blank text");
    }
  }
}

function* inToolCall(call: JsonObject, { at, args }: { at: string; args: ToolArguments }): Generator<UnsupportedField> {
  const called = asObject(call["function"]);
  if (called === null) yield because(`${at}.type`, "calls of custom tools");
  else if (args.read(asText(called["arguments"]) ?? "") === null)
    yield because(`${at}.function.arguments`, "arguments that are not a JSON object, or too deep or too large");
}

/** The API's scale ends at 1 and the official one at 2: a larger value cannot be expressed. */
const temperatureMax = 1;

function* inOptions(chat: ChatBody): Generator<UnsupportedField> {
  const { temperature, stop, response_format } = chat;
  if (typeof temperature === "number" && temperature > temperatureMax)
    yield because("temperature", `more than ${temperatureMax}`);
  if ([stop].flat().some((text) => typeof text === "string" && !/\S/.test(text))) yield because("stop", "blank text");
  const format = asObject(response_format);
  if (format?.["type"] === "json_object") yield because("response_format.type", '"json_object"; give a schema');
  if (format !== null && !asObject(format["json_schema"])?.["schema"]) {
    yield because("response_format.json_schema.schema", "a format without a schema");
  }
  if (format !== null) yield* inSchema(formatSchema(format)?.problem);
}

function* inSchema(problem: SchemaProblem | null | undefined): Generator<UnsupportedField> {
  if (problem) yield because(problem.at, problem.what);
}

function* inTools(chat: ChatBody): Generator<UnsupportedField> {
  for (const [index, tool] of asArray(chat["tools"]).entries()) {
    if (asObject(tool)?.["type"] !== "function") yield because(`tools[${index}].type`, "custom tools");
    const called = asObject(asObject(tool)?.["function"]) ?? {};
    yield* inSchema(parametersProblem(called, `tools[${index}].function.parameters`));
  }
  const choice = asObject(chat["tool_choice"]);
  if (choice !== null && choice["type"] !== "function")
    yield because("tool_choice.type", "a choice of allowed or of custom tools");
}

// The client's field

/** See `WireFormat.clientField`. */
export function anthropicClientField({ chat, route }: { chat: ChatBody; route: Route }): (path: FieldPath) => FieldPath | null {
  const own = nativeMessages(chat);
  if (own !== null) return nativeField(own, { signer: signerOf(route), route });
  // Whether the thoughts of a message were sent depends on more than the conversation.
  const hasUnknownParts = (message: ChatMessage): boolean => hasThoughts(message) || givesBack(message);
  const placeOf = placesOf({ messages: withReminders(chat.messages), turnsOf, turnOf, kindOf, hasUnknownParts });
  return (path) => fieldAt(path, chat, placeOf);
}

function turnsOf(messages: readonly ChatMessage[]): SentTurn[] {
  return conversationOf(messages).turns.map(({ role, content }) => ({ role, parts: content }));
}

/** A message converted alone is the last turn: another turn may open the conversation. */
function turnOf(message: ChatMessage): SentTurn | null {
  return isInstruction(message) ? null : (turnsOf([message]).at(-1) ?? null);
}

function kindOf({ type }: JsonObject): string {
  return String(type);
}

function fieldAt([first = "", ...rest]: FieldPath, chat: ChatBody, placeOf: ReturnType<typeof placesOf>): FieldPath | null {
  switch (first) {
    case "messages":
      return inMessages(rest, placeOf);
    case "system":
      return inSystem(rest, chat.messages);
    case "tools":
      return ["tools", ...inTool(rest)];
    case "tool_choice":
      return rest[0] === "name" ? ["tool_choice", "function", "name"] : ["tool_choice"];
    case "stop_sequences":
      return ["stop", ...rest];
    case "thinking":
      return ["reasoning_effort"];
    case "output_config":
      return rest[0] === "effort" ? ["reasoning_effort"] : inFormat(rest.slice(1));
    case "output_format":
      return inFormat(rest);
    default:
      return ["max_tokens", "model", "temperature", "top_p", "cache_control"].includes(first) ? [first, ...rest] : null;
  }
}

function inMessages([turn, , part, ...inner]: FieldPath, placeOf: ReturnType<typeof placesOf>): FieldPath {
  if (turn === undefined) return ["messages"];
  const place = placeOf({ turn: numberOf(turn), part: part === undefined ? null : numberOf(part) });
  return place === null ? ["messages"] : ["messages", String(place.index), ...inPart(place, inner)];
}

function numberOf(index: string | undefined): number {
  return index !== undefined && /^\d{1,5}$/.test(index) ? Number(index) : 0;
}

const callFields = new Map([
  ["id", ["id"]],
  ["name", ["function", "name"]],
  ["input", ["function", "arguments"]],
]);

/** @param names of the block's fields, behind the name of its type */
function inPart({ message, kind, nth }: Place, names: FieldPath): FieldPath {
  switch (kind) {
    case "text":
      return contentPath(message.content, nth);
    case "tool_use": {
      const inCall = names.flatMap((name) => callFields.get(name) ?? []);
      return ["tool_calls", String(nth), ...inCall.slice(0, 2)];
    }
    case "tool_result":
      return names.includes("tool_use_id") ? ["tool_call_id"] : names.includes("content") ? ["content"] : [];
    case "thinking":
      return ["reasoning_content"];
    default:
      return [];
  }
}

/** The instructions are the texts of all system and developer messages, one after another. */
function inSystem([block]: FieldPath, messages: readonly ChatMessage[]): FieldPath {
  let blocks = 0;
  for (const [index, message] of messages.entries()) {
    if (!isInstruction(message)) continue;
    const { system } = conversationOf([message]);
    if (system.length > 0 && numberOf(block ?? "0") < blocks + system.length) {
      return ["messages", String(index), ...contentPath(message.content, numberOf(block ?? "0") - blocks)];
    }
    blocks += system.length;
  }
  return ["messages"];
}

function inTool([index, ...rest]: FieldPath): FieldPath {
  if (index === undefined) return [];
  const [name, ...inner] = rest[0] === "custom" ? rest.slice(1) : rest;
  if (name === undefined || name === "cache_control") return [index, ...rest];
  return [index, "function", name === "input_schema" ? "parameters" : name, ...inner];
}

function inFormat(names: FieldPath): FieldPath {
  return names[0] === "schema" ? ["response_format", "json_schema", ...names] : ["response_format"];
}
