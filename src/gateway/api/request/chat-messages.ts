/** The conversation: roles, and for each role the fields of the official schema. */
import { Type } from "@sinclair/typebox";
import { messagesMax } from "../../limits.ts";
import type { ChatMessage } from "../../providers/provider.ts";
import { assistantContent, textContent } from "./chat-content.ts";
import { checkOnly } from "./chat-options.ts";
import { legacyFunctionCall, toolCallId, toolCalls } from "./chat-tools.ts";
import { isJsonObject, type JsonObject } from "../../../http/json-object.ts";
import {
  added,
  anyString,
  ignored,
  nullable,
  objectOf,
  oneOf,
  reader,
  readField,
  required,
  type Field,
  type ReadContext,
  type Reader,
} from "./read-value.ts";
import { invalidRequest, unsupportedParameter } from "../../../http/bad-request.ts";
import { supports } from "./supports.ts";

const speaker = "Who speaks";
const said = "What is said: text, or text in parts. Only text content is supported";
const nameUse = "Tells speakers of one role apart; in a function's message the name of the function, in a tool's a label";
const anyRole = required(anyString, speaker);
const roleField = (...roles: string[]): Field => required(oneOf(...roles), speaker);
const content = required(textContent, said);
const name = nullable(anyString, nameUse);

const noAudio: Reader = reader(Type.Never(), (_, at) => {
  throw unsupportedParameter(at, `Cannot send ${at}: only text content is supported`);
});
/** A model's thoughts go back to those that want them back, and are left out for the others. */
const reasoningContent: Reader = reader(Type.String(), (value, at, context) => {
  const read = anyString(value, at, context);
  return supports(context.model, "reasoning_content") ? read : undefined;
});

const plainMessage = objectOf({ role: roleField("developer", "system", "user"), content, name });
const messageReaders: Record<string, Reader> = {
  developer: plainMessage,
  system: plainMessage,
  user: plainMessage,
  assistant: objectOf({
    role: roleField("assistant"),
    content: nullable(assistantContent, said),
    refusal: nullable(anyString, "Why the model refused, as it was answered"),
    name,
    audio: nullable(noAudio, "Not supported: only null"),
    tool_calls: nullable(toolCalls, "The calls that the model made, as they were answered"),
    function_call: nullable(legacyFunctionCall, "The call of a function that the model made, as it was answered"),
    reasoning_content: added(
      reasoningContent,
      "The model's thoughts, as they were answered: sent on to models that want them back",
    ),
    annotations: nullable(ignored, "What the answer carried; said to no model"),
    parsed: added(ignored, "What the official packages made of the answer; said to no model"),
  }),
  tool: objectOf({
    role: roleField("tool"),
    content,
    tool_call_id: required(toolCallId, "Which call this message is the result of"),
    name: nullable(checkOnly(anyString), nameUse),
  }),
  function: objectOf({
    role: roleField("function"),
    content: nullable(textContent, said),
    name: required(anyString, nameUse),
  }),
};
const roles = new Map(Object.entries(messageReaders));

export const messagesSchema = Type.Array(Type.Union([...new Set(roles.values())].map(({ schema }) => schema)), {
  minItems: 1,
  maxItems: messagesMax,
  description: "The conversation, oldest message first",
});

/** @throws GatewayError invalid_request or unsupported_parameter naming the first field at fault */
export function readMessages(value: unknown, context: ReadContext): ChatMessage[] {
  if (value === undefined) throw invalidRequest("messages", "messages is required");
  if (!Array.isArray(value)) throw invalidRequest("messages", "messages must be an array");
  if (value.length === 0) throw invalidRequest("messages", "messages must not be empty");
  if (value.length > messagesMax) throw invalidRequest("messages", `messages must not have more than ${messagesMax} items`);
  return value.map((message, index) => readMessage(message, `messages[${index}]`, context));
}

function readMessage(value: unknown, at: string, context: ReadContext): ChatMessage {
  if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
  const speaker = String(readField(value["role"], `${at}.role`, anyRole, context));
  const read = roles.get(speaker);
  if (!read)
    throw invalidRequest(`${at}.role`, `${at}.role must be one of ${[...roles.keys()].map((known) => `"${known}"`).join(", ")}`);
  const message = read(value, at, context);
  if (!isJsonObject(message) || (speaker === "assistant" && isEmpty(message))) {
    throw invalidRequest(`${at}.content`, `${at}.content is required where no tool is called`);
  }
  return { ...message, role: speaker };
}

function isEmpty(message: JsonObject): boolean {
  return ["content", "refusal", "tool_calls", "function_call"].every((field) => message[field] === undefined);
}
