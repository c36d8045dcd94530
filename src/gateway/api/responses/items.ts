/**
 * Reads the items of a Responses request as the messages of a chat. Each item is checked field by field. What an earlier answer or the
 * official packages added to it is accepted and left out.
 * Consecutive calls are one message of the model, with the text before them and the thoughts between them. A result moves to directly after
 * the message with its call, wherever the client wrote it. A call without a result, or a result without a call, is refused, because every
 * provider refuses it. A thought belongs to the message after it. Another model's thought is left out, and no message is empty. A thought
 * without a seal becomes the reasoning of its message, as in a chat.
 * An instruction after the user's first words stays in its place. Images, files and the items of tools that a provider runs are refused
 * with the path of the part.
 */
import { Type, type TSchema } from "@sinclair/typebox";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { type GatewayError, invalidRequest, unsupportedParameter } from "../../../kernel/errors.ts";
import { messagesMax } from "../../limits.ts";
import { takesReasoning } from "../../models/dialect.ts";
import { apart, type ChatMessage, type MessageFacts } from "../../providers/provider.ts";
import type { FieldPath } from "../../providers/provider-error.ts";
import { signerOf } from "../../providers/wire/answers.ts";
import { readPackedThought, type PlacelessThought, type Thought } from "../../thoughts.ts";
import { toolCallId } from "../request/chat-parts.ts";
import {
  added,
  anyObject,
  anyString,
  ignored,
  listOf,
  nullable,
  objectOf,
  oneOf,
  reader,
  required,
  truncated,
  type Field,
  type Reader,
  type ReadContext,
} from "../request/read-value.ts";
import { supports } from "../request/requested-model.ts";
import { inputArguments, requireTools, sentName } from "./tools.ts";

/** A call, its result and its thought are one message of a chat. */
const itemsMax = 5 * messagesMax;

/** The place of a message that the client wrote as a text. */
const wholeInput = -1;

/** @returns the messages of the chat, instructions first @throws GatewayError with `param` */
export function readItems(context: ReadContext): ChatMessage[] {
  const { request } = context;
  const { input } = request;
  const instructions = request["instructions"] ?? undefined;
  const first: ChatMessage[] =
    instructions === undefined ? [] : [{ role: "system", content: anyString(instructions, "instructions", context) }];
  if (input === undefined || input === null) throw invalidRequest("input", "input is required");
  if (typeof input === "string") {
    return [...first, { role: "user", content: input, [apart]: { source: { item: wholeInput } } }];
  }
  if (!Array.isArray(input)) throw invalidRequest("input", "input must be a string or an array of items");
  if (input.length === 0) throw invalidRequest("input", "input must not be empty");
  if (input.length > itemsMax) throw invalidRequest("input", `input must not have more than ${itemsMax} items`);
  const conversation = new Conversation(context);
  for (const [index, item] of input.entries()) conversation.take(item, index);
  const messages = conversation.end();
  if (messages.length === 0) throw invalidRequest("input", "input must have a message");
  return [...first, ...messages];
}

/** The client's path of a path in the messages of a chat. */
export function inputPath(messages: readonly ChatMessage[], [index = "", field, part]: FieldPath): FieldPath {
  const message = messages[Number(index)];
  if (index === "" || message === undefined) return ["input"];
  const item = message[apart]?.source?.item;
  if (item === undefined) return ["instructions"];
  if (item === wholeInput) return ["input"];
  const place = ["input", String(item)];
  if (field !== "content") return place;
  return [...place, message.role === "tool" ? "output" : "content", ...(part === undefined ? [] : [part])];
}

// Texts

const partType = (word: string): Field => required(oneOf(word), "The kind of part");
const returned = (description: string): Field => nullable(ignored, `${description} of an earlier answer; not sent on`);
const inputText = objectOf({ type: partType("input_text"), text: required(anyString, "The text") });
const outputText = objectOf({
  type: partType("output_text"),
  text: required(anyString, "The text"),
  annotations: returned("The annotations"),
  logprobs: returned("The log probabilities"),
  parsed: added(ignored, "The official packages' parsed form of an earlier answer; not sent on"),
});
const refusalPart = objectOf({ type: partType("refusal"), refusal: required(anyString, "The text of the refusal") });

const promptTexts = textsOf({ input_text: inputText, output_text: outputText });
const answerTexts = textsOf({ input_text: inputText, output_text: outputText, refusal: refusalPart });

/** Text, or text in parts, as the content of a chat. */
function textsOf(parts: Record<string, Reader>): Reader {
  const readers = new Map(Object.entries(parts));
  const schema = Type.Union([Type.String(), Type.Array(Type.Union([...readers.values()].map((part) => part.schema)))]);
  return reader(schema, (value, at, context) => {
    if (typeof value === "string") return value;
    if (!Array.isArray(value)) throw invalidRequest(at, `${at} must be a string or an array of text parts`);
    return value.map((part: unknown, index) => {
      const place = `${at}[${index}]`;
      const type = isJsonObject(part) ? part["type"] : undefined;
      if (typeof type !== "string") throw invalidRequest(place, `${place} must be an object with a type`);
      const read = readers.get(type);
      if (read === undefined)
        throw unsupportedParameter(place, `Cannot send a part of type "${truncated(type)}": only text is supported`);
      const { text, refusal } = read(part, place, context) as JsonObject;
      return refusal === undefined ? { type: "text", text } : { type: "refusal", refusal };
    });
  });
}

// Items

const itemType = (...words: string[]): Field => required(oneOf(...words), "The kind of item");
const common = {
  id: returned("The id"),
  status: returned("The status"),
  created_by: returned("The maker"),
};
const callId = required(anyString, "Id of the call, as in the answer");
const ofCall = { ...common, call_id: callId, async: returned("The mode"), caller: returned("The caller") };
const toolName = required(anyString, "Name of the tool");
const namespace = nullable(anyString, "Namespace of the tool, as in the answer");
const output = required(promptTexts, "What the tool returned: text, or text in parts");
const listedTools = required(listOf(anyObject, 0), "Tools, each as in `tools`");

const itemReaders = {
  message: objectOf({
    type: nullable(oneOf("message"), "The kind of item"),
    role: required(oneOf("developer", "system", "user", "assistant"), "The role"),
    content: required(answerTexts, "Text, or text in parts. Only text is supported"),
    phase: returned("The phase"),
    ...common,
  }),
  function_call: objectOf({
    type: itemType("function_call"),
    name: toolName,
    namespace,
    arguments: required(anyString, "The arguments as the model wrote them"),
    parsed_arguments: added(ignored, "The official packages' parsed arguments; not sent on"),
    ...ofCall,
  }),
  custom_tool_call: objectOf({
    type: itemType("custom_tool_call"),
    name: toolName,
    namespace,
    input: required(anyString, "The input as the model wrote it"),
    ...ofCall,
  }),
  tool_search_call: objectOf({
    type: itemType("tool_search_call"),
    execution: required(oneOf("client"), "Who searches: only the client"),
    arguments: required(anyObject, "The arguments as the model wrote them"),
    ...ofCall,
  }),
  function_call_output: objectOf({ type: itemType("function_call_output"), output, name: returned("The name"), ...ofCall }),
  custom_tool_call_output: objectOf({ type: itemType("custom_tool_call_output"), output, name: returned("The name"), ...ofCall }),
  tool_search_output: objectOf({
    type: itemType("tool_search_output"),
    execution: required(oneOf("client"), "Who searched: only the client"),
    tools: listedTools,
    ...ofCall,
  }),
  reasoning: objectOf({
    type: itemType("reasoning"),
    summary: returned("The summary"),
    content: returned("The text"),
    encrypted_content: nullable(anyString, "The thought, as in the answer. One of another service is left out"),
    ...common,
  }),
  additional_tools: objectOf({
    type: itemType("additional_tools"),
    role: nullable(oneOf("developer", "system"), "The role"),
    tools: listedTools,
    ...common,
  }),
};
type ItemType = keyof typeof itemReaders;

export const itemsSchema: TSchema = Type.Union(
  [
    Type.String(),
    Type.Array(Type.Union(Object.values(itemReaders).map(({ schema }) => schema)), { minItems: 1, maxItems: itemsMax }),
  ],
  { description: "A message of the user, or the whole conversation as items, oldest first" },
);

function typeOf(item: JsonObject, at: string): ItemType {
  const type = item["type"] ?? "message";
  if (typeof type !== "string") throw invalidRequest(`${at}.type`, `${at}.type must be a string`);
  if (Object.hasOwn(itemReaders, type)) return type as ItemType;
  if (type === "item_reference") {
    const message = `${at}: nothing is kept between requests, so send the item itself; in the AI SDK set providerOptions.openai.store to false`;
    throw unsupportedParameter(at, message);
  }
  throw unsupportedParameter(at, `${at}: an item of type "${truncated(type)}" is not supported`);
}

// The conversation

interface Call {
  id: string;
  /** In the form of a chat. */
  call: JsonObject;
  item: number;
  result: ChatMessage | null;
}

/** A message of the model, as far as it was read. */
interface Answer {
  item: number;
  content: unknown;
  calls: Call[];
  thoughts: Thought[];
}

type Turn = { message: ChatMessage } | { answer: Answer };

class Conversation {
  readonly #context: ReadContext;
  readonly #turns: Turn[] = [];
  /** What the next item of the model may join. */
  #answer: Answer | null = null;
  /** Thoughts that belong to the next message. */
  #thoughts: PlacelessThought[] = [];
  /** The calls without a result so far, by their ids. */
  readonly #open = new Map<string, Call[]>();
  #userHasSpoken = false;
  /** Who gets reasoning back that has no seal: the model's routes, if it reasons. */
  readonly #signers: ReadonlySet<string>;

  constructor(context: ReadContext) {
    this.#context = context;
    const { model } = context;
    this.#signers = new Set(model !== null && takesReasoning(model) ? model.routes.map(signerOf) : []);
  }

  take(value: unknown, index: number): void {
    const at = `input[${index}]`;
    if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
    const type = typeOf(value, at);
    const item = itemReaders[type](value, at, this.#context) as JsonObject;
    switch (type) {
      case "message":
        return this.#takeMessage(item, index);
      case "reasoning":
        return this.#takeThought(item["encrypted_content"]);
      case "additional_tools":
        return requireTools(item["tools"], `${at}.tools`, this.#context);
      case "function_call":
      case "custom_tool_call":
      case "tool_search_call":
        return this.#takeCall(item, index);
      case "tool_search_output":
        requireTools(item["tools"], `${at}.tools`, this.#context);
        return this.#takeResult(item, index, foundText(item["tools"]));
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#takeResult(item, index, item["output"]);
    }
  }

  /** @throws GatewayError at a call without a result */
  end(): ChatMessage[] {
    for (const turn of this.#turns) {
      const call = "answer" in turn ? turn.answer.calls.find(({ result }) => result === null) : undefined;
      if (call !== undefined) throw unmatched(call.item, "the call has no result");
    }
    return this.#turns.flatMap((turn) => ("message" in turn ? [turn.message] : messagesOf(turn.answer, this.#signers)));
  }

  #takeMessage({ role, content }: JsonObject, item: number): void {
    const at = `input[${item}].content`;
    if (role === "assistant") {
      // A blank text is no message, and some providers refuse it.
      if (isEmpty(content)) return;
      const answer = this.#begin(item);
      answer.content = content;
      return;
    }
    if (Array.isArray(content) && content.length === 0) throw invalidRequest(at, `${at} must not be empty`);
    if (Array.isArray(content) && content.some((part) => isJsonObject(part) && part["type"] === "refusal"))
      throw invalidRequest(at, `${at}: only the model refuses`);
    this.#close();
    const isInstruction = role !== "user";
    const facts: MessageFacts = { source: { item }, ...(isInstruction && this.#userHasSpoken && { late: true }) };
    this.#userHasSpoken ||= !isInstruction;
    this.#turns.push({ message: { role: String(role), content, [apart]: facts } });
  }

  /** A thought of another service, or one that cannot be read, is left out. */
  #takeThought(packed: unknown): void {
    const thought = typeof packed === "string" ? readPackedThought(packed) : null;
    if (thought !== null) this.#thoughts.push(thought);
  }

  #takeCall(item: JsonObject, index: number): void {
    const given = String(item["call_id"]);
    const id = String(toolCallId(given, `input[${index}].call_id`, this.#context));
    const answer = this.#answer ?? this.#begin(index);
    this.#placeThoughts(answer);
    const call: Call = { id: given, call: chatCall(id, item, this.#context), item: index, result: null };
    answer.calls.push(call);
    const open = this.#open.get(given);
    if (open === undefined) this.#open.set(given, [call]);
    else open.push(call);
  }

  /** Ids may repeat from turn to turn: the last call that waits gets the result. */
  #takeResult({ call_id }: JsonObject, item: number, content: unknown): void {
    this.#answer = null;
    const call = this.#open.get(String(call_id))?.pop();
    if (call === undefined) throw unmatched(item, "there is no call with this id before it, or it has a result");
    const { id } = call.call;
    const text = isEmpty(content) ? "" : content;
    call.result = { role: "tool", content: text, tool_call_id: id, [apart]: { source: { item } } };
  }

  /** A new message of the model. */
  #begin(item: number): Answer {
    const answer: Answer = { item, content: null, calls: [], thoughts: [] };
    this.#placeThoughts(answer);
    this.#turns.push({ answer });
    this.#answer = answer;
    return answer;
  }

  #placeThoughts(answer: Answer): void {
    const callsBefore = answer.calls.length;
    for (const thought of this.#thoughts) answer.thoughts.push({ ...thought, callsBefore });
    this.#thoughts = [];
  }

  /** Someone else speaks, so thoughts without a message after them are dropped. */
  #close(): void {
    this.#answer = null;
    this.#thoughts = [];
  }
}

function messagesOf({ item, content, calls, thoughts }: Answer, signers: ReadonlySet<string>): ChatMessage[] {
  const facts: MessageFacts = { source: { item }, ...(thoughts.length > 0 && { thoughts }) };
  const plain = thoughts.filter(({ seal, text, signer }) => seal === "" && text !== "" && signers.has(signer));
  const message: ChatMessage = {
    role: "assistant",
    content,
    ...(plain.length > 0 && { reasoning_content: plain.map(({ text }) => text).join("\n\n") }),
    ...(calls.length > 0 && { tool_calls: calls.map(({ call }) => call) }),
    [apart]: facts,
  };
  return [message, ...calls.flatMap(({ result }) => result ?? [])];
}

/** A model without custom tools knows the client's as functions. */
function chatCall(id: string, item: JsonObject, { model }: ReadContext): JsonObject {
  const name = sentName(String(item["name"]), typeof item["namespace"] === "string" ? item["namespace"] : undefined);
  const called = (text: string): JsonObject => ({ id, type: "function", function: { name, arguments: text } });
  if (item["type"] === "function_call") return called(String(item["arguments"]));
  if (item["type"] === "tool_search_call") {
    return { id, type: "function", function: { name: "tool_search", arguments: JSON.stringify(item["arguments"]) } };
  }
  const input = String(item["input"]);
  if (supports(model, "custom_tools")) return { id, type: "custom", custom: { name, input } };
  return called(inputArguments(input));
}

/** What a search found, as the model reads it. The tools themselves join the others. */
function foundText(tools: unknown): string {
  const names = (Array.isArray(tools) ? tools : []).flatMap((tool) => namesIn(tool));
  return names.length === 0 ? "No tool was found" : `Loaded: ${names.join(", ")}`;
}

function namesIn(tool: unknown, within?: string): string[] {
  if (!isJsonObject(tool)) return [];
  const { type, name, tools } = tool;
  if (type === "namespace" && Array.isArray(tools)) return tools.flatMap((one) => namesIn(one, String(name)));
  return [sentName(String(name), within)];
}

function isEmpty(content: unknown): boolean {
  return content === "" || (Array.isArray(content) && content.length === 0);
}

function unmatched(item: number, problem: string): GatewayError {
  const at = `input[${item}].call_id`;
  return invalidRequest(at, `${at}: ${problem}`);
}
