/**
 * Converts a conversation to the Messages API: the instructions, and turns of user and assistant made of blocks. Consecutive messages of
 * one role become one turn, blank texts are left out, and ids of calls get the form that the API accepts, each once. If the calls' ids
 * carry thoughts (thoughts.ts), an answer goes back with all its blocks in order, its text split as the model wrote it. A text that the
 * client has changed is not split. Thoughts that stand apart go before the text or their call, in every turn, since later turns must not
 * change what is sent of earlier ones.
 */
import { hash } from "node:crypto";
import type { Thought } from "../../thoughts.ts";
import { readToolCallId } from "../../tool-call-id.ts";
import { apart, type ChatMessage } from "../provider.ts";
import { asArray, asObject, asText, type JsonObject, ToolArguments } from "../wire/json.ts";
import { CallIds } from "../wire/call-ids.ts";
import { continuingText, openingText, isInstruction, namedTexts, sealedThoughts, withReminders } from "../wire/requests.ts";
import { ThoughtsReader, type Piece } from "./thoughts.ts";

export interface Conversation {
  /** The parts of all system and developer messages, not joined: the provider's cache compares prompts block by block. */
  system: TextBlock[];
  turns: Turn[];
  /** At least one turn has a thought. */
  hasThoughts: boolean;
  /** The model is in the middle of a turn, which it began without a thought. */
  isThoughtless: boolean;
}

export interface TextBlock extends JsonObject {
  type: "text";
  text: string;
  /** The provider caches the prompt up to the end of this block. */
  cache_control?: unknown;
}

export interface Turn {
  /** `system`: an instruction between the turns, for a model that takes it there. */
  role: "user" | "assistant" | "system";
  content: JsonObject[];
}

/**
 * Consecutive messages of one role become one turn, and the first is the user's. The API refuses blank texts and trailing white space in
 * an unfinished turn, so both are removed.
 * @param options.signer the model that gets its own thoughts back; absent or null: no thoughts are sent
 * @param options.endsWithUser the model refuses to continue its own last turn, so a turn of the user follows it
 */
export function conversationOf(
  messages: readonly ChatMessage[],
  { signer = null, endsWithUser = false }: { signer?: string | null; endsWithUser?: boolean } = {},
): Conversation {
  const system: TextBlock[] = [];
  const turns: Turn[] = [];
  const own: Reading = { signer, ids: turnIds(), args: new ToolArguments(), thoughts: new ThoughtsReader(signer) };
  const foreign: Reading = { ...own, thoughts: new ThoughtsReader(null) };
  const thoughtsFrom = signer === null ? messages.length : messages.findLastIndex(isFinished);
  for (const [index, message] of withReminders(messages).entries()) {
    if (isInstruction(message)) system.push(...named(message, textsOf(message.content)));
    else append(turns, turnOf(message, index > thoughtsFrom ? own : foreign));
  }
  return completed(system, turns, endsWithUser);
}

/** The conversation with the turns that the API wants at its beginning and its end. */
export function completed(system: TextBlock[], turns: Turn[], endsWithUser: boolean): Conversation {
  const [first] = turns;
  if (first ? first.role === "assistant" : system.length > 0) turns.unshift(userSays(openingText));
  if (endsWithUser && turns.at(-1)?.role === "assistant") turns.push(userSays(continuingText));
  endInText(turns.at(-1));
  return {
    system,
    turns,
    hasThoughts: turns.some(({ content }) => content.some(isThought)),
    isThoughtless: isThoughtless(turns),
  };
}

/** The readers of one conversation's messages. */
interface Reading {
  /** Gets its thoughts back that stand apart; null: no model does. */
  signer: string | null;
  ids: CallIds;
  args: ToolArguments;
  /** Of the thoughts in ids. */
  thoughts: ThoughtsReader;
}

/** A turn of the model continues through its calls and their results until the user says something. */
function isThoughtless(turns: readonly Turn[]): boolean {
  const said = turns.findLastIndex(({ role, content }) => role === "user" && !content.some(isToolResult));
  const answer = turns[said + 1];
  return answer !== undefined && !(answer.content[0] && isThought(answer.content[0]));
}

function isToolResult({ type }: JsonObject): boolean {
  return type === "tool_result";
}

export function isThought({ type }: JsonObject): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/**
 * An answer without calls has no id in which its thoughts could travel. The API refuses a thought if an earlier one is missing, so none
 * that precedes such an answer is sent; it requires only those of the current turn.
 */
function isFinished({ role, tool_calls }: ChatMessage): boolean {
  return role === "assistant" && asArray(tool_calls).length === 0;
}

/** The blocks that are not blank, with the speaker's name before the first. */
function named(message: ChatMessage, blocks: readonly TextBlock[]): TextBlock[] {
  const said = blocks.filter(({ text }) => saysSomething(text));
  const texts = namedTexts(
    message,
    said.map(({ text }) => text),
  );
  return said.map((block, index) => ({ ...block, text: texts[index] ?? block.text }));
}

export function saysSomething(text: string): boolean {
  return /\S/.test(text);
}

/** The texts of a content, including the model's refusals. */
function textsOf(content: unknown): TextBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return asArray(content).map((part) => {
    const { text, refusal, cache_control } = asObject(part) ?? {};
    return { type: "text", text: asText(text) ?? asText(refusal) ?? "", ...(cache_control !== undefined && { cache_control }) };
  });
}

function append(turns: Turn[], turn: Turn): void {
  if (turn.content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role !== turn.role) turns.push(turn);
  else for (const block of turn.content) last.content.push(block);
}

function turnOf(message: ChatMessage, reading: Reading): Turn {
  if (message.role === "assistant") return { role: "assistant", content: assistantBlocks(message, reading) };
  return { role: "user", content: message.role === "tool" ? [toolResult(message, reading.ids)] : spokenBlocks(message) };
}

/** The texts and then the calls, or, if the calls' ids carry thoughts, all blocks in the order of the answer. */
function assistantBlocks(message: ChatMessage, { signer, ids, args, thoughts: reader }: Reading): JsonObject[] {
  const calls = asArray(message["tool_calls"]).map((value) => {
    const call = asObject(value) ?? {};
    const { id, pieces } = reader.read(asText(call["id"]) ?? "");
    const { name, arguments: text } = asObject(call["function"]) ?? {};
    return { use: { type: "tool_use", id: ids.ofCall(id), name, input: args.read(asText(text) ?? "") ?? {} }, pieces };
  });
  const own = sealedThoughts(message, signer);
  const uses = calls.map(({ use }) => use);
  if (own.size > 0) return withThoughtsApart(spokenBlocks(message), uses, own);
  const pieces = calls.flatMap((call) => call.pieces);
  if (pieces.length === 0) return [...spokenBlocks(message), ...uses];
  const texts = new Cutter(oneText(message), pieces, "text");
  const thoughts = new Cutter(asText(message["reasoning_content"]), pieces, "thinking");
  return calls.flatMap((call, index) => {
    const before = call.pieces.map((piece) => blockOf(piece, piece.kind === "text" ? texts.next(piece) : thoughts.next(piece)));
    // The place of a text is unknown if the client has changed it: it goes before the first call.
    const moved = index === 0 && !texts.isWhole ? spokenBlocks(message) : [];
    return [...before.filter((block) => block !== null), ...moved, call.use];
  });
}

/** A thought that no text and no call follows is left out: the API refuses one as the last block. */
function withThoughtsApart(
  spoken: readonly JsonObject[],
  uses: readonly JsonObject[],
  thoughts: ReadonlyMap<number, readonly Thought[]>,
): JsonObject[] {
  const before = (call: number): JsonObject[] => (thoughts.get(call) ?? []).map(thoughtBlock);
  if (uses.length === 0) return spoken.length === 0 ? [] : [...before(0), ...spoken];
  return uses.flatMap((use, index) => [...before(index), ...(index === 0 ? spoken : []), use]);
}

/** As the client gave it back, with its seal unwrapped. */
export function thoughtBlock({ text, seal, redacted }: Pick<Thought, "text" | "seal" | "redacted">): JsonObject {
  return redacted ? { type: "redacted_thinking", data: seal } : { type: "thinking", thinking: text, signature: seal };
}

function spokenBlocks(message: ChatMessage): TextBlock[] {
  const refusal = asText(message["refusal"]) ?? "";
  return named(message, [...textsOf(message.content), { type: "text", text: refusal }]);
}

/** Splits a message's text into its blocks' texts. A text of another length is not the one that the model wrote. */
class Cutter {
  /** The text is that of the blocks. */
  readonly isWhole: boolean;
  readonly #text: string;
  #at = 0;

  constructor(text: string | null, pieces: readonly Piece[], kind: "text" | "thinking") {
    const length = pieces.reduce((sum, piece) => sum + (piece.kind === kind ? piece.characters : 0), 0);
    this.#text = text ?? "";
    this.isWhole = text !== null && text.length === length;
  }

  /** The next block's text; empty if the text is not whole. */
  next(piece: Piece): string {
    if (!this.isWhole || piece.kind === "redacted") return "";
    const from = this.#at;
    this.#at += piece.characters;
    return this.#text.slice(from, this.#at);
  }
}

/** What the model wrote; null if the client has put it into parts, or has added to it. */
function oneText({ content, refusal }: ChatMessage): string | null {
  return refusal ? null : asText(content ?? "");
}

/** A thought whose text did not come back is sent without it. */
function blockOf(piece: Piece, text: string): JsonObject | null {
  switch (piece.kind) {
    case "text":
      return saysSomething(text) ? { type: "text", text } : null;
    case "thinking":
      return { type: "thinking", thinking: text, signature: piece.signature };
    case "redacted":
      return { type: "redacted_thinking", data: piece.data };
  }
}

/** A result is one block; a breakpoint on any of its parts caches the whole block. */
function toolResult(message: ChatMessage, ids: CallIds): JsonObject {
  const parts = textsOf(message.content);
  const content = parts.map(({ text }) => text).join("");
  const cached = parts.find(({ cache_control }) => cache_control !== undefined);
  return {
    type: "tool_result",
    tool_use_id: ids.ofResult(readToolCallId(asText(message["tool_call_id"]) ?? "").id),
    ...(saysSomething(content) && { content }),
    ...(message[apart]?.isError && { is_error: true }),
    ...(cached && { cache_control: cached.cache_control }),
  };
}

function userSays(text: string): Turn {
  return { role: "user", content: [{ type: "text", text }] };
}

function endInText(turn: Turn | undefined): void {
  const last = turn?.role === "assistant" ? turn.content.at(-1) : undefined;
  const text = asText(last?.["text"]);
  if (last && text !== null) last["text"] = text.trimEnd();
}

/** The ids of a conversation's calls in the form that the API accepts. */
export function turnIds(): CallIds {
  return new CallIds(wireId);
}

/** Base64 is a third longer, which is more than is reserved for a long id. */
const encodedCharactersMax = 64;

/** Only certain characters. The same id always maps to the same replacement, so that the provider finds a prompt in its cache. */
function wireId(id: string): string {
  if (/^[a-zA-Z0-9_-]+$/.test(id)) return id;
  const encoded = Buffer.from(id).toString("base64url");
  return `id_${encoded.length <= encodedCharactersMax ? encoded : hash("sha256", id, "base64url")}`;
}
