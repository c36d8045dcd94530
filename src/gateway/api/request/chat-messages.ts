/** The messages: each role with its fields of the official schema. */
import { Type } from "@sinclair/typebox";
import { messagesMax } from "../../limits.ts";
import { takesReasoning } from "../../models/dialect.ts";
import type { ChatMessage } from "../../providers/provider.ts";
import { assistantContent, promptContent, textContent } from "./chat-content.ts";
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

const roleUse = "The role";
const contentUse = "Text, or text in parts. Only text content is supported";
const nameUse = "Distinguishes speakers of one role; in a function's message the name of the function, in a tool's a label";
const anyRole = required(anyString, roleUse);
const roleField = (...roles: string[]): Field => required(oneOf(...roles), roleUse);
const content = required(promptContent, contentUse);
const name = nullable(anyString, nameUse);

const noAudio: Reader = reader(Type.Never(), (_, at) => {
  throw unsupportedParameter(at, `Cannot send ${at}: only text content is supported`);
});
/** Reasoning goes on to models that reason, whose provider may have it in another form, and is left out for others. */
const reasoningContent: Reader = reader(Type.String(), (value, at, context) => {
  const read = anyString(value, at, context);
  return context.model === null || takesReasoning(context.model) ? read : undefined;
});

const plainMessage = objectOf({ role: roleField("developer", "system", "user"), content, name });
const messageReaders: Record<string, Reader> = {
  developer: plainMessage,
  system: plainMessage,
  user: plainMessage,
  assistant: objectOf({
    role: roleField("assistant"),
    content: nullable(assistantContent, contentUse),
    refusal: nullable(anyString, "The refusal of an earlier answer"),
    name,
    audio: nullable(noAudio, "Not supported: only null"),
    tool_calls: nullable(toolCalls, "The calls of an earlier answer"),
    function_call: nullable(legacyFunctionCall, "The function call of an earlier answer"),
    reasoning_content: added(reasoningContent, "The reasoning of an earlier answer: sent on to models that reason"),
    annotations: nullable(ignored, "The annotations of an earlier answer; not sent on"),
    parsed: added(ignored, "The official packages' parsed form of an earlier answer; not sent on"),
  }),
  tool: objectOf({
    role: roleField("tool"),
    content,
    tool_call_id: required(toolCallId, "Id of the call whose result this message is"),
    name: nullable(checkOnly(anyString), nameUse),
  }),
  function: objectOf({
    role: roleField("function"),
    content: nullable(textContent, contentUse),
    name: required(anyString, nameUse),
  }),
};
const roles = new Map(Object.entries(messageReaders));

export const messagesSchema = Type.Array(Type.Union([...new Set(roles.values())].map(({ schema }) => schema)), {
  minItems: 1,
  maxItems: messagesMax,
  description: "The conversation, oldest message first",
});

/** @throws GatewayError invalid_request or unsupported_parameter with the first wrong field */
export function readMessages(value: unknown, context: ReadContext): ChatMessage[] {
  if (value === undefined) throw invalidRequest("messages", "messages is required");
  if (!Array.isArray(value)) throw invalidRequest("messages", "messages must be an array");
  if (value.length === 0) throw invalidRequest("messages", "messages must not be empty");
  if (value.length > messagesMax) throw invalidRequest("messages", `messages must not have more than ${messagesMax} items`);
  return value.map((message, index) => readMessage(message, `messages[${index}]`, context));
}

function readMessage(value: unknown, at: string, context: ReadContext): ChatMessage {
  if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
  const role = String(readField(value["role"], `${at}.role`, anyRole, context));
  const read = roles.get(role);
  if (!read)
    throw invalidRequest(`${at}.role`, `${at}.role must be one of ${[...roles.keys()].map((known) => `"${known}"`).join(", ")}`);
  const message = read(value, at, context);
  // An answer may be reasoning alone, where its tokens were used up.
  const mustSay = role === "assistant" && value["reasoning_content"] == null;
  if (!isJsonObject(message) || (mustSay && isEmpty(message))) {
    throw invalidRequest(`${at}.content`, `${at}.content is required where no tool is called`);
  }
  return { ...message, role: role };
}

function isEmpty(message: JsonObject): boolean {
  return ["content", "refusal", "tool_calls", "function_call"].every((field) => message[field] === undefined);
}
