/**
 * A request to Messages whose provider speaks the API itself. What the client wrote is not converted to a chat and back, so blocks, their
 * order, breakpoints and thoughts reach the model as the client has them. The client's bytes are never sent: each block is written again
 * from the checked request with the fields of an allow-list, so a repeated key hides nothing.
 * A message is written from itself alone. What is sent of earlier turns then stays the same through a session, so the provider finds it in
 * its cache and thoughts stay valid.
 * What changes: a thought goes only to the model that thought it, unwrapped. Blank texts and breakpoints on them are left out, since the API
 * refuses both. A breakpoint has no lifetime, since a longer one has another price, and only the last four stay. Results come before what
 * else the user says. An instruction behind the first words of the user stays in its place, as a reminder where the model takes none there.
 */
import { jsonBytes } from "../../../http/long-texts.ts";
import { inputTokensBound } from "../../models/chat-tokens.ts";
import type { Route } from "../../models/model.ts";
import { readWrappedSeal } from "../../thoughts.ts";
import { readToolCallId } from "../../tool-call-id.ts";
import { native, type ChatBody, type NativeRequest } from "../provider.ts";
import type { FieldPath } from "../provider-error.ts";
import type { CallIds } from "../wire/call-ids.ts";
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import { openingText, continuingText, reminderBytes, reminderOf } from "../wire/requests.ts";
import {
  completed,
  isThought,
  saysSomething,
  thoughtBlock,
  turnIds,
  type Conversation,
  type TextBlock,
  type Turn,
} from "./messages.ts";

/** The request in the form of this API; null: the chat is converted. */
export function nativeMessages(chat: ChatBody): NativeRequest | null {
  const own = chat[native];
  return own?.format === "anthropic" ? own : null;
}

/**
 * See `WireFormat.addedBytes`. The prompt is counted as JSON, with the seals of thoughts and the tools that a chat would not have.
 * @param tools as they are sent
 */
export function nativeAddedBytes(chat: ChatBody, { body }: NativeRequest, tools: readonly JsonObject[]): number {
  const { system, messages, context_management } = body;
  const bytes = jsonBytes(JSON.stringify({ system, messages, tools, context_management }));
  const ours = openingText.length + continuingText.length + reminderBytes(chat);
  return Math.max(0, bytes + ours - inputTokensBound(chat));
}

/** Of a client's text before its instructions: it changes with every request, so a cache would never know the prompt again. */
export const changingHeader = "x-anthropic-billing-header:";

export const cacheBreakpointsMax = 4;

/** @param holders whatever may have a breakpoint, in the order of the prompt */
export function keepLastBreakpoints(holders: readonly JsonObject[], most: number): void {
  const marked = holders.filter(({ cache_control }) => cache_control !== undefined);
  for (const holder of marked.slice(0, Math.max(0, marked.length - most))) delete holder["cache_control"];
}

/** The field for a breakpoint that the client has set; none if it has not. */
export function breakpointField(given: unknown): JsonObject {
  return asObject(given) === null ? {} : { cache_control: { type: "ephemeral" } };
}

// The conversation

interface Receiver {
  /** The model that gets its own thoughts back; null: no thoughts are sent. */
  signer: string | null;
  route: Pick<Route, "thinking" | "lateInstructions">;
}

interface NativeConversation extends Conversation {
  /** Where the client wrote each block of `system`. */
  systemOrigins: readonly FieldPath[];
  /** The same of each block of a turn; a turn that the gateway has added has none. */
  origins: ReadonlyMap<Turn, readonly FieldPath[]>;
}

export function nativeConversation({ body }: NativeRequest, receiver: Receiver): NativeConversation {
  const writer = new TurnsWriter(receiver);
  writer.instruct(body["system"]);
  for (const [item, message] of asArray(body["messages"]).entries()) writer.write(asObject(message) ?? {}, item);
  return writer.end();
}

/**
 * Finds the client's field of a field that was sent; if unsure, the enclosing one. The conversation is written at most once.
 * @param receiver whose thoughts may have been sent
 */
export function nativeField(own: NativeRequest, receiver: Receiver): (path: FieldPath) => FieldPath {
  let written: NativeConversation | null = null;
  return (path) => {
    const [first = "", index, ...inner] = path;
    if (index === undefined || (first !== "messages" && first !== "system")) return path;
    written ??= nativeConversation(own, receiver);
    if (first === "system") return [...(written.systemOrigins[Number(index)] ?? ["system"]), ...inner];
    return inTurn(written, Number(index), inner);
  };
}

function inTurn({ turns, origins }: NativeConversation, index: number, [, block, ...inner]: FieldPath): FieldPath {
  const turn = turns[index];
  const places = turn && origins.get(turn);
  const [first] = places ?? [];
  if (turn === undefined || places === undefined || first === undefined) return ["messages"];
  const message = first.slice(0, 2);
  // Whether the thoughts of a turn were sent depends on more than the conversation.
  if (turn.content.some(isThought)) return places.every(([, item]) => item === message[1]) ? message : ["messages"];
  const place = block === undefined ? undefined : places[Number(block)];
  return place === undefined ? message : [...place, ...inner];
}

/** A block as it is sent, and where the client wrote it. */
interface Written<Block extends JsonObject = JsonObject> {
  block: Block;
  origin: FieldPath;
}

class TurnsWriter {
  readonly #receiver: Receiver;
  readonly #ids = turnIds();
  readonly #system: TextBlock[] = [];
  readonly #systemOrigins: FieldPath[] = [];
  readonly #turns: Turn[] = [];
  readonly #origins = new Map<Turn, FieldPath[]>();
  #userSpoke = false;
  /** The last message calls tools, so their results come next. */
  #calls = false;
  /** Instructions between calls and their results. */
  #waiting: Written[][] = [];

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  instruct(system: unknown): void {
    const said = saidIn(system, ["system"]);
    const isChanging = said[0]?.block.text.startsWith(changingHeader) === true;
    this.#addSystem(isChanging ? said.slice(1) : said);
  }

  write({ role, content }: JsonObject, item: number): void {
    const at = ["messages", String(item), "content"];
    if (role === "assistant") return this.#answer(content, at);
    if (role === "user") return this.#say(content, at);
    const said = saidIn(content, at);
    if (!this.#userSpoke) this.#addSystem(said);
    else if (this.#calls) this.#waiting.push(said);
    else this.#instructLate(said);
  }

  end(): NativeConversation {
    for (const said of this.#waiting) this.#instructLate(said);
    const endsWithUser = this.#receiver.route.thinking?.form === "adaptive";
    const conversation = completed(this.#system, this.#turns, endsWithUser);
    return { ...conversation, systemOrigins: this.#systemOrigins, origins: this.#origins };
  }

  #addSystem(said: readonly Written<TextBlock>[]): void {
    for (const { block, origin } of said) {
      this.#system.push(block);
      this.#systemOrigins.push(origin);
    }
  }

  #say(content: unknown, at: FieldPath): void {
    this.#userSpoke = true;
    this.#calls = false;
    const results = writtenIn(content, at, (block) => (block["type"] === "tool_result" ? resultBlock(block, this.#ids) : null));
    this.#append("user", results);
    for (const said of this.#waiting) this.#instructLate(said);
    this.#waiting = [];
    this.#append("user", saidIn(content, at));
  }

  #answer(content: unknown, at: FieldPath): void {
    const written = writtenIn(content, at, (block) => this.#answerBlock(block));
    // The API refuses a thought as the last block.
    const length = written.findLastIndex(({ block }) => !isThought(block)) + 1;
    this.#calls = written.some(({ block }) => block["type"] === "tool_use");
    this.#append("assistant", written.slice(0, length));
  }

  #answerBlock(block: JsonObject): JsonObject | null {
    switch (block["type"]) {
      case "text":
        return textBlock(block);
      case "tool_use": {
        const { id, name, input, cache_control } = block;
        const called = this.#ids.ofCall(readToolCallId(asText(id) ?? "").id);
        return { type: "tool_use", id: called, name, input, ...breakpointField(cache_control) };
      }
      case "thinking":
        return this.#thought(block["signature"], { text: asText(block["thinking"]) ?? "" });
      case "redacted_thinking":
        return this.#thought(block["data"], { text: "", redacted: true });
      default:
        return null;
    }
  }

  /** null: it is another model's, or no model's. */
  #thought(wrapped: unknown, { text, redacted }: { text: string; redacted?: true }): JsonObject | null {
    const own = readWrappedSeal(asText(wrapped) ?? "");
    if (own === null || own.signer !== this.#receiver.signer || own.seal === "") return null;
    return thoughtBlock({ text, seal: own.seal, ...(redacted && { redacted }) });
  }

  /** Models take an instruction only behind a turn of the user. */
  #instructLate(said: readonly Written[]): void {
    const last = this.#turns.at(-1)?.role;
    const isTaken = this.#receiver.route.lateInstructions === true && (last === "user" || last === "system");
    if (isTaken) return this.#append("system", said);
    const { content } = reminderOf({ role: "system", content: said.map(({ block }) => block) });
    const reminders = asArray(content).map((block) => asObject(block) ?? {});
    this.#append(
      "user",
      said.map(({ block, origin }, index) => ({ block: reminders[index] ?? block, origin })),
    );
  }

  /** Messages of one role that follow each other are one turn to the API. */
  #append(role: Turn["role"], written: readonly Written[]): void {
    if (written.length === 0) return;
    const last = this.#turns.at(-1);
    const turn = last?.role === role ? last : { role, content: [] };
    if (turn !== last) this.#turns.push(turn);
    const origins = this.#origins.get(turn) ?? [];
    this.#origins.set(turn, origins);
    for (const { block, origin } of written) {
      turn.content.push(block);
      origins.push(origin);
    }
  }
}

// Blocks

/** @param write null: the block is not sent */
function writtenIn<Block extends JsonObject>(
  content: unknown,
  at: FieldPath,
  write: (block: JsonObject) => Block | null,
): Written<Block>[] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : asArray(content);
  return blocks.flatMap((value, index) => {
    const block = write(asObject(value) ?? {});
    return block === null ? [] : [{ block, origin: [...at, String(index)] }];
  });
}

function saidIn(content: unknown, at: FieldPath): Written<TextBlock>[] {
  return writtenIn(content, at, (block) => (block["type"] === "text" ? textBlock(block) : null));
}

/** null: it is blank. */
function textBlock({ text, cache_control }: JsonObject): TextBlock | null {
  const said = asText(text) ?? "";
  return saysSomething(said) ? { type: "text", text: said, ...breakpointField(cache_control) } : null;
}

/** A breakpoint on any part of a result caches the whole result. */
function resultBlock({ tool_use_id, content, is_error, cache_control }: JsonObject, ids: CallIds): JsonObject {
  const parts = asArray(content).map((part) => asObject(part) ?? {});
  const told = typeof content === "string" ? content : parts.flatMap((part) => resultPart(part) ?? []);
  const isEmpty = typeof told === "string" ? !saysSomething(told) : told.length === 0;
  const mark = cache_control ?? parts.find((part) => asObject(part["cache_control"]) !== null)?.["cache_control"];
  return {
    type: "tool_result",
    tool_use_id: ids.ofResult(readToolCallId(asText(tool_use_id) ?? "").id),
    ...(!isEmpty && { content: told }),
    ...(typeof is_error === "boolean" && { is_error }),
    ...breakpointField(mark),
  };
}

function resultPart(part: JsonObject): JsonObject | null {
  const { type, text, tool_name } = part;
  return type === "tool_reference" ? { type, tool_name } : textBlock({ text });
}
