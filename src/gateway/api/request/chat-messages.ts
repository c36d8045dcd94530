/** The conversation: roles, and for each role the fields of the official schema. */
import { Type } from "@sinclair/typebox";
import { messagesMax } from "../../limits.ts";
import type { ChatMessage } from "../../providers/provider.ts";
import { assistantContent, textContent } from "./chat-content.ts";
import { checkOnly } from "./chat-options.ts";
import { legacyFunctionCall, toolCallId, toolCalls } from "./chat-tools.ts";
import { isJsonObject, type JsonObject } from "../../../http/json-object.ts";
import {
  anyString,
  ignored,
  objectOf,
  oneOf,
  reader,
  readField,
  type Field,
  type ReadContext,
  type Reader,
} from "./read-value.ts";
import { invalidRequest, unsupportedParameter } from "../../../http/bad-request.ts";
import { supports } from "./supports.ts";

const role: Field = { read: anyString, required: true };
const name: Field = { read: anyString, nullable: true };
const content: Field = { read: textContent, required: true };

const noAudio: Reader = reader(Type.Never(), (_, at) => {
  throw unsupportedParameter(at, `Cannot send ${at}: only text content is supported`);
});
/** A model's thoughts go back to those that want them back, and are left out for the others. */
const reasoningContent: Reader = reader(Type.String(), (value, at, context) => {
  const read = anyString(value, at, context);
  return supports(context.model, "reasoning_content") ? read : undefined;
});

const roleField = (...roles: string[]): Field => ({ read: oneOf(...roles), required: true });
const plainMessage = objectOf({ role: roleField("developer", "system", "user"), content, name });
const messageReaders: Record<string, Reader> = {
  developer: plainMessage,
  system: plainMessage,
  user: plainMessage,
  assistant: objectOf({
    role: roleField("assistant"),
    content: { read: assistantContent, nullable: true },
    refusal: { read: anyString, nullable: true },
    name,
    audio: { read: noAudio, nullable: true },
    tool_calls: { read: toolCalls, nullable: true },
    function_call: { read: legacyFunctionCall, nullable: true },
    reasoning_content: { read: reasoningContent, nullable: true },
    annotations: { read: ignored, nullable: true },
    parsed: { read: ignored, nullable: true },
  }),
  tool: objectOf({
    role: roleField("tool"),
    content,
    tool_call_id: { read: toolCallId, required: true },
    name: { read: checkOnly(anyString), nullable: true },
  }),
  function: objectOf({
    role: roleField("function"),
    content: { read: textContent, nullable: true },
    name: { read: anyString, required: true },
  }),
};
const roles = new Map(Object.entries(messageReaders));

export const messagesSchema = Type.Array(Type.Union([...new Set(roles.values())].map(({ schema }) => schema)), {
  minItems: 1,
  maxItems: messagesMax,
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
  const speaker = String(readField(value["role"], `${at}.role`, role, context));
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
