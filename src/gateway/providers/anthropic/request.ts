/** Our request as a message of the Messages API. What it has no place for was refused before (anthropic-unsupportedField.ts). */
import { asObject, asText, type JsonObject } from "../wire/json.ts";
import type { ChatBody, EncodedCall, ProviderCall } from "../provider.ts";
import { conversationOf } from "./messages.ts";
import { samplingFields } from "./sampling.ts";
import { toolFields } from "./tools.ts";

/** The version of the API, which its address does not tell. */
const version = "2023-06-01";

export function encodeAnthropicRequest({ route, chat, maxOutputTokens, streamed }: ProviderCall): EncodedCall {
  const { system, turns } = conversationOf(chat.messages);
  const body = {
    model: route.upstreamModel,
    max_tokens: maxOutputTokens,
    ...(system !== "" && { system }),
    messages: turns,
    ...samplingFields(chat),
    ...stopFields(chat),
    ...toolFields(chat),
    ...outputFields(chat),
    ...(streamed && { stream: true }),
  };
  return { path: "/messages", headers: { "anthropic-version": version }, body: JSON.stringify(body) };
}

function stopFields({ stop }: ChatBody): JsonObject {
  return stop === undefined ? {} : { stop_sequences: [stop].flat() };
}

/** An effort is a request to think as much as the model sees fit at it; without one the model's own default holds. */
function outputFields({ reasoning_effort: effort, response_format }: ChatBody): JsonObject {
  const format = formatOf(asObject(response_format));
  if (effort === undefined) return format === null ? {} : { output_config: { format } };
  if (effort === "none") return { thinking: { type: "disabled" }, ...(format && { output_config: { format } }) };
  return { thinking: { type: "adaptive" }, output_config: { effort, ...(format && { format }) } };
}

/** The schema's name is a label and has no place; its description has one within the schema. */
function formatOf(responseFormat: JsonObject | null): JsonObject | null {
  const told = asObject(responseFormat?.["json_schema"]);
  if (told === null) return null;
  const description = asText(told["description"]);
  return { type: "json_schema", schema: { ...(description && { description }), ...asObject(told["schema"]) } };
}
