/** The fields of the Responses API, and the fields of a chat from which they are made. */
import type { ChatBody, ChatMessage } from "../provider.ts";
import type { FieldPath } from "../rejection/field-path.ts";
import { inputItems } from "./input.ts";

/** See `WireFormat.clientField`. */
export function responsesClientField({ chat }: { chat: ChatBody }): (path: FieldPath) => FieldPath | null {
  let sources: readonly number[] | null = null;
  const sourceOf = (item: number): number | undefined => (sources ??= sourcesOf(chat.messages))[item];
  return (path) => fieldAt(path, chat, sourceOf);
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

/**
 * The index of the message that each item was made from: one may have become several. Reasoning in ids makes further items that are
 * unknown here, so the list ends before it.
 */
function sourcesOf(messages: readonly ChatMessage[]): number[] {
  const sources: number[] = [];
  for (const [index, message] of messages.entries()) {
    if (JSON.stringify(message["tool_calls"] ?? "").includes(".sig.")) break;
    for (const _ of inputItems([message], "")) sources.push(index);
  }
  return sources;
}
