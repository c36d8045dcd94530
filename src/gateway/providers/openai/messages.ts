/**
 * Fits a conversation to what its provider takes (`Dialect`): a client may have it from another model, whose roles, ids, reasoning and
 * refusals this provider would answer with 400. What already fits is sent as it came.
 */
import type { Dialect } from "../../models/dialect.ts";
import type { ChatMessage } from "../provider.ts";
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import { continuingText } from "../wire/opening.ts";
import { isInstruction, namedTexts } from "../wire/participant.ts";
import { SentToolCallIds } from "./tool-call-ids.ts";

/** The model's words between a tool's result and the user, for providers that refuse one after the other. */
const bridge: ChatMessage = { role: "assistant", content: "OK." };

/** Sent if a provider requires the reasoning of a call that another model made. Moonshot treats an empty text as none. */
const blankReasoning = " ";

export function fittedMessages(messages: readonly ChatMessage[], dialect: Dialect): ChatMessage[] {
  const ids = new SentToolCallIds(dialect.toolCallIds);
  const fitted: ChatMessage[] = [];
  for (const message of instructionsInPlace(messages, dialect)) {
    if (saysNothing(message)) continue;
    if (!dialect.userAfterTool && message.role === "user" && fitted.at(-1)?.role === "tool") fitted.push(bridge);
    fitted.push(fit(message, dialect, ids));
  }
  if (dialect.endsWithUser && fitted.at(-1)?.role === "assistant") fitted.push({ role: "user", content: continuingText });
  return fitted;
}

/** Chat templates of many models refuse a second instruction, and one that is not the first message. */
function instructionsInPlace(messages: readonly ChatMessage[], { instructions }: Dialect): readonly ChatMessage[] {
  if (instructions === "anywhere" || messages.findLastIndex(isInstruction) <= 0) return messages;
  const contents = messages.filter(isInstruction).map((message) => withoutName(message).content);
  const areTexts = contents.every((content) => typeof content === "string");
  const content = areTexts ? contents.join("\n\n") : contents.flatMap(partsOf);
  return [{ role: "system", content }, ...messages.filter((message) => !isInstruction(message))];
}

/** For example an answer of reasoning alone, cut off by `max_tokens`. Several providers refuse it, and a model learns nothing from it. */
function saysNothing({ role, content, refusal, tool_calls, function_call }: ChatMessage): boolean {
  if (role !== "assistant" || tool_calls !== undefined || function_call !== undefined || refusal) return false;
  return content === undefined || (typeof content === "string" ? content === "" : textOf(content) === "");
}

function fit(message: ChatMessage, dialect: Dialect, ids: SentToolCallIds): ChatMessage {
  let fitted = message;
  if (fitted.role === "developer" && !dialect.developerRole) fitted = { ...fitted, role: "system" };
  if (fitted["name"] !== undefined && !takesName(fitted, dialect)) fitted = withoutName(fitted);
  if (!dialect.textParts && Array.isArray(fitted.content)) fitted = { ...fitted, content: textOf(fitted.content) };
  if (fitted.role === "assistant") fitted = fitAnswer(fitted, dialect, ids);
  const id = asText(fitted["tool_call_id"]);
  return id === null || ids.isSentAsIs(id) ? fitted : { ...fitted, tool_call_id: ids.sent(id) };
}

/** The `name` of a function message is the function's, not a speaker's. */
function takesName({ role }: ChatMessage, { messageNames }: Dialect): boolean {
  return messageNames === "any" || role === "function" || (messageNames === "user" && role === "user");
}

function withoutName(message: ChatMessage): ChatMessage {
  const { name, ...unnamed } = message;
  if (name === undefined || message.role === "assistant") return unnamed;
  if (typeof unnamed.content === "string") return { ...unnamed, content: namedTexts(message, [unnamed.content])[0] };
  const [first, ...others] = asArray(unnamed.content);
  const [text] = namedTexts(message, [textOf([first])]);
  return first === undefined ? unnamed : { ...unnamed, content: [{ ...asObject(first), text }, ...others] };
}

function fitAnswer(message: ChatMessage, dialect: Dialect, ids: SentToolCallIds): ChatMessage {
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

function withFittedIds(message: ChatMessage, calls: readonly unknown[], ids: SentToolCallIds): ChatMessage {
  const fits = (call: unknown): boolean => ids.isSentAsIs(asText(asObject(call)?.["id"]) ?? "");
  if (calls.every(fits)) return message;
  const fitted = calls.map((call) => ({ ...asObject(call), id: ids.sent(asText(asObject(call)?.["id"]) ?? "") }));
  return { ...message, tool_calls: fitted };
}

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

function partsOf(content: unknown): readonly unknown[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : asArray(content);
}

/** The text of a content, including the model's refusals. */
function textOf(content: unknown): string {
  return partsOf(content).map(partText).join("");
}

function partText(part: unknown): string {
  const { text, refusal }: JsonObject = asObject(part) ?? {};
  return asText(text) ?? asText(refusal) ?? "";
}
