/** Decides the sandbox's answer to a request before the first byte is sent. */
import type { ChatBody, UnsupportedField } from "../provider.ts";
import { asArray, asCount, asObject, asText, type JsonObject } from "../wire/json.ts";
import { sandboxCommand, type SandboxCommand } from "./command.ts";
import { forcedTool, type ForcedTool } from "./forced-tool.ts";
import { UnsatisfiableError } from "./schema-work.ts";
import { structuredText } from "./structured.ts";
import { tokenCount, tokensOf } from "./tokens.ts";

const outputTokensMax = 4_096;
const filler = "tok ";
/** A path is made of the names that a schema gives to its properties. */
const pathCharactersMax = 500;

export interface SandboxAnswer {
  command: SandboxCommand;
  /** The text, or the arguments of the tool call; one piece per token. */
  tokens: string[];
  tool: ForcedTool | null;
  finish: "stop" | "length" | "tool_calls";
  usage: JsonObject | null;
  model: string;
}

/** null if the command is invalid. */
export function sandboxAnswer(request: JsonObject): SandboxAnswer | null {
  const texts = textsOf(request);
  const requestText = saidBy(texts);
  const command = sandboxCommand(requestText);
  if (command === null) return null;
  const tokensMax = asCount(request["max_tokens"]) ?? asCount(request["max_completion_tokens"]) ?? outputTokensMax;
  const tool = forcedTool(request);
  const full =
    command.tokens === null
      ? (tool?.arguments ?? structuredText(request, requestText) ?? requestText)
      : filler.repeat(command.tokens);
  const tokens = tokensOf(full, tokensMax);
  const whole = tool === null ? "stop" : "tool_calls";
  return {
    command,
    tokens,
    tool,
    finish: tokens.length < tokenCount(full) ? "length" : whole,
    usage: usageOf({ command, input: texts.reduce((sum, { text }) => sum + tokenCount(text), 0), output: tokens.length }),
    model: asText(request["model"]) ?? "",
  };
}

/** See `WireFormat.unsupportedField`: a schema that the sandbox makes no value for, or not within its work. */
export function sandboxUnsupportedField(chat: ChatBody): UnsupportedField | null {
  if (asObject(chat["response_format"]) === null) return null;
  try {
    structuredText(chat, saidBy(textsOf(chat)));
    return null;
  } catch (error) {
    if (!(error instanceof UnsatisfiableError)) throw error;
    const param = `response_format.json_schema.schema${error.at.slice(0, pathCharactersMax)}`;
    return { param, message: `${chat.model} does not support ${param}: ${error.message}` };
  }
}

interface MessageText {
  role: string;
  text: string;
}

function textsOf(request: JsonObject): MessageText[] {
  return asArray(request["messages"]).map((message) => messageText(asObject(message) ?? {}));
}

function saidBy(texts: readonly MessageText[]): string {
  return texts.findLast(({ role }) => role === "user")?.text ?? "";
}

function messageText(message: JsonObject): MessageText {
  const { role, content } = message;
  const parts = Array.isArray(content) ? content.map((part) => asText(asObject(part)?.["text"]) ?? "") : [asText(content) ?? ""];
  return { role: asText(role) ?? "", text: parts.join("") };
}

function usageOf(counted: { command: SandboxCommand; input: number; output: number }): JsonObject | null {
  const { noUsage, usage } = counted.command;
  if (noUsage) return null;
  const { input, output } = usage ?? counted;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
