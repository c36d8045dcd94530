/** The tool fields: tools and tool choice. */
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import type { ChatBody } from "../provider.ts";

export function googleToolFields(chat: ChatBody): JsonObject {
  const functions = asArray(chat["tools"]).map((tool) => asObject(asObject(tool)?.["function"]) ?? {});
  if (functions.length === 0) return {};
  const strict = functions.some((one) => one["strict"] === true);
  const functionCallingConfig = callingConfig(chat["tool_choice"], strict);
  return {
    tools: [{ functionDeclarations: functions.map(declaration) }],
    ...(functionCallingConfig && { toolConfig: { functionCallingConfig } }),
  };
}

/** The function names of a choice among some functions; null for any other choice. */
export function allowedNames(choice: JsonObject): (string | null)[] | null {
  if (choice["type"] !== "allowed_tools") return null;
  return asArray(asObject(choice["allowed_tools"])?.["tools"]).map((tool) =>
    asText(asObject(asObject(tool)?.["function"])?.["name"]),
  );
}

/** JSON leaves out what is undefined. An empty schema does not describe an object. */
function declaration({ name, description, parameters }: JsonObject): JsonObject {
  const schema = asObject(parameters) ?? {};
  return { name, description, parametersJsonSchema: Object.keys(schema).length === 0 ? undefined : schema };
}

/**
 * A forced call always follows its schema; a free call does so only with the mode VALIDATED.
 * @returns null for the default, a free choice
 */
function callingConfig(choice: unknown, strict: boolean): JsonObject | null {
  if (choice === undefined || choice === "auto") return strict ? { mode: "VALIDATED" } : null;
  if (choice === "none") return { mode: "NONE" };
  const chosen = asObject(choice);
  if (chosen === null) return { mode: "ANY" };
  const allowed = allowedNames(chosen);
  if (allowed === null) return { mode: "ANY", allowedFunctionNames: [asObject(chosen["function"])?.["name"]] };
  if (allowed.length === 0) return { mode: "NONE" };
  const required = asObject(chosen["allowed_tools"])?.["mode"] === "required";
  return { mode: required ? "ANY" : "VALIDATED", allowedFunctionNames: allowed };
}
