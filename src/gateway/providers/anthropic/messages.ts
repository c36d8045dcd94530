/** Converts a conversation to the Messages API: the instructions, and turns of user and assistant made of blocks. */
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import type { ChatMessage } from "../provider.ts";
import { namedTexts } from "../wire/participant.ts";
import { toolArguments } from "../wire/tool-arguments.ts";

export interface Conversation {
  /** The parts of all system and developer messages, each as it came: the provider's cache knows a prompt by its blocks. */
  system: TextBlock[];
  turns: Turn[];
}

interface TextBlock extends JsonObject {
  type: "text";
  text: string;
  /** The provider caches the prompt to the end of this block. */
  cache_control?: unknown;
}

export interface Turn {
  role: "user" | "assistant";
  content: JsonObject[];
}

/**
 * Consecutive messages of one role become one turn. The API refuses blank texts and trailing white space in an unfinished turn,
 * so both are removed.
 */
export function conversationOf(messages: readonly ChatMessage[]): Conversation {
  const system: TextBlock[] = [];
  const turns: Turn[] = [];
  for (const message of messages) {
    if (isInstruction(message)) system.push(...named(message, textsOf(message.content)));
    else append(turns, { role: message.role === "assistant" ? "assistant" : "user", content: blocksOf(message) });
  }
  endInText(turns.at(-1));
  return { system, turns };
}

function isInstruction({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}

function append(turns: Turn[], turn: Turn): void {
  if (turn.content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role !== turn.role) turns.push(turn);
  else for (const block of turn.content) last.content.push(block);
}

function blocksOf(message: ChatMessage): JsonObject[] {
  if (message.role === "tool") return [toolResult(message)];
  const refusal = asText(message["refusal"]) ?? "";
  const texts = named(message, [...textsOf(message.content), { type: "text", text: refusal }]);
  const calls = asArray(message["tool_calls"]).map((call) => toolUse(asObject(call) ?? {}));
  return [...texts, ...calls];
}

/** The blocks that are not blank, with the speaker's name before the first. */
function named(message: ChatMessage, blocks: readonly TextBlock[]): TextBlock[] {
  const said = blocks.filter(({ text }) => saysSomething(text));
  const texts = namedTexts(
    message,
    said.map(({ text }) => text),
  );
  return said.map((block, index) => ({ ...block, text: texts[index] ?? block.text }));
}

/** The texts of a content, including the model's refusals. */
function textsOf(content: unknown): TextBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return asArray(content).map((part) => {
    const { text, refusal, cache_control } = asObject(part) ?? {};
    return { type: "text", text: asText(text) ?? asText(refusal) ?? "", ...(cache_control !== undefined && { cache_control }) };
  });
}

function saysSomething(text: string): boolean {
  return /\S/.test(text);
}

function toolUse(call: JsonObject): JsonObject {
  const called = asObject(call["function"]) ?? {};
  const input = toolArguments(asText(called["arguments"]) ?? "") ?? {};
  return { type: "tool_use", id: wireId(call["id"]), name: called["name"], input };
}

/** A result is one block, which a breakpoint on any of its parts caches to its end. */
function toolResult(message: ChatMessage): JsonObject {
  const parts = textsOf(message.content);
  const content = parts.map(({ text }) => text).join("");
  const cached = parts.find(({ cache_control }) => cache_control !== undefined);
  return {
    type: "tool_result",
    tool_use_id: wireId(message["tool_call_id"]),
    ...(saysSomething(content) && { content }),
    ...(cached && { cache_control: cached.cache_control }),
  };
}

/** The API refuses some characters in ids of other providers. The same id always maps to the same replacement. */
function wireId(id: unknown): string {
  const text = asText(id) ?? "";
  return /^[a-zA-Z0-9_-]+$/.test(text) ? text : `id_${Buffer.from(text).toString("base64url")}`;
}

function endInText(turn: Turn | undefined): void {
  const last = turn?.role === "assistant" ? turn.content.at(-1) : undefined;
  const text = asText(last?.["text"]);
  if (last && text !== null) last["text"] = text.trimEnd();
}
