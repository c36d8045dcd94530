/** Encodes our request for the Messages API. Fields that it does not support were refused before (unsupported-fields.ts). */
import { asObject, type JsonObject } from "../wire/json.ts";
import type { ChatBody, EncodedCall, ProviderCall } from "../provider.ts";
import { conversationOf, type Conversation } from "./messages.ts";
import { samplingFields } from "./sampling.ts";
import { formatSchema } from "./schema.ts";
import { toolFields } from "./tools.ts";

/** The API version, which is not part of the URL. */
const version = "2023-06-01";

export function encodeAnthropicRequest({ route, chat, maxOutputTokens, streamed }: ProviderCall): EncodedCall {
  const { system, turns } = conversationOf(chat.messages);
  const body = {
    model: route.upstreamModel,
    max_tokens: maxOutputTokens,
    ...systemField(system),
    messages: turns,
    ...samplingFields(chat),
    ...stopFields(chat),
    ...toolFields(chat),
    ...outputFields(chat),
    ...cacheField(chat),
    ...(streamed && { stream: true }),
  };
  return { path: "/messages", headers: { "anthropic-version": version }, body: JSON.stringify(body) };
}

function systemField([first, ...others]: Conversation["system"]): JsonObject {
  if (first === undefined) return {};
  const isOneText = others.length === 0 && first.cache_control === undefined;
  return { system: isOneText ? first.text : [first, ...others] };
}

function cacheField({ cache_control }: ChatBody): JsonObject {
  return cache_control === undefined ? {} : { cache_control };
}

function stopFields({ stop }: ChatBody): JsonObject {
  return stop === undefined ? {} : { stop_sequences: [stop].flat() };
}

/** An effort lets the model decide how much to think at that effort; without one the model's default applies. */
function outputFields({ reasoning_effort: effort, response_format }: ChatBody): JsonObject {
  const format = formatOf(asObject(response_format));
  if (effort === undefined) return format === null ? {} : { output_config: { format } };
  if (effort === "none") return { thinking: { type: "disabled" }, ...(format && { output_config: { format } }) };
  return { thinking: { type: "adaptive" }, output_config: { effort, ...(format && { format }) } };
}

function formatOf(responseFormat: JsonObject | null): JsonObject | null {
  const fitted = responseFormat && formatSchema(responseFormat);
  return fitted && { type: "json_schema", schema: fitted.schema };
}
