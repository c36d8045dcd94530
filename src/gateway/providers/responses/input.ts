/** Converts a conversation to the items of the Responses API: messages, calls with the reasoning before them, and results. */
import { createHash } from "node:crypto";
import { ToolUseIds } from "../anthropic/tool-use-ids.ts";
import type { ChatMessage } from "../provider.ts";
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import { namedTexts } from "../wire/participant.ts";
import { readIdWithReasoning } from "./reasoning.ts";

/** The API refuses longer ids of calls. */
const callIdCharactersMax = 64;

/** @param signer the route that receives the items: it gets back its own reasoning and no other's; null: nobody does */
export function inputItems(messages: readonly ChatMessage[], signer: string | null): JsonObject[] {
  const items = new Items(signer);
  return messages.flatMap((message) => items.of(message));
}

class Items {
  readonly #signer: string | null;
  readonly #ids = new ToolUseIds(wireId);
  /** The ids of calls of custom tools, whose results are items of another type. */
  readonly #custom = new Set<string>();

  constructor(signer: string | null) {
    this.#signer = signer;
  }

  of(message: ChatMessage): JsonObject[] {
    if (message.role === "assistant") return this.#answered(message);
    return message.role === "tool" ? [this.#result(message)] : [prompted(message)];
  }

  /**
   * The model thought before it wrote: its first reasoning precedes the text, as it did in the answer. A text has its phase again:
   * models that write one work worse without it (https://rubydoc.info/gems/openai/OpenAI/Models/Responses/EasyInputMessage).
   */
  #answered(message: ChatMessage): JsonObject[] {
    const calls = asArray(message["tool_calls"]).map((call) => this.#call(asObject(call) ?? {}));
    const [first] = calls;
    const text = [...textsOf(message.content), asText(message["refusal"]) ?? ""].join("");
    const phase = first === undefined ? "final_answer" : "commentary";
    const texts = text === "" ? [] : [{ role: "assistant", content: text, phase }];
    if (first === undefined) return texts;
    return [...first.reasoning, ...texts, first.call, ...calls.slice(1).flatMap(({ reasoning, call }) => [...reasoning, call])];
  }

  #call(call: JsonObject): { reasoning: JsonObject[]; call: JsonObject } {
    const { id, encrypted } = readIdWithReasoning(asText(call["id"]) ?? "", this.#signer);
    const custom = asObject(call["custom"]);
    const callId = this.#ids.ofCall(id);
    if (custom !== null) this.#custom.add(callId);
    const { name, arguments: text } = asObject(call["function"]) ?? {};
    return {
      reasoning: encrypted === null ? [] : [{ type: "reasoning", summary: [], encrypted_content: encrypted }],
      call:
        custom === null
          ? { type: "function_call", call_id: callId, name, arguments: asText(text) || "{}" }
          : { type: "custom_tool_call", call_id: callId, name: custom["name"], input: custom["input"] },
    };
  }

  #result(message: ChatMessage): JsonObject {
    const { id } = readIdWithReasoning(asText(message["tool_call_id"]) ?? "", this.#signer);
    const callId = this.#ids.ofResult(id);
    const type = this.#custom.has(callId) ? "custom_tool_call_output" : "function_call_output";
    return { type, call_id: callId, output: textsOf(message.content).join("") };
  }
}

/** A text stays a text, and parts stay parts: the provider's cache knows a prompt by them. */
function prompted(message: ChatMessage): JsonObject {
  const { role, content } = message;
  const texts = namedTexts(message, textsOf(content));
  return { role, content: typeof content === "string" ? texts.join("") : texts.map((text) => ({ type: "input_text", text })) };
}

/** The texts of a content, including the model's refusals. */
function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return asArray(content).map((part) => asText(asObject(part)?.["text"]) ?? asText(asObject(part)?.["refusal"]) ?? "");
}

/** Other providers' ids may be longer. The same id always maps to the same replacement. */
function wireId(id: string): string {
  return id.length <= callIdCharactersMax ? id : `call_${createHash("sha256").update(id).digest("base64url")}`;
}
