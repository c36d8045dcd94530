/** The fields of a message or of a piece of one that are passed on; whatever else a provider adds stays behind. */
import { asArray, asObject, asText, type JsonObject } from "../json.ts";

/** Text of a content: plain, or the text parts of a list. null: there is none. */
export function contentText(content: unknown): string | null {
  if (!Array.isArray(content)) return asText(content);
  return content.map((part) => asText(asObject(part)?.["text"]) ?? "").join("");
}

/** `refusal`, `reasoning_content`, `function_call` and `annotations`, where they say something. */
export function furtherFields(message: JsonObject): JsonObject {
  const fields: JsonObject = {};
  const refusal = asText(message["refusal"]);
  const reasoning = asText(message["reasoning_content"]);
  const functionCall = asObject(message["function_call"]);
  const annotations = asArray(message["annotations"]);
  if (refusal) fields["refusal"] = refusal;
  if (reasoning) fields["reasoning_content"] = reasoning;
  if (functionCall) fields["function_call"] = functionCall;
  if (annotations.length > 0) fields["annotations"] = annotations;
  return fields;
}
