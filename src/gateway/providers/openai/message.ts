/** Selects the fields of a message, or of a piece of one, that reach the client. All other fields are dropped. */
import { asArray, asCount, asObject, asText, type JsonObject } from "../wire/json.ts";
import { argumentsText, wholeArguments } from "./tool-calls.ts";

/** The only choice of a whole answer or of a chunk; null if there is none. */
export function firstChoice(source: JsonObject | null): JsonObject | null {
  return asObject(asArray(source?.["choices"])[0]);
}

/** The text of a content: a string, or the text parts of a list; null if there is none. */
export function contentText(content: unknown): string | null {
  if (!Array.isArray(content)) return asText(content);
  return content.map((part) => asText(asObject(part)?.["text"]) ?? "").join("");
}

/** Mistral's reasoning: parts of the content that contain texts. */
function thoughtsIn(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return contentText(content.flatMap((part) => asArray(asObject(part)?.["thinking"]))) ?? "";
}

/**
 * The non-empty ones of `refusal`, `reasoning_content`, `function_call` and `annotations`. Groq, Cerebras, Together and vLLM
 * name the reasoning `reasoning`; some providers send both names.
 */
export function furtherFields(message: JsonObject): JsonObject {
  const fields: JsonObject = {};
  const refusal = asText(message["refusal"]);
  const reasoning = asText(message["reasoning_content"]) || asText(message["reasoning"]) || thoughtsIn(message["content"]);
  const functionCall = asObject(message["function_call"]);
  const annotations = asArray(message["annotations"]);
  if (refusal) fields["refusal"] = refusal;
  if (reasoning) fields["reasoning_content"] = reasoning;
  if (functionCall) fields["function_call"] = functionCallOf(functionCall);
  const citations = annotations.length === 0 ? [] : annotations.flatMap(citationOf);
  if (citations.length > 0) fields["annotations"] = citations;
  return fields;
}

/** The same of a whole message, whose call has all of its arguments. */
export function wholeFields(message: JsonObject): JsonObject {
  const fields = furtherFields(message);
  const called = asObject(fields["function_call"]);
  if (called !== null) fields["function_call"] = { ...called, arguments: wholeArguments(called["arguments"]) };
  return fields;
}

/** A call of a whole answer, or a piece of it: the name first, then the arguments piece by piece. */
function functionCallOf(call: JsonObject): JsonObject {
  const name = asText(call["name"]);
  return { ...(name && { name }), arguments: argumentsText(call["arguments"]) };
}

/** The only kind of annotation in the official schema, with its fields alone: a provider may add anything. Nothing for other kinds. */
function citationOf(annotation: unknown): JsonObject[] {
  const source = asObject(annotation);
  const citation = source?.["type"] === "url_citation" ? asObject(source["url_citation"]) : null;
  const { url, title, start_index, end_index } = citation ?? {};
  if (asText(url) === null || asText(title) === null || asCount(start_index) === null || asCount(end_index) === null) return [];
  return [{ type: "url_citation", url_citation: { url, title, start_index, end_index } }];
}
