/**
 * Reads the tools of a request to Messages, and the choice among them, as a chat has them. A client may defer a tool (`defer_loading`) until
 * its search for tools has found it: the model gets the tool once a `tool_reference` in the conversation names it.
 * Tools that the provider itself runs are refused with their path: they cost more than tokens, and no reservation covers that. Fields that
 * only tell a provider how to send a call, or show examples, are left out.
 */
import { Type } from "@sinclair/typebox";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { invalidRequest, unsupportedParameter } from "../../../kernel/errors.ts";
import type { Model, WireFormatName } from "../../models/model.ts";
import { wireFormats } from "../../providers/registry.ts";
import { toolChoice } from "../request/chat-parts.ts";
import {
  anyObject,
  anyString,
  boolean,
  ignored,
  listOf,
  nullable,
  objectOf,
  oneOf,
  reader,
  required,
  truncated,
  type Reader,
  type ReadContext,
} from "../request/read-value.ts";

/** The client's index of a tool. Under a symbol, so that no provider gets it. */
const place: unique symbol = Symbol("place of a tool");

interface SentTool extends JsonObject {
  [place]: number;
}

/** No tool: clients mark with it where deferred tools would stand. */
const placeholder = "DeferredToolPlaceholder";

// Cache breakpoints

const ephemeral = { type: "ephemeral" } as const;
const breakpoint = objectOf({
  type: required(oneOf("ephemeral"), "The only kind"),
  ttl: nullable(
    oneOf("5m", "1h"),
    "How long the provider keeps it unread. `1h` counts as `5m`, since its writes have another price",
  ),
  scope: nullable(ignored, "Not sent on"),
});

/** A hint: left out if the model does not take it. */
export const cacheMark: Reader = reader(breakpoint.schema, (value, at, context) => {
  const read = breakpoint(value, at, context);
  if (isJsonObject(read) && read["ttl"] === "1h") context.ignored?.add("cache_control.ttl");
  if (takesBreakpoints(context.model)) return ephemeral;
  context.ignored?.add("cache_control");
  return undefined;
});

const markedChat = {
  model: "",
  messages: [{ role: "user", content: [{ type: "text", text: "Hello", cache_control: ephemeral }] }],
};
/** Whether a wire format has a place for breakpoints. */
const carriesMarks = new Map<WireFormatName, boolean>();

function takesBreakpoints(model: Model | null): boolean {
  if (model === null || model.kind !== "chat") return true;
  if (!model.supports.has("cache_control")) return false;
  return model.routes.every(({ format }) => {
    const known = carriesMarks.get(format) ?? wireFormats[format].format.unsupportedField?.(markedChat) == null;
    carriesMarks.set(format, known);
    return known;
  });
}

// Tools

const toolName: Reader = reader(Type.String({ pattern: "^[a-zA-Z0-9_-]{1,128}$" }), (value, at) => {
  if (typeof value === "string" && /^[a-zA-Z0-9_-]{1,128}$/.test(value)) return value;
  throw invalidRequest(at, `${at} must be 1 to 128 letters, digits, underscores or hyphens`);
});

const callers: Reader = reader(Type.Array(Type.Literal("direct")), (value, at) => {
  if (!Array.isArray(value)) throw invalidRequest(at, `${at} must be an array`);
  if (value.some((caller) => caller !== "direct")) throw unsupportedParameter(at, `${at}: only "direct" is supported`);
  return undefined;
});

const tool = objectOf({
  type: nullable(oneOf("custom"), "The only kind: a tool that you run"),
  name: required(toolName, "Its name, which the model writes exactly"),
  description: nullable(anyString, "What it does, so that the model knows when to call it"),
  input_schema: required(anyObject, "JSON Schema of its input, an object"),
  strict: nullable(boolean, "Whether the input must follow the schema exactly"),
  cache_control: nullable(cacheMark, "Asks the provider to cache the prompt to the end of this tool"),
  defer_loading: nullable(boolean, "The model gets the tool once a `tool_reference` names it"),
  input_examples: nullable(ignored, "Not sent on"),
  eager_input_streaming: nullable(ignored, "Not sent on"),
  allowed_callers: nullable(callers, "Only `direct`: the model calls it"),
});

const anyTool: Reader = reader(tool.schema, (value, at, context) => {
  const type = isJsonObject(value) ? value["type"] : undefined;
  if (typeof type === "string" && type !== "custom") {
    throw unsupportedParameter(`${at}.type`, `${at}.type: a tool of type "${truncated(type)}" is not supported`);
  }
  return tool(value, at, context);
});

export const toolList: Reader = listOf(anyTool, 0);

/**
 * @param read what `toolList` returned
 * @param loaded the names of the tools to which the conversation refers
 */
export function sentTools(read: readonly JsonObject[], loaded: ReadonlySet<string>): JsonObject[] {
  const sent: SentTool[] = [];
  for (const [index, { name, description, input_schema, strict, cache_control, defer_loading }] of read.entries()) {
    const isSent = name !== placeholder && (defer_loading !== true || loaded.has(String(name)));
    if (!isSent) continue;
    const called = {
      name,
      ...(description !== undefined && { description }),
      parameters: input_schema,
      ...(strict !== undefined && { strict }),
    };
    sent.push({ type: "function", function: called, ...(cache_control !== undefined && { cache_control }), [place]: index });
  }
  return sent;
}

/** The client's index of a tool of the chat; null: there is none. */
export function clientsTool(sent: unknown): number | null {
  return isJsonObject(sent) && place in sent ? (sent as SentTool)[place] : null;
}

// The choice

const choice = objectOf({
  type: required(oneOf("auto", "any", "tool", "none"), "Whether the model may, must, must call one tool, or must not"),
  name: nullable(anyString, "The tool of the type `tool`"),
  disable_parallel_tool_use: nullable(boolean, "Whether the model may make only one call"),
});
export const choiceField: Reader = choice;

const words = new Map<unknown, string>([
  ["auto", "auto"],
  ["any", "required"],
  ["none", "none"],
]);

/** The fields of the chat. @param sent the tools that the model gets @throws GatewayError for a choice that the model or the tools do not allow */
export function choiceFields(read: JsonObject | undefined, sent: readonly JsonObject[], context: ReadContext): JsonObject {
  if (read === undefined) return {};
  const { type, name, disable_parallel_tool_use } = read;
  const isSent = sent.some((one) => isJsonObject(one["function"]) && one["function"]["name"] === name);
  if (type === "tool" && !isSent)
    throw invalidRequest("tool_choice.name", "tool_choice.name is not the name of a tool that was sent");
  const chosen = type === "tool" ? { type: "function", function: { name } } : words.get(type);
  const tool_choice = toolChoice(chosen, "tool_choice", { ...context, request: { tools: sent } });
  return {
    ...(tool_choice !== undefined && { tool_choice }),
    ...(disable_parallel_tool_use === true && sent.length > 0 && { parallel_tool_calls: false }),
  };
}
