/** The fields of the Messages API, and the fields of a chat from which they are made. */
import type { JsonObject } from "../wire/json.ts";
import type { ChatBody, ChatMessage } from "../provider.ts";
import type { FieldPath } from "../rejection/field-path.ts";
import { contentPath, placesOf, type Place, type Turn } from "../wire/message-places.ts";
import { givesBack } from "../../tool-call-id.ts";
import { conversationOf } from "./messages.ts";
import { isInstruction } from "../wire/participant.ts";

/** See `WireFormat.clientField`. */
export function anthropicClientField({ chat }: { chat: ChatBody }): (path: FieldPath) => FieldPath | null {
  // Whether the thoughts of a message were sent depends on more than the conversation.
  const placeOf = placesOf({ messages: chat.messages, turnsOf, turnOf, kindOf, hasUnknownParts: givesBack });
  return (path) => fieldAt(path, chat, placeOf);
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

function inFormat(names: FieldPath): FieldPath {
  return names[0] === "schema" ? ["response_format", "json_schema", ...names] : ["response_format"];
}

function inTool([index, ...rest]: FieldPath): FieldPath {
  if (index === undefined) return [];
  const [name, ...inner] = rest[0] === "custom" ? rest.slice(1) : rest;
  if (name === undefined || name === "cache_control") return [index, ...rest];
  return [index, "function", name === "input_schema" ? "parameters" : name, ...inner];
}

function inMessages([turn, , part, ...inner]: FieldPath, placeOf: ReturnType<typeof placesOf>): FieldPath {
  if (turn === undefined) return ["messages"];
  const place = placeOf({ turn: numberOf(turn), part: part === undefined ? null : numberOf(part) });
  return place === null ? ["messages"] : ["messages", String(place.index), ...inPart(place, inner)];
}

function turnsOf(messages: readonly ChatMessage[]): Turn[] {
  return conversationOf(messages).turns.map(({ role, content }) => ({ role, parts: content }));
}

/** The turn of a message on its own is the last one: another may open the conversation. */
function turnOf(message: ChatMessage): Turn | null {
  return isInstruction(message) ? null : (turnsOf([message]).at(-1) ?? null);
}

function kindOf({ type }: JsonObject): string {
  return String(type);
}

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

const callFields = new Map([
  ["id", ["id"]],
  ["name", ["function", "name"]],
  ["input", ["function", "arguments"]],
]);

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

function numberOf(index: string | undefined): number {
  return index !== undefined && /^\d{1,5}$/.test(index) ? Number(index) : 0;
}
