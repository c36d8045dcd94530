/** The fields of the Responses API, and the fields of a chat from which they are made. */
import type { ChatBody, ChatMessage } from "../provider.ts";
import type { FieldPath } from "../rejection/field-path.ts";
import { inputItems } from "./input.ts";

/** See `WireFormat.clientField`. */
export function responsesClientField([first = "", ...rest]: FieldPath, { chat }: { chat: ChatBody }): FieldPath | null {
  switch (first) {
    case "input":
      return ["messages", ...inInput(Number(rest[0]), chat.messages)];
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

/** A message may have become several items. Reasoning in ids makes further items that are unknown here, so nothing after it is named. */
function inInput(item: number, messages: readonly ChatMessage[]): FieldPath {
  let items = 0;
  for (const [index, message] of messages.entries()) {
    if (JSON.stringify(message["tool_calls"] ?? "").includes(".sig.")) return [];
    items += inputItems([message], "").length;
    if (item < items) return [String(index)];
  }
  return [];
}
