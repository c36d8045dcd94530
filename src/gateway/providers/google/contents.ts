/** Converts a conversation to generateContent: the instructions, and turns of user and model made of parts. */
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import type { ChatMessage } from "../provider.ts";
import { readToolCallId, signerNamed } from "../../tool-call-id.ts";
import { isUpToGemini2 } from "./model.ts";
import { openingText } from "../wire/opening.ts";
import { isInstruction, namedTexts } from "../wire/participant.ts";
import { ToolArguments } from "../wire/tool-arguments.ts";

export interface GoogleConversation {
  /** All system and developer messages in order; empty if there are none. */
  instruction: string;
  contents: Content[];
}

interface Content {
  role: "user" | "model";
  parts: JsonObject[];
}

/** Sent in place of a signature that the client does not have (https://ai.google.dev/gemini-api/docs/thought-signatures). */
const noSignature = "skip_thought_signature_validator";

/**
 * Consecutive messages of one role become one turn; empty texts are left out.
 * @param upstreamModel the model that receives the call: it gets back its own signatures and no others
 * @param withoutThoughts it does not get its own either
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
    // Of calls made at once, only the first is signed.
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
    const response = { output: textsOf(message.content).join("") };
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
  return [...textsOf(message.content), asText(message["refusal"]) ?? ""].filter((text) => text !== "");
}

/** The texts of a content, including the model's refusals. */
function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return asArray(content).map((part) => asText(asObject(part)?.["text"]) ?? asText(asObject(part)?.["refusal"]) ?? "");
}
