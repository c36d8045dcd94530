/**
 * Encodes our request as chat completions: unchanged, except for what the provider does not accept (`Dialect`). A conversation may come
 * from another model, whose roles, ids, reasoning and refusals this provider would answer with 400; what already fits is sent as it came.
 * Ids of tool calls are sent in a form that the provider accepts, the same for a call and its result and in every request, so that the
 * provider's cache recognizes the prompt. The client keeps its own. Labels of the client's customers are never sent on.
 */
import { hash } from "node:crypto";
import type { Dialect } from "../../models/dialect.ts";
import type { Route } from "../../models/model.ts";
import { readToolCallId } from "../../tool-call-id.ts";
import type { FieldPath } from "../provider-error.ts";
import { apart, type EncodedCall, type ProviderCall, type ChatMessage, type ChatBody } from "../provider.ts";
import { signerOf } from "../wire/answers.ts";
import { CallIds } from "../wire/call-ids.ts";
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import {
  fittedEffort,
  takesSampling,
  continuingText,
  hasThoughts,
  isInstruction,
  namedTexts,
  reminderBytes,
  thoughtBytes,
  withReminders,
} from "../wire/requests.ts";

/**
 * Fields that are not sent on: those set below, and those that only label a request. Labels would reveal the caller's customers to a third
 * party, they do not change the answer, and several providers refuse them (OpenAI refuses `metadata` without `store`).
 */
const keptBack = new Set([
  "model",
  "n",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "user",
  "metadata",
  "store",
  "safety_identifier",
  "prompt_cache_key",
]);

/** See `WireFormat.addedBytes`. */
export function openaiAddedBytes(chat: ChatBody): number {
  return reminderBytes(chat) + thoughtBytes(chat, ({ text }) => Buffer.byteLength(text) + thoughtBreak.length);
}

/** Between two thoughts of a message. */
const thoughtBreak = "\n\n";

/** Requests usage even if the client does not see it, unless the provider reports it anyway. */
export function encodeOpenaiRequest(call: ProviderCall): EncodedCall {
  const { generation, route, chat, maxOutputTokens, streamed, withoutThoughts } = call;
  const body: Record<string, unknown> = { model: route.upstreamModel };
  for (const field in chat) if (!keptBack.has(field)) body[field] = chat[field];
  const { dialect } = route.provider;
  if (!dialect.parallelToolCalls) delete body["parallel_tool_calls"];
  if (route.efforts || route.samplesWithoutReasoning) fitEffort(body, route);
  body["messages"] = fittedMessages(
    chat.messages,
    dialect,
    withoutThoughts || !chat.messages.some(hasThoughts) ? null : signerOf(route),
  );
  body[route.maxTokensField] = maxOutputTokens;
  if (streamed) {
    body["stream"] = true;
    if (route.provider.streamOptions) body["stream_options"] = { include_usage: true };
  }
  return {
    path: "/chat/completions",
    // OpenAI's support and logs read this id; other providers ignore it. It is not an idempotency key: a second attempt must be
    // a second call.
    headers: { "x-client-request-id": generation },
    body: JSON.stringify(body),
  };
}

function fitEffort(body: Record<string, unknown>, route: Route): void {
  const effort = fittedEffort(body["reasoning_effort"], route.efforts);
  body["reasoning_effort"] = effort;
  if (takesSampling(route, effort)) return;
  delete body["temperature"];
  delete body["top_p"];
}

// The conversation

/** The model's words between a tool's result and the user's message, for providers that refuse the two in sequence. */
const bridge: ChatMessage = { role: "assistant", content: "OK." };

/** @param signer gets its own thoughts back and no other's; null: no model does */
export function fittedMessages(messages: readonly ChatMessage[], dialect: Dialect, signer: string | null = null): ChatMessage[] {
  const ids = new CallIds(callIdForms[dialect.toolCallIds]);
  const fitted: ChatMessage[] = [];
  for (const message of instructionsInPlace(messages, dialect)) {
    if (saysNothing(message)) continue;
    if (!dialect.userAfterTool && message.role === "user" && fitted.at(-1)?.role === "tool") fitted.push(bridge);
    fitted.push(fit(withOwnThoughts(message, signer), dialect, ids));
  }
  if (dialect.endsWithUser && fitted.at(-1)?.role === "assistant") fitted.push({ role: "user", content: continuingText });
  return fitted;
}

/** Many models' chat templates refuse a second instruction, or one that is not the first message. */
function instructionsInPlace(messages: readonly ChatMessage[], { instructions }: Dialect): readonly ChatMessage[] {
  if (instructions === "anywhere") return messages;
  const spoken = withReminders(messages);
  if (spoken.findLastIndex(isInstruction) <= 0) return spoken;
  const contents = spoken.filter(isInstruction).map((message) => withoutName(message).content);
  const areTexts = contents.every((content) => typeof content === "string");
  const content = areTexts ? contents.join("\n\n") : contents.flatMap(partsOf);
  return [{ role: "system", content }, ...spoken.filter((message) => !isInstruction(message))];
}

function withoutName(message: ChatMessage): ChatMessage {
  const { name, ...unnamed } = message;
  if (name === undefined || message.role === "assistant") return unnamed;
  if (typeof unnamed.content === "string") return { ...unnamed, content: namedTexts(message, [unnamed.content])[0] };
  const [first, ...others] = asArray(unnamed.content);
  const [text] = namedTexts(message, [textOf([first])]);
  return first === undefined ? unnamed : { ...unnamed, content: [{ ...asObject(first), text }, ...others] };
}

/** The text of a content, including the model's refusals. */
function textOf(content: unknown): string {
  return partsOf(content).map(partText).join("");
}

function partsOf(content: unknown): readonly unknown[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : asArray(content);
}

function partText(part: unknown): string {
  const { text, refusal }: JsonObject = asObject(part) ?? {};
  return asText(text) ?? asText(refusal) ?? "";
}

/** For example an answer of reasoning alone, cut off by `max_tokens`. Several providers refuse it, and a model learns nothing from it. */
function saysNothing({ role, content, refusal, tool_calls, function_call }: ChatMessage): boolean {
  if (role !== "assistant" || tool_calls !== undefined || function_call !== undefined || refusal) return false;
  return content === undefined || (typeof content === "string" ? content === "" : textOf(content) === "");
}

function fit(message: ChatMessage, dialect: Dialect, ids: CallIds): ChatMessage {
  let fitted = message;
  if (fitted.role === "developer" && !dialect.developerRole) fitted = { ...fitted, role: "system" };
  if (fitted["name"] !== undefined && !takesName(fitted, dialect)) fitted = withoutName(fitted);
  if (!dialect.textParts && Array.isArray(fitted.content)) fitted = { ...fitted, content: textOf(fitted.content) };
  if (fitted.role === "assistant") fitted = fitAnswer(fitted, dialect, ids);
  const id = asText(fitted["tool_call_id"]);
  return id === null || ids.of(id) === id ? fitted : { ...fitted, tool_call_id: ids.of(id) };
}

/** The `name` of a function message is the function's, not a speaker's. */
function takesName({ role }: ChatMessage, { messageNames }: Dialect): boolean {
  return messageNames === "any" || role === "function" || (messageNames === "user" && role === "user");
}

function fitAnswer(message: ChatMessage, dialect: Dialect, ids: CallIds): ChatMessage {
  let fitted = dialect.refusals ? message : withRefusalAsText(message);
  if (fitted.content === undefined && !dialect.nullContent) fitted = { ...fitted, content: "" };
  const calls = fitted["tool_calls"];
  if (Array.isArray(calls)) fitted = withFittedIds(fitted, calls, ids);
  return withReasoning(fitted, dialect);
}

function withRefusalAsText(message: ChatMessage): ChatMessage {
  const { refusal, ...unrefused } = message;
  const hasParts = Array.isArray(message.content) && message.content.some((part) => asObject(part)?.["type"] === "refusal");
  if (refusal === undefined && !hasParts) return message;
  const said = `${textOf(message.content)}${asText(refusal) ?? ""}`;
  return { ...unrefused, content: said };
}

function withFittedIds(message: ChatMessage, calls: readonly unknown[], ids: CallIds): ChatMessage {
  const idOf = (call: unknown): string => asText(asObject(call)?.["id"]) ?? "";
  if (calls.every((call) => ids.of(idOf(call)) === idOf(call))) return message;
  return { ...message, tool_calls: calls.map((call) => ({ ...asObject(call), id: ids.of(idOf(call)) })) };
}

/** What a client of another API gives back apart from the message, as clients of chat completions give it back within. */
function withOwnThoughts(message: ChatMessage, signer: string | null): ChatMessage {
  const thoughts = message[apart]?.thoughts;
  if (thoughts === undefined || signer === null || message["reasoning_content"] !== undefined) return message;
  const texts = thoughts.filter((thought) => thought.signer === signer && thought.text !== "").map(({ text }) => text);
  return texts.length === 0 ? message : { ...message, reasoning_content: texts.join(thoughtBreak) };
}

/** Sent if a provider requires the reasoning of a call that another model made. Moonshot treats an empty text as none. */
const blankReasoning = " ";

function withReasoning(message: ChatMessage, { reasoningContent: form }: Dialect): ChatMessage {
  const reasoning = asText(message["reasoning_content"]);
  if (form === "as_sent" || (reasoning === null && form !== "required")) return message;
  if (form === "required") {
    const lacks = message["tool_calls"] !== undefined && !reasoning;
    return lacks ? { ...message, reasoning_content: blankReasoning } : message;
  }
  const { reasoning_content: _, ...rest } = message;
  if (form === "never" || !reasoning) return rest;
  if (form === "as_reasoning") return { ...rest, reasoning };
  const thinking = { type: "thinking", thinking: [{ type: "text", text: reasoning }] };
  return { ...rest, content: [thinking, ...partsOf(rest.content).filter((part) => asObject(part)?.["text"] !== "")] };
}

// Ids of tool calls

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const charactersMax = 40;
const begin = "call_";

export const callIdForms: Record<Dialect["toolCallIds"], (id: string) => string> = {
  any: (id) => readToolCallId(id).id,
  characters_40: (id) =>
    id.length <= charactersMax ? id : begin + hash("sha256", id, "hex").slice(0, charactersMax - begin.length),
  alphanumeric_9: (id) => (/^[a-zA-Z0-9]{9}$/.test(id) ? id : nineOf(id)),
};

/** A body may have 28,000 ids, so this is written for speed. */
function nineOf(id: string): string {
  const bytes = hash("sha256", id, "buffer");
  let nine = "";
  for (let index = 0; index < 9; index++) nine += base62.charAt((bytes[index] ?? 0) % base62.length);
  return nine;
}

// The client's field

/** See `WireFormat.clientField`. All other fields are sent under their own names. */
export function openaiClientField({
  chat: { messages },
  route,
}: {
  chat: ChatBody;
  route: Route;
}): (path: FieldPath) => FieldPath {
  let known: ReturnType<typeof fittedMessages> | null = null;
  return (path) => {
    const [first = "", index = ""] = path;
    if ((first !== "messages" && first !== "prompt") || index === "") return path;
    const sent = (known ??= fittedMessages(messages, route.provider.dialect));
    // Where messages were moved, left out or added, an index may stand for another message.
    const spoken = route.provider.dialect.instructions === "anywhere" ? messages : withReminders(messages);
    const areInPlace = sent.length === messages.length && spoken.every(({ role }, at) => roleOf(role) === roleOf(sent[at]?.role));
    const message = messages[Number(index)];
    if (!areInPlace || message === undefined) return ["messages"];
    const content = path.indexOf("content");
    // The parts of a content that was rewritten are not the client's.
    return content === -1 || sent[Number(index)]?.content === message.content ? path : path.slice(0, content + 1);
  };
}

function roleOf(role: string | undefined): string | undefined {
  return role === "developer" ? "system" : role;
}
