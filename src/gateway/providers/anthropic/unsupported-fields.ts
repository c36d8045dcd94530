/** The fields that the official schema allows and the Messages API does not support. */
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import type { ChatBody, ChatMessage, UnsupportedField } from "../provider.ts";
import { conversationOf } from "./messages.ts";
import { formatSchema, type SchemaProblem } from "./schema.ts";
import { parametersProblem } from "./tools.ts";
import { cacheBreakpoints } from "../wire/cache-breakpoints.ts";
import { ToolArguments } from "../wire/tool-arguments.ts";
import { because } from "../wire/because.ts";

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

const cacheBreakpointsMax = 4;

/** The API's scale ends at 1 and the official one at 2: a larger value cannot be expressed. */
const temperatureMax = 1;

/** See `WireFormat.unsupportedField`. */
export function anthropicUnsupportedField(chat: ChatBody): UnsupportedField | null {
  for (const unsupportedField of findAll(chat)) return unsupportedField;
  return null;
}

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

/** Blank texts are left out, and a breakpoint must not go with them. */
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
