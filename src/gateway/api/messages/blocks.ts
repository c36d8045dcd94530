/**
 * Reads the conversation of a request to Messages as the messages of a chat. Each message is read from its own blocks alone. So it is sent
 * the same in every turn, and providers find the prompt in their caches. A user's message becomes the results of tools first, and then what
 * the user says. An instruction after the user's first words stays in its place.
 * Facts for which a chat has no field stand apart: the model's own thoughts, failed tools, late instructions, and where the client wrote
 * each message. Another model's thoughts and blank texts are left out, with their breakpoints.
 * Each call needs its result in the user's next message, as the API demands. Content other than text is refused with its path. After the
 * message for an image Claude Code goes on without the image; any other message would end its session.
 */
import { Type } from "@sinclair/typebox";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { invalidRequest, unsupportedParameter } from "../../../kernel/errors.ts";
import { messagesMax } from "../../limits.ts";
import { apart, type ChatMessage, type MessageFacts } from "../../providers/provider.ts";
import { changingHeader } from "../../providers/anthropic/native.ts";
import { readWrappedSeal, type Thought } from "../../thoughts.ts";
import { toolCallId } from "../request/chat-parts.ts";
import {
  anyObject,
  anyString,
  boolean,
  ignored,
  nullable,
  objectOf,
  oneOf,
  reader,
  readField,
  required,
  truncated,
  type Field,
  type Reader,
  type ReadContext,
} from "../request/read-value.ts";
import { cacheMark } from "./tools.ts";

export interface Turns {
  messages: ChatMessage[];
  /** The names of the tools that references name. */
  loaded: ReadonlySet<string>;
  /** The effort that the last instruction asks for. */
  effort: string | undefined;
}

interface GivenTurns {
  system: unknown;
  messages: unknown;
  /** The conversation is only counted, so it may end with the model's answer. */
  onlyCounts?: boolean;
}

/** `MessageFacts.source.item` of the instructions in `system`, which is no list of messages. */
export const systemItem = -1;

// Blocks

const kind = (word: string): Field => required(oneOf(word), "The kind of block");
const mark = (end: string): Field => nullable(cacheMark, `Asks the provider to cache the prompt to the end of this ${end}`);
const dropped = (what: string): Field => nullable(ignored, `${what}. Not sent on`);

const textBlock = objectOf({
  type: kind("text"),
  text: required(anyString, "The text"),
  cache_control: mark("block"),
  citations: dropped("The sources of an earlier answer"),
});
const toolReference = objectOf({
  type: kind("tool_reference"),
  tool_name: required(anyString, "A tool with `defer_loading`, which the model gets from now on"),
  cache_control: mark("block"),
});
const resultContent = contentOf({ text: textBlock, tool_reference: toolReference });
const blocksOfUser: Record<string, Reader> = {
  text: textBlock,
  tool_result: objectOf({
    type: kind("tool_result"),
    tool_use_id: required(toolCallId, "Id of the call whose result this is"),
    content: nullable(resultContent, "The result: text, or blocks of text and of references to tools"),
    is_error: nullable(boolean, "Whether the tool failed"),
    cache_control: mark("result"),
  }),
};
const blocksOfAssistant: Record<string, Reader> = {
  text: textBlock,
  tool_use: objectOf({
    type: kind("tool_use"),
    id: required(toolCallId, "Id of the call, as in the answer"),
    name: required(anyString, "Name of the tool"),
    input: required(anyObject, "Its input"),
    caller: dropped("Who called the tool"),
    toolset_name: dropped("Where the tool is from"),
    cache_control: nullable(ignored, "Not sent on"),
  }),
  thinking: objectOf({
    type: kind("thinking"),
    thinking: required(anyString, "The text"),
    signature: required(anyString, "As in the answer: only the model that thought it gets it back"),
    cache_control: nullable(ignored, "Not sent on"),
  }),
  redacted_thinking: objectOf({
    type: kind("redacted_thinking"),
    data: required(anyString, "As in the answer"),
    cache_control: nullable(ignored, "Not sent on"),
  }),
};

const textsOnly = contentOf({ text: textBlock });
export const systemContent: Reader = textsOnly;

export const messageEfforts = ["low", "medium", "high", "xhigh", "max"] as const;
const effortOnly = objectOf({ effort: nullable(oneOf(...messageEfforts), "How much the model thinks and writes") });

const role = (word: string): Field => required(oneOf(word), "Who speaks");
const use = "A text, or blocks";
const messagesByRole: Record<string, Reader> = {
  user: objectOf({ role: role("user"), content: required(contentOf(blocksOfUser), use) }),
  assistant: objectOf({ role: role("assistant"), content: required(contentOf(blocksOfAssistant), use) }),
  system: objectOf({
    role: role("system"),
    content: required(textsOnly, "An instruction for what follows"),
    output_config: nullable(effortOnly, "The effort from here on"),
  }),
};
const anyRole = required(anyString, "Who speaks");

export const turnsSchema = Type.Array(Type.Union(Object.values(messagesByRole).map(({ schema }) => schema)), {
  minItems: 1,
  maxItems: messagesMax,
  description: "The conversation, oldest message first",
});

/** Blocks that are read later, one by one, or a text. */
function contentOf(readers: Record<string, Reader>): Reader {
  const byType = new Map(Object.entries(readers));
  const schema = Type.Union([Type.String(), Type.Array(Type.Union(Object.values(readers).map((one) => one.schema)))]);
  return reader(schema, (value, at, context) => {
    if (typeof value === "string") return [{ type: "text", text: value }];
    if (!Array.isArray(value)) throw invalidRequest(at, `${at} must be a string or an array of blocks`);
    return value.map((block, index) => {
      const place = `${at}[${index}]`;
      const type = isJsonObject(block) ? block["type"] : undefined;
      if (typeof type !== "string") throw invalidRequest(place, `${place} must be an object with a type`);
      const read = byType.get(type);
      if (read === undefined) throw notText(block, place);
      return read(block, place, context);
    });
  });
}

/** @param at the path of the block. A block within a result is named by the result's path: clients look for an image only there */
function notText(block: JsonObject, at: string): Error {
  const place = /^messages\[\d+\]\.content\[\d+\]/.exec(at)?.[0] ?? at;
  const type = String(block["type"]);
  const source = isJsonObject(block["source"]) ? block["source"] : {};
  const isImage = type === "image" || (type === "document" && String(source["media_type"]).startsWith("image/"));
  const message = isImage
    ? `${dotted(place)}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`
    : `Cannot send a block of type "${truncated(type)}": only text content is supported`;
  return unsupportedParameter(place, message);
}

function dotted(path: string): string {
  return path.replaceAll(/\[(\d+)\]/g, ".$1");
}

// The conversation

/** @param given `system` as `systemContent` returned it, and the field `messages` @throws GatewayError with the first wrong field */
export function readTurns(given: GivenTurns, context: ReadContext): Turns {
  const { messages } = given;
  if (messages === undefined) throw invalidRequest("messages", "messages is required");
  if (!Array.isArray(messages)) throw invalidRequest("messages", "messages must be an array");
  if (messages.length === 0) throw invalidRequest("messages", "messages must not be empty");
  if (messages.length > messagesMax) throw invalidRequest("messages", `messages must not have more than ${messagesMax} items`);
  const turns = new TurnsReader(context);
  turns.instruct(given.system);
  for (const [item, message] of messages.entries()) turns.read(message, item);
  const read = turns.end();
  if (!given.onlyCounts) turns.requireModelsTurn(messages.length - 1);
  return read;
}

class TurnsReader {
  readonly #context: ReadContext;
  readonly #messages: ChatMessage[] = [];
  readonly #loaded = new Set<string>();
  #effort: string | undefined;
  #userSpoke = false;
  #lastRole = "";
  /** The calls that still need their results, and the message that made them. */
  #open: { ids: Set<string>; item: number } | null = null;
  /** Instructions between calls and their results: providers want the results first. */
  #waiting: ChatMessage[] = [];

  constructor(context: ReadContext) {
    this.#context = context;
  }

  /** @param system blocks that were read */
  instruct(system: unknown): void {
    const blocks = blocksIn(system);
    const [first] = blocks;
    const skipped = String(first?.["text"] ?? "").startsWith(changingHeader) ? 1 : 0;
    const content = textContentOf(blocks, skipped);
    if (content !== null) this.#add({ role: "system", ...content.field }, { source: { item: systemItem, parts: content.parts } });
  }

  read(value: unknown, item: number): void {
    const at = `messages[${item}]`;
    if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
    const speaker = String(readField(value["role"], `${at}.role`, anyRole, this.#context));
    const read = messagesByRole[speaker];
    if (read === undefined || !Object.hasOwn(messagesByRole, speaker))
      throw invalidRequest(`${at}.role`, `${at}.role must be one of "user", "assistant", "system"`);
    const message = read(value, at, this.#context) as JsonObject;
    const blocks = blocksIn(message["content"]);
    this.#lastRole = speaker;
    if (speaker === "user") this.#user(blocks, item);
    else if (speaker === "assistant") this.#assistant(blocks, item);
    else this.#system(message, blocks, item);
  }

  end(): Turns {
    this.#requireResults();
    if (this.#messages.length === 0) throw invalidRequest("messages", "messages must have some text");
    return { messages: this.#messages, loaded: this.#loaded, effort: this.#effort };
  }

  /** @param last the index of the last message */
  requireModelsTurn(last: number): void {
    if (this.#lastRole !== "assistant" || this.#continuesItself()) return;
    const at = `messages[${last}]`;
    const id = this.#context.model?.id ?? "The model";
    throw unsupportedParameter(at, `${id} does not continue a message of its own: ${at} must be a user's`);
  }

  /** Only older models of Anthropic continue their own last message. A model that the catalog does not have is refused by a later check. */
  #continuesItself(): boolean {
    const { model } = this.#context;
    return model === null || (model.routes.length > 0 && model.routes.every(isOlderClaude));
  }

  #system(message: JsonObject, blocks: readonly JsonObject[], item: number): void {
    const { effort } = (message["output_config"] ?? {}) as { effort?: string };
    this.#effort = effort ?? this.#effort;
    const content = textContentOf(blocks);
    if (content === null) return;
    const facts: MessageFacts = { ...(this.#userSpoke && { late: true }), source: { item, parts: content.parts } };
    const instruction = { role: "system", ...content.field, [apart]: facts };
    if (this.#open === null) this.#messages.push(instruction);
    else this.#waiting.push(instruction);
  }

  #user(blocks: readonly JsonObject[], item: number): void {
    this.#userSpoke = true;
    for (const [index, block] of blocks.entries()) if (block["type"] === "tool_result") this.#result(block, { item, index });
    this.#requireResults();
    for (const instruction of this.#waiting) this.#messages.push(instruction);
    this.#waiting = [];
    const content = textContentOf(blocks);
    if (content !== null) this.#add({ role: "user", ...content.field }, { source: { item, parts: content.parts } });
  }

  #result(block: JsonObject, { item, index }: { item: number; index: number }): void {
    const id = String(block["tool_use_id"]);
    if (!this.#open?.ids.delete(id)) {
      const at = `messages[${item}].content[${index}].tool_use_id`;
      throw invalidRequest(at, `${at}: the message before has no tool_use with this id`);
    }
    const texts = blocksIn(block["content"]).map((one) => this.#referenced(one));
    const content = textContentOf(texts);
    const marked = content === null ? "" : withMark(content.field.content, block["cache_control"]);
    const facts: MessageFacts = { ...(block["is_error"] === true && { isError: true }), source: { item, parts: [index] } };
    this.#add({ role: "tool", tool_call_id: id, content: marked }, facts);
  }

  /** A reference as a text. */
  #referenced(block: JsonObject): JsonObject {
    const { type, tool_name: name, cache_control } = block;
    if (type !== "tool_reference") return block;
    this.#loaded.add(String(name));
    return { type: "text", text: `Tool ${String(name)} loaded`, ...(cache_control !== undefined && { cache_control }) };
  }

  #assistant(blocks: readonly JsonObject[], item: number): void {
    this.#requireResults();
    const calls: JsonObject[] = [];
    const thoughts: Thought[] = [];
    const ids = new Set<string>();
    for (const [index, block] of blocks.entries()) {
      const thought = thoughtOf(block, calls.length);
      if (thought !== null) thoughts.push(thought);
      if (block["type"] !== "tool_use") continue;
      const id = String(block["id"]);
      const at = `messages[${item}].content[${index}].id`;
      if (ids.has(id)) throw invalidRequest(at, `${at} is the id of another call of the message`);
      ids.add(id);
      calls.push({ id, type: "function", function: { name: block["name"], arguments: JSON.stringify(block["input"]) } });
    }
    const content = textContentOf(blocks);
    if (content === null && calls.length === 0) return;
    const facts: MessageFacts = {
      ...(thoughts.length > 0 && { thoughts }),
      source: { item, ...(content !== null && { parts: content.parts }) },
    };
    this.#add({ role: "assistant", ...content?.field, ...(calls.length > 0 && { tool_calls: calls }) }, facts);
    if (ids.size > 0) this.#open = { ids, item };
  }

  /** @throws GatewayError if a call has no result */
  #requireResults(): void {
    const open = this.#open;
    this.#open = null;
    const [missing] = open?.ids ?? [];
    if (open === null || missing === undefined) return;
    const at = `messages[${open.item}]`;
    throw invalidRequest(at, `${at}: the tool_use ${truncated(missing)} has no tool_result in the next message`);
  }

  #add(message: ChatMessage, facts: MessageFacts): void {
    this.#messages.push({ ...message, [apart]: facts });
  }
}

function isOlderClaude({ format, thinking }: { format: string; thinking?: { form: string } }): boolean {
  return format === "anthropic" && thinking?.form === "budget";
}

function blocksIn(read: unknown): readonly JsonObject[] {
  return Array.isArray(read) ? read.filter(isJsonObject) : [];
}

interface TextContent {
  field: { content: unknown };
  /** For each part the index of its block. */
  parts: number[];
}

/**
 * The texts that are not blank. A single one without a breakpoint becomes a plain text, since clients write it in either form, and move
 * their breakpoints from turn to turn. @param from the first block that counts @returns null: there are none
 */
function textContentOf(blocks: readonly JsonObject[], from = 0): TextContent | null {
  const said: JsonObject[] = [];
  const parts: number[] = [];
  for (let index = from; index < blocks.length; index++) {
    const { type, text, cache_control } = blocks[index] ?? {};
    if (type !== "text" || typeof text !== "string" || !/\S/.test(text)) continue;
    said.push({ type, text, ...(cache_control !== undefined && { cache_control }) });
    parts.push(index);
  }
  const [first] = said;
  if (first === undefined) return null;
  const isPlain = said.length === 1 && first["cache_control"] === undefined;
  return { field: { content: isPlain ? first["text"] : said }, parts };
}

/** The breakpoint of a whole result goes to its last text. */
function withMark(content: unknown, cacheControl: unknown): unknown {
  if (cacheControl === undefined) return content;
  const parts: readonly JsonObject[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
  return parts.map((part, index) => (index === parts.length - 1 ? { ...part, cache_control: cacheControl } : part));
}

/** null: it is no thought, or another model's. */
function thoughtOf({ type, thinking, signature, data }: JsonObject, callsBefore: number): Thought | null {
  const isRedacted = type === "redacted_thinking";
  if (!isRedacted && type !== "thinking") return null;
  const own = readWrappedSeal(String(isRedacted ? data : signature));
  if (own === null) return null;
  return isRedacted ? { ...own, text: "", redacted: true, callsBefore } : { ...own, text: String(thinking), callsBefore };
}
