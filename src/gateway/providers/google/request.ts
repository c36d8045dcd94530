/**
 * Encodes our request for generateContent: instructions, turns of user and model made of parts, sampling, answer format, tools, and the
 * reasoning effort as Google's thinking fields, mapped as in Google's own chat completions (https://ai.google.dev/gemini-api/docs/openai).
 * Fields that it does not support were refused before (client-fields.ts). A model gets back only its own signatures. A call whose signature
 * the client does not have is sent with the mark that Google documents for that case.
 */
import type { ReasoningEffort, Route } from "../../models/model.ts";
import { readToolCallId, signerNamed } from "../../tool-call-id.ts";
import type { ChatBody, EncodedCall, ProviderCall, ChatMessage } from "../provider.ts";
import { asObject, asText, type JsonObject, asArray, ToolArguments } from "../wire/json.ts";
import { addedToArguments, openingText, isInstruction, namedTexts, fittedEffort, contentTexts } from "../wire/requests.ts";

/** See `WireFormat.addedBytes`. Tools and formats have fewer fields around them than in chat completions. */
export function googleAddedBytes(chat: ChatBody): number {
  return addedToArguments(chat) + openingText.length;
}

export function encodeGoogleRequest({ route, chat, maxOutputTokens, streamed, withoutThoughts }: ProviderCall): EncodedCall {
  const { upstreamModel } = route;
  const { instruction, contents } = googleConversation(chat.messages, upstreamModel, withoutThoughts);
  const body = {
    ...(instruction !== "" && { systemInstruction: { parts: [{ text: instruction }] } }),
    contents,
    ...googleToolFields(chat),
    generationConfig: {
      maxOutputTokens,
      ...samplingFields(chat),
      ...formatFields(asObject(chat["response_format"])),
      thinkingConfig: thinkingConfig(chat["reasoning_effort"], route),
    },
  };
  const method = streamed ? "streamGenerateContent?alt=sse" : "generateContent";
  return { path: `/models/${encodeURIComponent(upstreamModel)}:${method}`, headers: {}, body: JSON.stringify(body) };
}

/** JSON leaves out what is undefined. */
function samplingFields({ temperature, top_p, stop, seed, frequency_penalty, presence_penalty }: ChatBody): JsonObject {
  return {
    temperature,
    topP: top_p,
    stopSequences: typeof stop === "string" ? [stop] : stop,
    // Google's seeds have 32 bits. The same seed always maps to the same replacement.
    seed: typeof seed === "number" ? seed | 0 : undefined,
    frequencyPenalty: frequency_penalty,
    presencePenalty: presence_penalty,
  };
}

/** The API has no field for the schema's name, which is only a label. The description moves into the schema. */
function formatFields(format: JsonObject | null): JsonObject {
  if (format === null) return {};
  const jsonSchema = asObject(format["json_schema"]);
  const schema = asObject(jsonSchema?.["schema"]);
  const description = asText(jsonSchema?.["description"]);
  return {
    responseMimeType: "application/json",
    ...(schema && { responseJsonSchema: { ...(description && { description }), ...schema } }),
  };
}

// The conversation

interface GoogleConversation {
  /** All system and developer messages in order; empty if there are none. */
  instruction: string;
  contents: Content[];
}

interface Content {
  role: "user" | "model";
  parts: JsonObject[];
}

/**
 * Consecutive messages of one role become one turn; empty texts are left out.
 * @param upstreamModel the model that receives the call: it gets back only its own signatures
 * @param withoutThoughts it gets back none
 */
export function googleConversation(
  messages: readonly ChatMessage[],
  upstreamModel: string,
  withoutThoughts = false,
): GoogleConversation {
  const turns = new Turns(upstreamModel, withoutThoughts);
  const instructions = messages.filter(isInstruction).map((message) => textsToSend(message).join(""));
  const instruction = instructions.filter((text) => text !== "").join("\n\n");
  for (const message of messages) if (!isInstruction(message)) turns.add(message);
  if (turns.contents.length === 0 && instruction !== "") turns.add({ role: "user", content: openingText });
  return { instruction, contents: turns.contents };
}

/** Whether a message contributes anything: to a turn, or to the instructions, which can stand alone. */
export function isSpoken(message: ChatMessage): boolean {
  if (isInstruction(message)) return textsToSend(message).length > 0;
  const isText = message.role === "user" || message.role === "assistant";
  return !isText || "tool_calls" in message || "function_call" in message || spokenTexts(message).length > 0;
}

/** Sent in place of a signature that the client does not have (https://ai.google.dev/gemini-api/docs/thought-signatures). */
const noSignature = "skip_thought_signature_validator";

class Turns {
  readonly contents: Content[] = [];
  readonly #signer: string | null;
  /** The model refuses calls without a signature. */
  readonly #mustSign: boolean;
  readonly #arguments = new ToolArguments();
  /** Called function names by call id: tool results need them. */
  readonly #names = new Map<string, unknown>();

  constructor(upstreamModel: string, withoutThoughts: boolean) {
    this.#signer = withoutThoughts ? null : signerNamed(upstreamModel);
    this.#mustSign = !isUpToGemini2(upstreamModel);
  }

  add(message: ChatMessage): void {
    if (message.role === "assistant") this.#append("model", [...textParts(message), ...this.#calls(message)]);
    else this.#append("user", message.role === "user" ? textParts(message) : [this.#result(message)]);
  }

  #append(role: Content["role"], parts: JsonObject[]): void {
    if (parts.length === 0) return;
    const last = this.contents.at(-1);
    const turn: Content = last?.role === role ? last : { role, parts: [] };
    if (turn !== last) this.contents.push(turn);
    for (const part of parts) turn.parts.push(part);
  }

  #calls(message: ChatMessage): JsonObject[] {
    const old = asObject(message["function_call"]);
    const calls = asArray(message["tool_calls"]).map((call) => this.#call(asObject(call) ?? {}));
    if (old) calls.push({ functionCall: this.#called(old) });
    // Only the first of several calls at once is signed.
    const [first] = calls;
    if (this.#mustSign && first && calls.every((call) => call["thoughtSignature"] === undefined)) {
      first["thoughtSignature"] = noSignature;
    }
    return calls;
  }

  #call(call: JsonObject): JsonObject {
    const { id, signature } = readToolCallId(asText(call["id"]) ?? "");
    const called = this.#called(asObject(call["function"]) ?? {});
    this.#names.set(id, called["name"]);
    const isOwn = signature?.signer === this.#signer;
    return { functionCall: { id, ...called }, ...(isOwn && { thoughtSignature: signature.base64 }) };
  }

  #called({ name, arguments: text }: JsonObject): JsonObject {
    return { name, args: this.#arguments.read(asText(text) ?? "") ?? {} };
  }

  /** A result stays text: parsing could change its numbers. */
  #result(message: ChatMessage): JsonObject {
    const response = { output: contentTexts(message.content).join("") };
    if (message.role === "function") return { functionResponse: { name: message["name"], response } };
    const { id } = readToolCallId(asText(message["tool_call_id"]) ?? "");
    return { functionResponse: { id, name: this.#names.get(id), response } };
  }
}

function textParts(message: ChatMessage): JsonObject[] {
  return textsToSend(message).map((text) => ({ text }));
}

function textsToSend(message: ChatMessage): readonly string[] {
  return namedTexts(message, spokenTexts(message));
}

function spokenTexts(message: ChatMessage): string[] {
  return [...contentTexts(message.content), asText(message["refusal"]) ?? ""].filter((text) => text !== "");
}

// Tools

/** The function names of a choice among some functions; null for any other choice. */
export function allowedNames(choice: JsonObject): (string | null)[] | null {
  if (choice["type"] !== "allowed_tools") return null;
  return asArray(asObject(choice["allowed_tools"])?.["tools"]).map((tool) =>
    asText(asObject(asObject(tool)?.["function"])?.["name"]),
  );
}

function googleToolFields(chat: ChatBody): JsonObject {
  const functions = asArray(chat["tools"]).map((tool) => asObject(asObject(tool)?.["function"]) ?? {});
  if (functions.length === 0) return {};
  const strict = functions.some((one) => one["strict"] === true);
  const functionCallingConfig = callingConfig(chat["tool_choice"], strict);
  return {
    tools: [{ functionDeclarations: functions.map(declaration) }],
    ...(functionCallingConfig && { toolConfig: { functionCallingConfig } }),
  };
}

/**
 * A forced call always follows its schema; a free call does only in the mode VALIDATED.
 * @returns null for the default, a free choice
 */
function callingConfig(choice: unknown, strict: boolean): JsonObject | null {
  if (choice === undefined || choice === "auto") return strict ? { mode: "VALIDATED" } : null;
  if (choice === "none") return { mode: "NONE" };
  const chosen = asObject(choice);
  if (chosen === null) return { mode: "ANY" };
  const allowed = allowedNames(chosen);
  if (allowed === null) return { mode: "ANY", allowedFunctionNames: [asObject(chosen["function"])?.["name"]] };
  if (allowed.length === 0) return { mode: "NONE" };
  const required = asObject(chosen["allowed_tools"])?.["mode"] === "required";
  return { mode: required ? "ANY" : "VALIDATED", allowedFunctionNames: allowed };
}

/** JSON leaves out what is undefined. An empty schema does not describe an object. */
function declaration({ name, description, parameters }: JsonObject): JsonObject {
  const schema = asObject(parameters) ?? {};
  return { name, description, parametersJsonSchema: Object.keys(schema).length === 0 ? undefined : schema };
}

// Thinking

/** Tokens. */
const budgets = new Map<unknown, number>([
  ["none", 0],
  ["minimal", 1_024],
  ["low", 1_024],
  ["medium", 8_192],
]);
const budgetMax = 24_576;

/** What a model without `efforts` in the catalog takes: models that lack the level `MINIMAL`, or have `XHIGH`, list theirs. */
const usualEfforts: readonly ReasoningEffort[] = ["none", "minimal", "low", "medium", "high"];

/** Levels cannot be switched off, so `none` becomes the lowest level. */
const levels = new Map<unknown, string>([
  ["none", "MINIMAL"],
  ["minimal", "MINIMAL"],
  ["low", "LOW"],
  ["medium", "MEDIUM"],
  ["xhigh", "XHIGH"],
]);

/**
 * A client that sets an effort also receives the reasoning.
 * @returns undefined if the model's default applies
 */
function thinkingConfig(wanted: unknown, { upstreamModel, efforts }: Route): JsonObject | undefined {
  const effort = fittedEffort(wanted, efforts ?? usualEfforts);
  if (effort === undefined) return undefined;
  const includeThoughts = wanted !== "none";
  if (isUpToGemini2(upstreamModel)) return { thinkingBudget: budgets.get(effort) ?? budgetMax, includeThoughts };
  return { thinkingLevel: levels.get(effort) ?? "HIGH", includeThoughts };
}

/**
 * A model's name decides one thing about its API: models up to Gemini 2 take a thinking budget in tokens; from Gemini 3 on they
 * take a level and sign tool calls. Names are open-ended (`gemini-flash-latest`), so an unknown name counts as the newest kind.
 */
function isUpToGemini2(upstreamModel: string): boolean {
  return /(^|\/)(gemini-[12]([.-]|$)|gemini-pro|gemma-[1-3]([.-]|$))/.test(upstreamModel);
}
