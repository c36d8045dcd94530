/** The fields that the official schema allows and generateContent does not support. */
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import type { ChatBody, ChatMessage, UnsupportedField } from "../provider.ts";
import { isSpoken } from "./contents.ts";
import { allowedNames } from "./tools.ts";
import { cacheBreakpoints } from "../wire/cache-breakpoints.ts";
import { ToolArguments } from "../wire/tool-arguments.ts";
import { because } from "../wire/because.ts";

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

/** See `WireFormat.unsupportedField`. */
export function googleUnsupportedField(chat: ChatBody): UnsupportedField | null {
  for (const unsupportedField of findAll(chat)) return unsupportedField;
  return null;
}

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
