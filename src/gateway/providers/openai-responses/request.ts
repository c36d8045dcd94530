/**
 * Encodes our request for the Responses API. The conversation becomes items: messages, calls with the reasoning before them, and results.
 * Fields that it does not support were refused before (client-fields.ts). Nothing is stored at the provider, so each request has the whole
 * conversation. Functions are strict by default here, unlike in chat completions, so strictness is always stated.
 */
import { hash } from "node:crypto";
import type { ReasoningEffort } from "../../models/model.ts";
import { CallIds } from "../wire/call-ids.ts";
import {
  addedToFields,
  contentTexts,
  fittedEffort,
  namedTexts,
  sealBytes,
  sealedThoughts,
  takesSampling,
  thoughtBytes,
} from "../wire/requests.ts";
import type { ChatBody, EncodedCall, ProviderCall, ChatMessage } from "../provider.ts";
import { readIdWithReasoning } from "./answer.ts";
import { signerOf } from "../wire/answers.ts";
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";

/** See `WireFormat.addedBytes`. */
export function responsesAddedBytes(chat: ChatBody): number {
  const thoughts = thoughtBytes(chat, sealBytes);
  if (chat["tools"] === undefined) return thoughts;
  const { tool_choice, response_format } = chat;
  return thoughts + addedToFields(chat, { tools: toolsOf(chat), tool_choice, response_format });
}

/** Labels of the client's customers are not sent on, as in chat completions. JSON leaves out what is undefined. */
export function encodeResponsesRequest(call: ProviderCall): EncodedCall {
  const { generation, route, chat, maxOutputTokens, streamed, withoutThoughts } = call;
  const effort = fittedEffort(chat["reasoning_effort"], route.efforts);
  const body = {
    model: route.upstreamModel,
    input: inputItems(chat.messages, withoutThoughts ? null : signerOf(route)),
    store: false,
    include: ["reasoning.encrypted_content", ...(chat["logprobs"] === true ? ["message.output_text.logprobs"] : [])],
    max_output_tokens: maxOutputTokens,
    ...(takesSampling(route, effort) && { temperature: chat["temperature"], top_p: chat["top_p"] }),
    top_logprobs: chat["top_logprobs"],
    tools: toolsOf(chat),
    tool_choice: choiceOf(chat["tool_choice"]),
    parallel_tool_calls: chat["parallel_tool_calls"],
    reasoning: reasoningOf(effort, chat["reasoning_effort"]),
    text: textOf(chat),
    stream: streamed || undefined,
    stream_options: streamed ? { include_obfuscation: false } : undefined,
  };
  // OpenAI's support and logs read this id. It is not an idempotency key: a second attempt must be a second call.
  return { path: "/responses", headers: { "x-client-request-id": generation }, body: JSON.stringify(body) };
}

function toolsOf(chat: ChatBody): JsonObject[] | undefined {
  if (chat["tools"] === undefined) return undefined;
  return asArray(chat["tools"]).map((tool) => {
    const custom = asObject(asObject(tool)?.["custom"]);
    return custom === null ? functionTool(asObject(asObject(tool)?.["function"]) ?? {}) : customTool(custom);
  });
}

/** Functions are strict by default here, unlike in chat completions. A schema must be an object with `properties`, even without any. */
function functionTool({ name, description, parameters, strict }: JsonObject): JsonObject {
  return {
    type: "function",
    name,
    description,
    parameters: { type: "object", properties: {}, ...asObject(parameters) },
    strict: strict ?? false,
  };
}

/** The grammar is in the format itself, not in a separate object. */
function customTool({ name, description, format }: JsonObject): JsonObject {
  const { grammar, ...others } = asObject(format) ?? {};
  return { type: "custom", name, description, format: format && { ...others, ...asObject(grammar) } };
}

function choiceOf(choice: unknown): unknown {
  const chosen = asObject(choice);
  if (chosen === null) return choice;
  const allowed = asObject(chosen["allowed_tools"]);
  if (allowed === null) return namedTool(chosen);
  return {
    type: "allowed_tools",
    mode: allowed["mode"],
    tools: asArray(allowed["tools"]).map((tool) => namedTool(asObject(tool) ?? {})),
  };
}

function namedTool(choice: JsonObject): JsonObject {
  const type = asText(choice["type"]) ?? "";
  return { type, ...asObject(choice[type]) };
}

/** A client that sets an effort also receives the reasoning: the API returns a summary of it, and only on request. */
function reasoningOf(effort: ReasoningEffort | undefined, wanted: unknown): JsonObject | undefined {
  if (effort === undefined) return undefined;
  return wanted === "none" || effort === "none" ? { effort } : { effort, summary: "auto" };
}

function textOf({ response_format, verbosity }: ChatBody): JsonObject | undefined {
  const format = asObject(response_format);
  if (format === null) return verbosity === undefined ? undefined : { verbosity };
  return { format: { type: format["type"], ...asObject(format["json_schema"]) }, verbosity };
}

// Items

/** @param signer the route that receives the items: it gets back only its own reasoning; null: no model does */
export function inputItems(messages: readonly ChatMessage[], signer: string | null): JsonObject[] {
  const items = new Items(signer);
  return messages.flatMap((message) => items.of(message));
}

class Items {
  readonly #signer: string | null;
  readonly #ids = new CallIds(wireId);
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
   * The model thought before it wrote: its first reasoning precedes the text, as it did in the answer. Reasoning that nothing follows is
   * left out, since the API refuses it. A text keeps its phase: models that write one work worse without it
   * (https://rubydoc.info/gems/openai/OpenAI/Models/Responses/EasyInputMessage).
   */
  #answered(message: ChatMessage): JsonObject[] {
    const calls = asArray(message["tool_calls"]).map((call) => this.#call(asObject(call) ?? {}));
    const [first] = calls;
    const text = [...contentTexts(message.content), asText(message["refusal"]) ?? ""].join("");
    const phase = first === undefined ? "final_answer" : "commentary";
    const texts = text === "" ? [] : [{ role: "assistant", content: text, phase }];
    const own = sealedThoughts(message, this.#signer);
    const before = (call: number): JsonObject[] => (own.get(call) ?? []).map(({ seal }) => reasoningItem(seal));
    if (first === undefined) return texts.length === 0 ? [] : [...before(0), ...texts];
    return calls.flatMap(({ reasoning, call }, index) => [
      ...(own.size > 0 ? before(index) : reasoning),
      ...(index === 0 ? texts : []),
      call,
    ]);
  }

  #call(call: JsonObject): { reasoning: JsonObject[]; call: JsonObject } {
    const { id, encrypted } = readIdWithReasoning(asText(call["id"]) ?? "", this.#signer);
    const custom = asObject(call["custom"]);
    const callId = this.#ids.ofCall(id);
    if (custom !== null) this.#custom.add(callId);
    const { name, arguments: text } = asObject(call["function"]) ?? {};
    return {
      reasoning: encrypted === null ? [] : [reasoningItem(encrypted)],
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
    return { type, call_id: callId, output: contentTexts(message.content).join("") };
  }
}

function reasoningItem(encrypted: string): JsonObject {
  return { type: "reasoning", summary: [], encrypted_content: encrypted };
}

/** The API refuses longer ids of calls. */
const callIdCharactersMax = 64;

/** Other providers' ids may be longer. The same id always maps to the same replacement. */
function wireId(id: string): string {
  return id.length <= callIdCharactersMax ? id : `call_${hash("sha256", id, "base64url")}`;
}

/** A text stays a text, and parts stay parts: the provider's cache compares prompts by them. */
function prompted(message: ChatMessage): JsonObject {
  const { role, content } = message;
  const texts = namedTexts(message, contentTexts(content));
  return { role, content: typeof content === "string" ? texts.join("") : texts.map((text) => ({ type: "input_text", text })) };
}
