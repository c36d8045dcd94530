/**
 * What the formats share in writing a request: the turns that open and continue a conversation, texts and names of speakers, thoughts that
 * stand apart, efforts, the bytes that an encoding adds, the refusal of fields, cache breakpoints, the ids of calls, and which message a
 * part of a turn came from. A conversation is converted as far as the format can express it, and what would be lost is refused by its path
 * before credit is reserved. Only hints, such as an effort that the model does not take, give way.
 */
import { jsonBytes } from "../../../http/long-texts.ts";
import { Buffer } from "node:buffer";
import { inputTokensBound } from "../../models/chat-tokens.ts";
import { reasoningEfforts, type ReasoningEffort, type Route } from "../../models/model.ts";
import type { Thought } from "../../thoughts.ts";
import { apart, type ChatMessage, type ChatBody, type UnsupportedField } from "../provider.ts";
import { asText, asArray, asObject, parseJson, type JsonObject } from "./json.ts";

// Turns of the user that the gateway adds

/** Begins a conversation of instructions alone, or one that the model begins. It adds nothing to the instructions. */
export const openingText = "Begin.";

/** Ends a conversation whose last message is the model's, for a model that refuses to continue its own message (prefill). */
export const continuingText = "Continue.";

// Texts, and who speaks

/** The texts of a content, including the model's refusals. */
export function contentTexts(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return asArray(content).map((part) => asText(asObject(part)?.["text"]) ?? asText(asObject(part)?.["refusal"]) ?? "");
}

/**
 * Puts the name before the text, as in minutes of a meeting, so that the model sees the speaker. The model's own messages stay
 * unchanged: otherwise the model would begin its next answer with the name.
 */
export function namedTexts({ role, name }: ChatMessage, texts: readonly string[]): readonly string[] {
  const [first, ...others] = texts;
  const speaker = role === "assistant" ? null : asText(name);
  return speaker && first !== undefined ? [`${speaker}: ${first}`, ...others] : texts;
}

/** Whether a message instructs the model, instead of saying something to it. */
export function isInstruction({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}

// Instructions behind the first words of the user

const reminderBegin = "<system-reminder>\n";
const reminderEnd = "\n</system-reminder>";

/**
 * For an API that takes instructions at the start alone: a later one becomes words of the user in its place, marked as agents mark them.
 * Moved to the start, each would change the beginning of the prompt, and the provider's cache would not know it again.
 */
export function withReminders(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.some(isLate) ? messages.map((message) => (isLate(message) ? reminderOf(message) : message)) : messages;
}

/** What `withReminders` adds; see `WireFormat.addedBytes`. */
export function reminderBytes({ messages }: ChatBody): number {
  let late = 0;
  for (const message of messages) if (isLate(message)) late++;
  return late * (reminderBegin.length + reminderEnd.length);
}

function isLate(message: ChatMessage): boolean {
  return message[apart]?.late === true;
}

/** The words of the user that a late instruction becomes. */
export function reminderOf(message: ChatMessage): ChatMessage {
  const { content } = message;
  if (!Array.isArray(content))
    return { ...message, role: "user", content: `${reminderBegin}${asText(content) ?? ""}${reminderEnd}` };
  const parts = content.map((part, index) => {
    const begin = index === 0 ? reminderBegin : "";
    const end = index === content.length - 1 ? reminderEnd : "";
    return { ...asObject(part), text: `${begin}${asText(asObject(part)?.["text"]) ?? ""}${end}` };
  });
  return { ...message, role: "user", content: parts };
}

// Thoughts that stand apart from their message

/** The thoughts that a model wants back sealed, by the number of calls before them in the message. @param signer null: none are sent */
export function sealedThoughts(message: ChatMessage, signer: string | null): ReadonlyMap<number, readonly Thought[]> {
  const given = message[apart]?.thoughts;
  if (given === undefined || signer === null) return noThoughts;
  const own = given.filter((thought) => thought.signer === signer && thought.seal !== "");
  return Map.groupBy(own, ({ callsBefore }) => callsBefore);
}

const noThoughts: ReadonlyMap<number, readonly Thought[]> = new Map();

/** Whether some model gets thoughts back with the message. */
export function hasThoughts(message: ChatMessage): boolean {
  return message[apart]?.thoughts !== undefined;
}

/** What thoughts add; see `WireFormat.addedBytes`. @param bytesOf what is sent of one */
export function thoughtBytes({ messages }: ChatBody, bytesOf: (thought: Thought) => number): number {
  let bytes = 0;
  for (const message of messages) for (const thought of message[apart]?.thoughts ?? []) bytes += bytesOf(thought);
  return bytes;
}

/** Decoded: encrypted thoughts are as long as the thoughts, and base64 is never in a prompt. */
export function sealBytes({ seal }: Thought): number {
  return Math.ceil((seal.length * 3) / 4);
}

// Reasoning efforts

/**
 * A model refuses efforts that it does not take, so each wire format sends one that it takes.
 * @param taken absent: every effort
 * @returns the effort, or the next lower one that the model takes, since a lower one costs no more than was asked for, or else its
 * lowest; undefined: the request has no effort
 */
export function fittedEffort(effort: unknown, taken: readonly ReasoningEffort[] = reasoningEfforts): ReasoningEffort | undefined {
  const place = reasoningEfforts.findIndex((known) => known === effort);
  if (place === -1) return undefined;
  const isTaken = (known: ReasoningEffort): boolean => taken.includes(known);
  return reasoningEfforts.slice(0, place + 1).findLast(isTaken) ?? reasoningEfforts.find(isTaken);
}

/**
 * Some models refuse `temperature` and `top_p` while they reason. The effort then counts, and the fields, which are hints, are left out.
 *
 * @param effort the one that is sent
 */
export function takesSampling({ samplesWithoutReasoning }: Route, effort: ReasoningEffort | undefined): boolean {
  return !samplesWithoutReasoning || effort === undefined || effort === "none";
}

// What encoding adds to the client's request (`WireFormat.addedBytes`)

/**
 * The fields that describe tools and the answer.
 * @param sent as they are encoded, whatever their names
 */
export function addedToFields({ tools, tool_choice, response_format }: ChatBody, sent: JsonObject): number {
  return Math.max(0, bytesOf(sent) - inputTokensBound({ messages: [], tools, tool_choice, response_format }));
}

/** Arguments that are sent as objects: of all JSON only numbers become longer when they are written again, as 1e20 does. */
export function addedToArguments({ messages }: ChatBody): number {
  let bytes = 0;
  for (const { tool_calls, function_call } of messages) {
    const calls = asArray(tool_calls).map((call) => asObject(call)?.["function"]);
    for (const called of [...calls, function_call]) {
      const text = asText(asObject(called)?.["arguments"]);
      if (text !== null && /\d[eE]/.test(text)) bytes += Math.max(0, bytesOf(parseJson(text)) - Buffer.byteLength(text));
    }
  }
  return bytes;
}

function bytesOf(value: unknown): number {
  return jsonBytes(JSON.stringify(value) ?? "");
}

// Refusals, before credit is reserved

/** @param what the part of the field that is unsupported; absent for the whole field */
export function because(param: string, what?: string): UnsupportedField {
  return { param, message: `The model does not support ${param}${what === undefined ? "" : `: ${what}`}` };
}

/** The paths of a request's cache breakpoints in the order of the prompt, that of the whole request last. */
export function* cacheBreakpoints(chat: ChatBody): Generator<string> {
  yield* within(chat["tools"], "tools");
  for (const [index, { content }] of chat.messages.entries()) yield* within(content, `messages[${index}].content`);
  if (chat["cache_control"] !== undefined) yield "cache_control";
}

function* within(items: unknown, at: string): Generator<string> {
  for (const [index, item] of asArray(items).entries()) {
    if (asObject(item)?.["cache_control"] !== undefined) yield `${at}[${index}].cache_control`;
  }
}

// The message that a part of a turn was made from, for formats that join consecutive messages of one role

export interface SentTurn {
  role: string;
  parts: readonly JsonObject[];
}

export interface Place {
  message: ChatMessage;
  /** In the request. */
  index: number;
  /** The kind of the part; null: the whole message. */
  kind: string | null;
  /** How many parts of this kind come before it in what was made of the message. */
  nth: number;
}

interface Conversation {
  messages: readonly ChatMessage[];
  /** The turns as they were sent. They may begin with one that no message made. */
  turnsOf(messages: readonly ChatMessage[]): readonly SentTurn[];
  /** What a message becomes on its own; null: nothing. */
  turnOf(message: ChatMessage): SentTurn | null;
  kindOf(part: JsonObject): string;
  /** It may have been sent with parts that `turnsOf` does not know, so none of its turn's parts is named. */
  hasUnknownParts?(message: ChatMessage): boolean;
}

/** The result of converting a conversation. */
interface Converted {
  sent: readonly SentTurn[];
  made: readonly { message: ChatMessage; index: number; turn: SentTurn }[];
}

type PlaceOf = (at: { turn: number; part: number | null }) => Place | null;

/** As `placeIn`. The conversation is converted once, when the first place is needed. */
export function placesOf(conversation: Conversation): PlaceOf {
  let converted: Converted | null = null;
  return (at) => placeIn((converted ??= convert(conversation)), at, conversation);
}

/** The part of a message's content that a text was made from: blank ones are not sent. @param nth of the texts that are */
export function contentPath(content: unknown, nth: number): string[] {
  if (!Array.isArray(content)) return ["content"];
  const said = content.flatMap((part: { text?: unknown } | null, index) =>
    typeof part?.text === "string" && /\S/.test(part.text) ? [index] : [],
  );
  const index = said[nth];
  return index === undefined ? ["content"] : ["content", String(index)];
}

/**
 * Parts are found by their kind and count, since a turn may have some that its messages on their own would not.
 * @param at the turn, counted from 0, and its part; null: the turn itself, which stands for its first message
 * @returns null if no message made such a turn, or it is not known which one made the part
 */
function placeIn(
  { sent, made }: Converted,
  at: { turn: number; part: number | null },
  { kindOf, hasUnknownParts }: Conversation,
): Place | null {
  let number = made[0]?.turn.role === sent[0]?.role ? 0 : 1;
  let before: string | null = null;
  const ofTurn = made.filter(({ turn: { role } }) => {
    if (before !== null && role !== before) number++;
    before = role;
    return number === at.turn;
  });
  const [first] = ofTurn;
  if (first === undefined) return null;
  const whole = { message: first.message, index: first.index, kind: null, nth: 0 };
  const parts = sent[at.turn]?.parts ?? [];
  const part = at.part === null ? undefined : parts[at.part];
  if (part === undefined || at.part === null) return whole;
  if (ofTurn.some(({ message }) => hasUnknownParts?.(message))) return ofTurn.length === 1 ? whole : null;
  const kind = kindOf(part);
  let nth = parts.slice(0, at.part).filter((one) => kindOf(one) === kind).length;
  for (const { message, index, turn } of ofTurn) {
    const count = turn.parts.filter((one) => kindOf(one) === kind).length;
    if (nth < count) return { message, index, kind, nth };
    nth -= count;
  }
  return whole;
}

function convert({ messages, turnsOf, turnOf }: Conversation): Converted {
  const made = messages.flatMap((message, index) => {
    const turn = turnOf(message);
    return turn === null ? [] : [{ message, index, turn }];
  });
  return { sent: turnsOf(messages), made };
}
