/** Our request as generateContent. What it has no place for was refused before (google-unsupportedField.ts). */
import { asObject, asText, type JsonObject } from "../wire/json.ts";
import type { ChatBody, EncodedCall, ProviderCall } from "../provider.ts";
import { googleConversation } from "./contents.ts";
import { thinkingConfig } from "./thinking.ts";
import { googleToolFields } from "./tools.ts";

export function encodeGoogleRequest({ route, chat, maxOutputTokens, streamed }: ProviderCall): EncodedCall {
  const { upstreamModel } = route;
  const { instruction, contents } = googleConversation(chat.messages, upstreamModel);
  const body = {
    ...(instruction !== "" && { systemInstruction: { parts: [{ text: instruction }] } }),
    contents,
    ...googleToolFields(chat),
    generationConfig: {
      maxOutputTokens,
      ...samplingFields(chat),
      ...formatFields(asObject(chat["response_format"])),
      thinkingConfig: thinkingConfig(chat["reasoning_effort"], upstreamModel),
    },
  };
  const method = streamed ? "streamGenerateContent?alt=sse" : "generateContent";
  return { path: `/models/${encodeURIComponent(upstreamModel)}:${method}`, headers: {}, body: JSON.stringify(body) };
}

/** What is undefined is left out when it is written. */
function samplingFields({ temperature, top_p, stop, seed, frequency_penalty, presence_penalty }: ChatBody): JsonObject {
  return {
    temperature,
    topP: top_p,
    stopSequences: typeof stop === "string" ? [stop] : stop,
    // Seeds have 32 bits there; the same seed always becomes the same one.
    seed: typeof seed === "number" ? seed | 0 : undefined,
    frequencyPenalty: frequency_penalty,
    presencePenalty: presence_penalty,
  };
}

/** The schema's name is a label and has no place; its description has one within the schema. */
function formatFields(format: JsonObject | null): JsonObject {
  if (format === null) return {};
  const told = asObject(format["json_schema"]);
  const schema = asObject(told?.["schema"]);
  const description = asText(told?.["description"]);
  return {
    responseMimeType: "application/json",
    ...(schema && { responseJsonSchema: { ...(description && { description }), ...schema } }),
  };
}
