/**
 * The fields that the official schema allows and the Responses API does not support, each refused by its path before credit is reserved.
 * After a refusal by the provider, this also finds the chat's field that the refused one was made from.
 */
import type { FieldPath } from "../provider-error.ts";
import { native, type ChatBody, type ChatMessage, type UnsupportedField } from "../provider.ts";
import { asArray, asObject } from "../wire/json.ts";
import { cacheBreakpoints, because } from "../wire/requests.ts";
import { inputItems } from "./request.ts";

/** See `WireFormat.unsupportedField`. */
export function responsesUnsupportedField(chat: ChatBody): UnsupportedField | null {
  for (const unsupportedField of findAll(chat)) return unsupportedField;
  return null;
}

/** The client's field for a field of the Responses API; see `WireFormat.clientField`. */
export function responsesClientField({ chat }: { chat: ChatBody }): (path: FieldPath) => FieldPath | null {
  // The client's own request has the fields of this API.
  if (chat[native]?.format === "openai-responses") return (path) => path;
  let sources: readonly number[] | null = null;
  const sourceOf = (item: number): number | undefined => (sources ??= sourcesOf(chat.messages))[item];
  return (path) => fieldAt(path, chat, sourceOf);
}

const fieldsCarried = new Set([
  "model",
  "messages",
  "temperature",
  "top_p",
  "logprobs",
  "top_logprobs",
  "verbosity",
  "reasoning_effort",
  "response_format",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
]);
/** `reasoning_content` is left out: what the model wants back is the encrypted reasoning in the calls' ids. */
const messageFieldsCarried = new Set(["role", "content", "name", "refusal", "tool_calls", "tool_call_id", "reasoning_content"]);

function* findAll(chat: ChatBody): Generator<UnsupportedField> {
  yield* inMessages(chat.messages);
  for (const field of Object.keys(chat)) if (!fieldsCarried.has(field)) yield because(field);
  const format = asObject(chat["response_format"]);
  if (format?.["type"] === "json_schema" && !asObject(asObject(format["json_schema"])?.["schema"])) {
    yield because("response_format.json_schema.schema", "a format without a schema");
  }
  for (const breakpoint of cacheBreakpoints(chat)) yield because(breakpoint);
}

function* inMessages(messages: readonly ChatMessage[]): Generator<UnsupportedField> {
  const called = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (message.role === "function") yield because(`${at}.role`, "the role function; use tools");
    for (const field of Object.keys(message)) if (!messageFieldsCarried.has(field)) yield because(`${at}.${field}`);
    if (message.role === "tool" && !called.has(message["tool_call_id"])) {
      yield because(`${at}.tool_call_id`, "an id without an earlier call");
    }
    for (const call of asArray(message["tool_calls"])) called.add(asObject(call)?.["id"]);
  }
}

/**
 * The index of the message that each item was made from: one may have become several. Reasoning in ids adds items that are unknown here, so
 * the list ends before it.
 */
function sourcesOf(messages: readonly ChatMessage[]): number[] {
  const sources: number[] = [];
  for (const [index, message] of messages.entries()) {
    if (JSON.stringify(message["tool_calls"] ?? "").includes(".sig.")) break;
    for (const _ of inputItems([message], "")) sources.push(index);
  }
  return sources;
}

function fieldAt(
  [first = "", ...rest]: FieldPath,
  chat: ChatBody,
  sourceOf: (item: number) => number | undefined,
): FieldPath | null {
  switch (first) {
    case "input": {
      const source = sourceOf(Number(rest[0]));
      return source === undefined ? ["messages"] : ["messages", String(source)];
    }
    case "max_output_tokens":
      return ["max_tokens"];
    case "reasoning":
      return ["reasoning_effort"];
    case "text":
      return rest[0] === "verbosity" ? ["verbosity"] : inFormat(rest.slice(1));
    case "tools":
      return inTool(rest, chat);
    case "include":
    case "store":
    case "stream_options":
      return null;
    default:
      return [first, ...rest];
  }
}

function inFormat([name, ...inner]: FieldPath): FieldPath {
  return ["response_format", ...(name === undefined || name === "type" ? [] : ["json_schema", name, ...inner])];
}

function inTool([index, ...inner]: FieldPath, { tools }: ChatBody): FieldPath {
  if (index === undefined) return ["tools"];
  const tool: unknown = Array.isArray(tools) ? tools[Number(index)] : undefined;
  const kind = typeof tool === "object" && tool !== null && "custom" in tool ? "custom" : "function";
  return ["tools", index, ...(inner.length === 0 ? [] : [kind, ...inner])];
}
