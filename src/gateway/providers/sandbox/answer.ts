/**
 * Decides the sandbox's answer to a request before the first byte is sent: an echo of what the user said, a commanded number of tokens, a
 * forced tool's arguments, or JSON in the requested format. The last message may command it: `sandbox: WORD[=VALUE] …` sets a status,
 * delays, breaks and counts, so that clients can test what real providers rarely do. An unknown word is refused, so that a mistyped command
 * is not mistaken for a passed test. Every four bytes of UTF-8, or the rest of a text, are one token, so counts can be predicted.
 */
import { Buffer } from "node:buffer";
import { scanJson } from "../../../http/json.ts";
import { sandboxSchemaStepsMax } from "../../limits.ts";
import type { ChatBody, UnsupportedField } from "../provider.ts";
import { asArray, asCount, asObject, asText, type JsonObject, parseJson } from "../wire/json.ts";
import { accepts, UnsatisfiableError, SchemaWork } from "./schema-check.ts";
import { schemaValue } from "./schema-value.ts";

const outputTokensMax = 4_096;
const filler = "tok ";
/** A path consists of the schema's names for its properties. */
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
  const tokens = sandboxTokens(full, tokensMax);
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

/** See `WireFormat.unsupportedField`: a schema for which the sandbox makes no value, or none within its work limit. */
export function sandboxUnsupportedField(chat: ChatBody): UnsupportedField | null {
  if (asObject(chat["response_format"]) === null) return null;
  try {
    structuredText(chat, saidBy(textsOf(chat)));
    return null;
  } catch (error) {
    if (!(error instanceof UnsatisfiableError)) throw error;
    const sent = error.at.slice(0, pathCharactersMax);
    const param = `response_format.json_schema.schema${sent}`;
    return { param, message: `${chat.model} does not support ${param}: ${error.message}`, sent };
  }
}

interface MessageText {
  role: string;
  text: string;
}

function textsOf(request: JsonObject): MessageText[] {
  return asArray(request["messages"]).map((message) => messageText(asObject(message) ?? {}));
}

function messageText(message: JsonObject): MessageText {
  const { role, content } = message;
  const parts = Array.isArray(content) ? content.map((part) => asText(asObject(part)?.["text"]) ?? "") : [asText(content) ?? ""];
  return { role: asText(role) ?? "", text: parts.join("") };
}

function saidBy(texts: readonly MessageText[]): string {
  return texts.findLast(({ role }) => role === "user")?.text ?? "";
}

function usageOf(counted: { command: SandboxCommand; input: number; output: number }): JsonObject | null {
  const { noUsage, usage } = counted.command;
  if (noUsage) return null;
  const { input, output } = usage ?? counted;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

// Commands

export interface SandboxCommand {
  /** Answer with this status and an error. */
  status: number | null;
  /** Delay before the first event, or before a whole answer. */
  delayMs: number;
  /** Delay between two events. */
  gapMs: number;
  /** Answer with this number of filler tokens. */
  tokens: number | null;
  /** Break the connection after this number of events; break a whole answer in the middle. */
  breakAfter: number | null;
  /** Accept the request and never answer. */
  silent: boolean;
  noUsage: boolean;
  /** Report these counts in place of the true ones. */
  usage: { input: number; output: number } | null;
}

const noCommand: SandboxCommand = {
  status: null,
  delayMs: 0,
  gapMs: 0,
  tokens: null,
  breakAfter: null,
  silent: false,
  noUsage: false,
  usage: null,
};

/** @returns null for an unknown word, so that a mistyped command is not mistaken for a passed test */
export function sandboxCommand(text: string): SandboxCommand | null {
  if (!text.startsWith("sandbox:")) return noCommand;
  let command = noCommand;
  for (const word of text.slice("sandbox:".length).split(/\s+/)) {
    const part = word === "" ? {} : partOf(word);
    if (part === null) return null;
    command = { ...command, ...part };
  }
  return command;
}

const numbers = { status: "status", delay_ms: "delayMs", gap_ms: "gapMs", tokens: "tokens", break_after: "breakAfter" } as const;

function partOf(word: string): Partial<SandboxCommand> | null {
  if (word === "silent") return { silent: true };
  if (word === "no_usage") return { noUsage: true };
  const [, name = "", first, second] = /^([a-z_]+)=(\d{1,9})(?:,(\d{1,9}))?$/.exec(word) ?? [];
  if (name === "usage" && second !== undefined) return { usage: { input: Number(first), output: Number(second) } };
  if (second !== undefined || !isNumberWord(name)) return null;
  const value = Number(first);
  if (name === "status" && (value < 400 || value > 599)) return null;
  return { [numbers[name]]: value };
}

function isNumberWord(name: string): name is keyof typeof numbers {
  return Object.hasOwn(numbers, name);
}

// Answers in a requested format

/**
 * The text of an answer in the requested format: what the user said where it is such JSON, else a small value.
 * @returns null: any text will do @throws UnsatisfiableError with the path of the keyword that cannot be kept
 */
export function structuredText(request: JsonObject, said: string): string | null {
  const format = asObject(request["response_format"]);
  if (format === null || format["type"] === "text") return null;
  const schema = asObject(asObject(format["json_schema"])?.["schema"]);
  const echoed = saidJson(said);
  if (schema === null) return JSON.stringify(asObject(echoed) ?? { text: said });
  const value = schemaValue(schema);
  const isEcho = echoed !== undefined && accepts(schema, echoed, new SchemaWork(schema, sandboxSchemaStepsMax));
  return JSON.stringify(isEcho ? echoed : value);
}

/** @returns undefined: it is not JSON, or has more values, fields or levels than are checked on the event loop */
function saidJson(said: string): unknown {
  try {
    scanJson(Buffer.from(said), { valuesMax: sandboxSchemaStepsMax });
  } catch {
    return undefined;
  }
  return parseJson(said);
}

// A forced tool, with the zero value of each required property

interface ForcedTool {
  name: string;
  /** JSON text. */
  arguments: string;
}

/** null if `tool_choice` forces none. `required` selects the first tool. */
function forcedTool(request: JsonObject): ForcedTool | null {
  const choice = request["tool_choice"];
  const tools = asArray(request["tools"]).map((tool) => asObject(asObject(tool)?.["function"]) ?? {});
  const named = asText(asObject(asObject(choice)?.["function"])?.["name"]);
  const tool = named === null ? tools[0] : tools.find(({ name }) => name === named);
  if (tool === undefined || (named === null && choice !== "required")) return null;
  return {
    name: asText(tool["name"]) ?? "",
    arguments: JSON.stringify(zeroValue({ type: "object", ...asObject(tool["parameters"]) })),
  };
}

const zeros: Record<string, unknown> = { string: "", number: 0, integer: 0, boolean: false, array: [], null: null };

function zeroValue(schema: JsonObject): unknown {
  const type = asText(Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"]);
  if (type !== "object") return zeros[type ?? "null"] ?? null;
  const properties = asObject(schema["properties"]) ?? {};
  // Each name once: a list that repeats one within objects within objects would have a value for each combination.
  const required = [...new Set(asArray(schema["required"]))].filter((name) => typeof name === "string");
  return Object.fromEntries(required.map((name) => [name, zeroValue(asObject(properties[name]) ?? {})]));
}

// Tokens

const bytesPerToken = 4;

export function tokenCount(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/**
 * Splits a text into its tokens. A character belongs to the token that contains its last byte. Since no character has more than
 * four bytes, no token is empty, and there are as many pieces as `tokenCount` returns.
 */
export function sandboxTokens(text: string, tokensMax: number): string[] {
  const tokens: string[] = [];
  let [bytes, from, at] = [0, 0, 0];
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0;
    const next = bytes + bytesOf(code);
    const isNew = at > from && Math.ceil(next / bytesPerToken) > Math.ceil(bytes / bytesPerToken);
    if (isNew) {
      tokens.push(text.slice(from, at));
      from = at;
    }
    if (tokens.length >= tokensMax) return tokens;
    bytes = next;
    at += code > 0xff_ff ? 2 : 1;
  }
  if (at > from) tokens.push(text.slice(from));
  return tokens;
}

/** In UTF-8. An unpaired surrogate is written as its replacement character, which has three bytes. */
function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x8_00) return 2;
  return code > 0xff_ff ? 4 : 3;
}
