/** Encodes our request for the Messages API. Fields that it does not support were refused before (unsupported-fields.ts). */
import { asObject, type JsonObject } from "../wire/json.ts";
import type { ChatBody, EncodedCall, ProviderCall } from "../provider.ts";
import { addedToArguments, addedToFields } from "../wire/added-bytes.ts";
import { continuingText, openingText } from "../wire/opening.ts";
import { conversationOf, type Conversation } from "./messages.ts";
import { samplingFields } from "./sampling.ts";
import { formatSchema } from "./schema.ts";
import { thinkingOf, type Thinking } from "./thinking.ts";
import { signerOf } from "./thoughts.ts";
import { toolFields } from "./tools.ts";

/** The API version, which is not part of the URL. */
const version = "2023-06-01";

/** A first and a last turn of the user, which some conversations get. */
const addedTurnsBytes = openingText.length + continuingText.length;

/** The beta of `block_binding`, which says what the API does with thoughts whose conversation has changed. */
const bindingControls = "thinking-binding-controls-2026-08-01";

/** See `WireFormat.addedBytes`. */
export function anthropicAddedBytes(chat: ChatBody): number {
  const { tools, response_format } = chat;
  const isFitted = tools !== undefined || response_format !== undefined;
  const fields = isFitted ? addedToFields(chat, { ...toolFields(chat), ...formatOf(asObject(response_format)) }) : 0;
  return fields + addedToArguments(chat) + addedTurnsBytes;
}

export function encodeAnthropicRequest(call: ProviderCall): EncodedCall {
  const { route, chat, maxOutputTokens, streamed } = call;
  const { conversation, thinking, isBound } = withThoughts(call);
  const { system, turns } = conversation;
  const body = {
    model: route.upstreamModel,
    max_tokens: maxOutputTokens,
    ...systemField(system),
    messages: turns,
    ...samplingFields(chat),
    ...stopFields(chat),
    ...toolFields(chat),
    ...(thinking.field && { thinking: thinking.field }),
    ...outputField(chat, thinking),
    ...cacheField(chat),
    ...(streamed && { stream: true }),
  };
  const headers = { "anthropic-version": version, ...(isBound && { "anthropic-beta": bindingControls }) };
  return { path: "/messages", headers, body: JSON.stringify(body) };
}

interface Thoughtful {
  conversation: Conversation;
  thinking: Thinking;
  /** The thoughts are valid only after what they came after. */
  isBound: boolean;
}

/**
 * The conversation, with the model's thoughts if it thinks in this call too. A model that takes a budget refuses to think in the middle
 * of a turn that it began without a thought. Newer models refuse a thought if anything before it has changed, unless the request says to
 * drop it. A turn that began with thinking must go on with it, so `thinking` is sent even if the request has no effort.
 */
function withThoughts(call: ProviderCall): Thoughtful {
  const { route, chat, withoutThoughts } = call;
  const thinking = thinkingOf(call);
  // Models with adaptive thinking refuse a conversation that ends with a message of the model (prefill).
  const endsWithUser = route.thinking?.form === "adaptive";
  const signer = thinking.takesThoughts && !withoutThoughts ? signerOf(route) : null;
  const conversation = conversationOf(chat.messages, { signer, endsWithUser });
  const { hasThoughts, isThoughtless } = conversation;
  if (route.thinking?.form === "budget") {
    if (thinking.field === null || !isThoughtless) return { conversation, thinking, isBound: false };
    return { conversation: conversationOf(chat.messages), thinking: { ...thinking, field: null }, isBound: false };
  }
  // The controls are documented for adaptive thinking alone.
  const isBound = hasThoughts && route.thinking?.isBound === true && thinking.field?.["type"] !== "between_tools";
  if (!hasThoughts) return { conversation, thinking, isBound };
  const binding = isBound && { block_binding: { prefix_mismatch_behavior: "drop_block" } };
  return { conversation, thinking: { ...thinking, field: { type: "adaptive", ...thinking.field, ...binding } }, isBound };
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

function outputField({ response_format }: ChatBody, { effort }: Thinking): JsonObject {
  const format = formatOf(asObject(response_format));
  return effort || format ? { output_config: { ...(effort && { effort }), ...(format && { format }) } } : {};
}

function formatOf(responseFormat: JsonObject | null): JsonObject | null {
  const fitted = responseFormat && formatSchema(responseFormat);
  return fitted && { type: "json_schema", schema: fitted.schema };
}
