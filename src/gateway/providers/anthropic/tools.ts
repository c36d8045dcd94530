/** The tool fields: tools and tool choice. */
import { asArray, asObject, type JsonObject } from "../wire/json.ts";
import type { ChatBody } from "../provider.ts";

export function toolFields(chat: ChatBody): JsonObject {
  const tools = asArray(chat["tools"]).map((tool) => toolOf(asObject(tool) ?? {}));
  if (tools.length === 0) return {};
  const choice = choiceOf(chat["tool_choice"]);
  const oneAtATime = chat["parallel_tool_calls"] === false && choice?.["type"] !== "none";
  if (oneAtATime) return { tools, tool_choice: { type: "auto", ...choice, disable_parallel_tool_use: true } };
  return { tools, ...(choice && { tool_choice: choice }) };
}

/** A function without parameters accepts none. */
function toolOf({ function: called, cache_control }: JsonObject): JsonObject {
  const { name, description, parameters, strict } = asObject(called) ?? {};
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: { type: "object", ...asObject(parameters) },
    ...(strict === true && { strict }),
    ...(cache_control !== undefined && { cache_control }),
  };
}

const choices = new Map<unknown, JsonObject>([
  ["auto", { type: "auto" }],
  ["none", { type: "none" }],
  ["required", { type: "any" }],
]);

/** null if the client made no choice. */
function choiceOf(choice: unknown): JsonObject | null {
  const called = asObject(asObject(choice)?.["function"]);
  return called ? { type: "tool", name: called["name"] } : (choices.get(choice) ?? null);
}
