/** Converts a conversation to the Messages API: the instructions, and turns of user and assistant made of blocks. */
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import type { ChatMessage } from "../provider.ts";
import { namedTexts } from "../wire/participant.ts";
import { toolArguments } from "../wire/tool-arguments.ts";

export interface Conversation {
  /** All system and developer messages in order; empty if there are none. */
  system: string;
  turns: Turn[];
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
  const system: string[] = [];
  const turns: Turn[] = [];
  for (const message of messages) {
    if (isInstruction(message)) system.push(...instructionOf(message));
    else append(turns, { role: message.role === "assistant" ? "assistant" : "user", content: blocksOf(message) });
  }
  endInText(turns.at(-1));
  return { system: system.join("\n\n"), turns };
}

function isInstruction({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}

/** Returns one text, or none if it is blank. */
function instructionOf(message: ChatMessage): readonly string[] {
  return namedTexts(message, [textsOf(message.content).join("")].filter(saysSomething));
}

function append(turns: Turn[], turn: Turn): void {
  if (turn.content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role !== turn.role) turns.push(turn);
  else for (const block of turn.content) last.content.push(block);
}

function blocksOf(message: ChatMessage): JsonObject[] {
  if (message.role === "tool") return [toolResult(message)];
  const said = [...textsOf(message.content), asText(message["refusal"]) ?? ""].filter(saysSomething);
  const texts = namedTexts(message, said);
  const calls = asArray(message["tool_calls"]).map((call) => toolUse(asObject(call) ?? {}));
  return [...texts.map((text) => ({ type: "text", text })), ...calls];
}

/** The texts of a content, including the model's refusals. */
function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return asArray(content).map((part) => asText(asObject(part)?.["text"]) ?? asText(asObject(part)?.["refusal"]) ?? "");
}

function saysSomething(text: string): boolean {
  return /\S/.test(text);
}

function toolUse(call: JsonObject): JsonObject {
  const called = asObject(call["function"]) ?? {};
  const input = toolArguments(asText(called["arguments"]) ?? "") ?? {};
  return { type: "tool_use", id: wireId(call["id"]), name: called["name"], input };
}

function toolResult(message: ChatMessage): JsonObject {
  const content = textsOf(message.content).join("");
  return { type: "tool_result", tool_use_id: wireId(message["tool_call_id"]), ...(saysSomething(content) && { content }) };
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
