/** Finds the tool that a request forces, and builds its arguments: each required property with the zero value of its type. */
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";

export interface ForcedTool {
  name: string;
  /** JSON text. */
  arguments: string;
}

/** null if `tool_choice` forces none. `required` selects the first tool. */
export function forcedTool(request: JsonObject): ForcedTool | null {
  const choice = request["tool_choice"];
  const tools = asArray(request["tools"]).map((tool) => asObject(asObject(tool)?.["function"]) ?? {});
  const named = asText(asObject(asObject(choice)?.["function"])?.["name"]);
  const tool = named === null ? tools[0] : tools.find(({ name }) => name === named);
  if (tool === undefined || (named === null && choice !== "required")) return null;
  return {
    name: asText(tool["name"]) ?? "",
    arguments: JSON.stringify(zeroValue({ type: "object", ...asObject(tool["parameters"]) })),
  };
}

const zeros: Record<string, unknown> = { string: "", number: 0, integer: 0, boolean: false, array: [], null: null };

function zeroValue(schema: JsonObject): unknown {
  const type = asText(Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"]);
  if (type !== "object") return zeros[type ?? "null"] ?? null;
  const properties = asObject(schema["properties"]) ?? {};
  // Each name once: a list that repeats one within objects within objects would have a value for each combination.
  const required = [...new Set(asArray(schema["required"]))].filter((name) => typeof name === "string");
  return Object.fromEntries(required.map((name) => [name, zeroValue(asObject(properties[name]) ?? {})]));
}
