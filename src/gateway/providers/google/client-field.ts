/** The fields of generateContent, and the fields of a chat from which they are made. */
import type { JsonObject } from "../wire/json.ts";
import type { Route } from "../../models/model.ts";
import type { ChatBody, ChatMessage } from "../provider.ts";
import { snakeCase, type FieldPath } from "../rejection/field-path.ts";
import { contentPath, placesOf, type Place, type Turn } from "../wire/message-places.ts";
import { googleConversation } from "./contents.ts";
import { isInstruction } from "../wire/participant.ts";

/** See `WireFormat.clientField`. Google writes names in either case. */
export function googleClientField({ chat, route }: { chat: ChatBody; route: Route }): (path: FieldPath) => FieldPath | null {
  const turnsOf = (some: readonly ChatMessage[]): readonly Turn[] => googleConversation(some, route.upstreamModel).contents;
  const turnOf = (message: ChatMessage): Turn | null => (isInstruction(message) ? null : (turnsOf([message]).at(-1) ?? null));
  const placeOf = placesOf({ messages: chat.messages, turnsOf, turnOf, kindOf });
  return (path) => fieldAt(path, chat, placeOf);
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
      return inTools(rest);
    case "tool_config":
      return ["tool_choice"];
    case "model":
      return ["model"];
    default:
      // Some texts name a field without the object that holds it.
      return inConfig([first, ...rest]);
  }
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
function inTools([, declarations, index, name, ...inner]: FieldPath): FieldPath {
  if (declarations === undefined || index === undefined) return ["tools"];
  if (name === undefined) return ["tools", index];
  const isSchema = ["parameters", "parameters_json_schema"].includes(snakeCase(name));
  return ["tools", index, "function", isSchema ? "parameters" : name, ...inner];
}

function inContents([turn = "", , part, ...inner]: FieldPath, placeOf: ReturnType<typeof placesOf>): FieldPath {
  if (!isIndex(turn)) return ["messages"];
  const place = placeOf({ turn: Number(turn), part: part !== undefined && isIndex(part) ? Number(part) : null });
  return place === null ? ["messages"] : ["messages", String(place.index), ...inPart(place, inner)];
}

function kindOf(part: JsonObject): string {
  return ["functionCall", "functionResponse"].find((kind) => kind in part) ?? "text";
}

function inPart({ message, kind, nth }: Place, names: FieldPath): FieldPath {
  if (kind === null) return [];
  if (kind === "functionCall") {
    const inCall = names.flatMap((name) => callFields.get(name) ?? []);
    return ["tool_calls", String(nth), ...inCall.slice(0, 2)];
  }
  if (kind === "functionResponse") return names.includes("id") ? ["tool_call_id"] : names.includes("response") ? ["content"] : [];
  return contentPath(message.content, nth);
}

const callFields = new Map([
  ["id", ["id"]],
  ["name", ["function", "name"]],
  ["args", ["function", "arguments"]],
]);

/** They are sent as one text, so the first one is named. */
function inInstructions(messages: readonly ChatMessage[]): FieldPath {
  const index = messages.findIndex(isInstruction);
  return index === -1 ? ["messages"] : ["messages", String(index), "content"];
}

function isIndex(text: string): boolean {
  return /^\d{1,5}$/.test(text);
}
