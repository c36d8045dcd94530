/** The fields of a message or of a piece of one that are passed on; whatever else a provider adds stays behind. */
import { asArray, asCount, asObject, asText, type JsonObject } from "../wire/json.ts";
import { argumentsText } from "./tool-calls.ts";

/** The one choice that is asked for, of a whole answer or of a chunk. null: there is none. */
export function firstChoice(told: JsonObject | null): JsonObject | null {
  return asObject(asArray(told?.["choices"])[0]);
}

/** Text of a content: plain, or the text parts of a list. null: there is none. */
export function contentText(content: unknown): string | null {
  if (!Array.isArray(content)) return asText(content);
  return content.map((part) => asText(asObject(part)?.["text"]) ?? "").join("");
}

/** What Mistral tells of thinking: parts of the content, each with texts of its own. */
function thoughtsIn(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return contentText(content.flatMap((part) => asArray(asObject(part)?.["thinking"]))) ?? "";
}

/** `refusal`, `reasoning_content` (which Groq, Cerebras, Together and vLLM call `reasoning`, and some tell under both names), `function_call` and `annotations`, where they say something. */
export function furtherFields(message: JsonObject): JsonObject {
  const fields: JsonObject = {};
  const refusal = asText(message["refusal"]);
  const reasoning = asText(message["reasoning_content"]) || asText(message["reasoning"]) || thoughtsIn(message["content"]);
  const functionCall = asObject(message["function_call"]);
  const annotations = asArray(message["annotations"]);
  if (refusal) fields["refusal"] = refusal;
  if (reasoning) fields["reasoning_content"] = reasoning;
  if (functionCall) fields["function_call"] = functionCallOf(functionCall);
  if (annotations.some(isCitation)) fields["annotations"] = annotations.filter(isCitation);
  return fields;
}

/** Of a whole answer, or a piece of it: the name comes first, the arguments bit by bit. */
function functionCallOf(call: JsonObject): JsonObject {
  const name = asText(call["name"]);
  return { ...(name && { name }), arguments: argumentsText(call["arguments"]) };
}

/** The one kind of annotation that the official schema knows. */
function isCitation(annotation: unknown): boolean {
  const told = asObject(annotation);
  const citation = told?.["type"] === "url_citation" ? asObject(told["url_citation"]) : null;
  const { url, title, start_index: start, end_index: end } = citation ?? {};
  return asText(url) !== null && asText(title) !== null && asCount(start) !== null && asCount(end) !== null;
}
