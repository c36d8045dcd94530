/** Encodes our request for generateContent. Fields that it does not support were refused before (unsupported-fields.ts). */
import { asObject, asText, type JsonObject } from "../wire/json.ts";
import type { ChatBody, EncodedCall, ProviderCall } from "../provider.ts";
import { addedToArguments } from "../wire/added-bytes.ts";
import { openingText } from "../wire/opening.ts";
import { googleConversation } from "./contents.ts";
import { thinkingConfig } from "./thinking.ts";
import { googleToolFields } from "./tools.ts";

/** See `WireFormat.addedBytes`. Tools and formats have fewer fields around them than in chat completions. */
export function googleAddedBytes(chat: ChatBody): number {
  return addedToArguments(chat) + openingText.length;
}

export function encodeGoogleRequest({ route, chat, maxOutputTokens, streamed, withoutThoughts }: ProviderCall): EncodedCall {
  const { upstreamModel } = route;
  const { instruction, contents } = googleConversation(chat.messages, upstreamModel, withoutThoughts);
  const body = {
    ...(instruction !== "" && { systemInstruction: { parts: [{ text: instruction }] } }),
    contents,
    ...googleToolFields(chat),
    generationConfig: {
      maxOutputTokens,
      ...samplingFields(chat),
      ...formatFields(asObject(chat["response_format"])),
      thinkingConfig: thinkingConfig(chat["reasoning_effort"], route),
    },
  };
  const method = streamed ? "streamGenerateContent?alt=sse" : "generateContent";
  return { path: `/models/${encodeURIComponent(upstreamModel)}:${method}`, headers: {}, body: JSON.stringify(body) };
}

/** JSON leaves out what is undefined. */
function samplingFields({ temperature, top_p, stop, seed, frequency_penalty, presence_penalty }: ChatBody): JsonObject {
  return {
    temperature,
    topP: top_p,
    stopSequences: typeof stop === "string" ? [stop] : stop,
    // Google's seeds have 32 bits. The same seed always maps to the same replacement.
    seed: typeof seed === "number" ? seed | 0 : undefined,
    frequencyPenalty: frequency_penalty,
    presencePenalty: presence_penalty,
  };
}

/** The API has no field for the schema's name, which is only a label. The description moves into the schema. */
function formatFields(format: JsonObject | null): JsonObject {
  if (format === null) return {};
  const jsonSchema = asObject(format["json_schema"]);
  const schema = asObject(jsonSchema?.["schema"]);
  const description = asText(jsonSchema?.["description"]);
  return {
    responseMimeType: "application/json",
    ...(schema && { responseJsonSchema: { ...(description && { description }), ...schema } }),
  };
}
