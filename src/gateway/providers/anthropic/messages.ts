/** A conversation as the Messages API has it: instructions apart, then turns of user and assistant made of blocks. */
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import type { ChatMessage } from "../provider.ts";
import { namedTexts } from "../wire/participant.ts";
import { toolArguments } from "../wire/tool-arguments.ts";

export interface Conversation {
  /** Every system and developer message in order; empty: there was none. */
  system: string;
  turns: Turn[];
}

export interface Turn {
  role: "user" | "assistant";
  content: JsonObject[];
}

/** Neighbours of one role become one turn. Blank texts are left out and an unfinished turn ends in text: both are refused there. */
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

/** One text, or none where it is blank. */
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

/** Texts of a content, refusals of the model among them. */
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

/** Ids that other providers made up may hold what is refused here; the same id always becomes the same one. */
function wireId(id: unknown): string {
  const text = asText(id) ?? "";
  return /^[a-zA-Z0-9_-]+$/.test(text) ? text : `id_${Buffer.from(text).toString("base64url")}`;
}

function endInText(turn: Turn | undefined): void {
  const last = turn?.role === "assistant" ? turn.content.at(-1) : undefined;
  const text = asText(last?.["text"]);
  if (last && text !== null) last["text"] = text.trimEnd();
}
