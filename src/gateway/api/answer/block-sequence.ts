/**
 * Turns an answer into the blocks of Messages and Responses: one open at a time, numbered from 0 without gaps, none empty.
 * Providers may write several calls at once, or continue a call after a text. While the open call is unfinished, only its own pieces are
 * written, and everything else waits in order. A function call is finished once its arguments are a complete JSON value. The text of a
 * custom tool has no such mark, so its call lasts until the end. Calls that come in order, as nearly all do, are written as they come.
 * Each piece is handled once, however many wait. A receiver that keeps what it gets must bound it: `held` says how much that is.
 */
import type { ThoughtEvent, WholeAnswer } from "../../providers/provider.ts";
import { asArray, asObject, asText, WholeObject, type JsonObject } from "../../providers/wire/json.ts";

export type AnswerBlock =
  | { kind: "text" | "refusal"; text: string }
  /** `seal` is known when the block closes; see `Thought`. */
  | { kind: "thinking"; text: string; seal: string; redacted: boolean }
  /** `text`: arguments of a function, or input of a custom tool. */
  | { kind: "call"; id: string; name: string; custom: boolean; text: string };

export interface BlockReceiver {
  /** A block begins. It may be a redacted thought, which gets no text. */
  opened(block: AnswerBlock, index: number): void;
  /** @param text more of the block's text, never empty */
  more(block: AnswerBlock, index: number, text: string): void;
  /** The block is whole. Its text is in it if the sequence keeps texts. */
  closed(block: AnswerBlock, index: number): void;
}

/** What is written at once, or waits. What follows it there and is of the same text or call is joined to it. */
type Part = TextPart | { kind: "seal"; seal: string; redacted: boolean } | CallPart;

interface TextPart {
  kind: "text" | "refusal" | "thinking";
  text: string;
}

interface CallPart {
  kind: "call";
  /** The provider's index, or whatever names the call. */
  key: unknown;
  id: string;
  name: string;
  custom: boolean;
  text: string;
}

interface Open {
  block: AnswerBlock;
  /** null: the block is no call. */
  call: CallPart | null;
  written: WholeObject;
}

/** What a part or a block counts in addition to its text, since a provider could send many empty ones. */
const partCharacters = 64;
/** How many written parts are forgotten at once. One by one, the rest would be moved each time. */
const forgottenParts = 1_024;

export class BlockSequence {
  readonly #receiver: BlockReceiver;
  readonly #keepsTexts: boolean;
  #open: Open | null = null;
  #index = -1;
  /** Parts wait only while an open call is unfinished. */
  #waiting: Part[] = [];
  /** So many of them are written. */
  #written = 0;
  /** The calls that are open or wait, by the only mark that their next pieces have. */
  readonly #calls = new Map<unknown, CallPart>();
  #held = 0;
  #calledTools = false;
  #ended = false;

  /** @param options `keepsTexts`: whether a closed block has its text */
  constructor(receiver: BlockReceiver, { keepsTexts }: { keepsTexts: boolean }) {
    this.#receiver = receiver;
    this.#keepsTexts = keepsTexts;
  }

  /** Some call has begun. */
  get calledTools(): boolean {
    return this.#calledTools;
  }

  /** Characters of what waits and, if texts are kept, of all blocks. */
  get held(): number {
    return this.#held;
  }

  /** @param delta in the form of a chat completion's. Its parts are taken in the order of a whole message */
  delta(delta: Record<string, unknown>): void {
    this.#takeText("thinking", delta["reasoning_content"]);
    this.#takeText("text", delta["content"]);
    this.#takeText("refusal", delta["refusal"]);
    for (const call of asArray(delta["tool_calls"])) this.#takeCall(asObject(call) ?? {});
    const called = asObject(delta["function_call"]);
    if (called !== null) this.#takeCall({ index: "function_call", function: called });
  }

  /** Seals the thinking before it. A redacted thought, and a seal without thinking before it, are blocks of their own. */
  thought({ seal, redacted }: Pick<ThoughtEvent, "seal" | "redacted">): void {
    this.#take({ kind: "seal", seal, redacted });
  }

  /** The answer has ended: closes the open block and writes what waits. What comes later is left out. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#writeWaiting();
    this.#close();
  }

  #takeText(kind: TextPart["kind"], value: unknown): void {
    const text = asText(value);
    if (text) this.#take({ kind, text });
  }

  #takeCall({ index: key, id: given, type, function: called, custom: customCall }: JsonObject): void {
    const custom = type === "custom" || asObject(customCall) !== null;
    const fields = asObject(customCall) ?? asObject(called) ?? {};
    const text = asText(fields["arguments"]) ?? asText(fields["input"]) ?? "";
    const id = asText(given) ?? "";
    const name = asText(fields["name"]) ?? "";
    const known = this.#calls.get(key);
    // Only the first piece of a call has an id; on old servers it has a name at most.
    if (known !== undefined && id === "") this.#continue(known, text);
    else if (id !== "" || name !== "") this.#take({ kind: "call", key, id, name, custom, text });
  }

  /** More of a call that is open or waits. */
  #continue(call: CallPart, text: string): void {
    if (this.#ended) return;
    if (this.#open?.call === call) {
      this.#more(text);
      this.#writeWaiting();
    } else {
      call.text += text;
      this.#held += text.length;
    }
  }

  #take(part: Part): void {
    if (this.#ended) return;
    if (part.kind === "call") {
      this.#calledTools = true;
      this.#calls.set(part.key, part);
    }
    if (this.#isBlocked) this.#wait(part);
    else this.#write(part);
  }

  /** The open block is an unfinished call, and more may come. */
  get #isBlocked(): boolean {
    const { call = null, written } = this.#open ?? {};
    return !this.#ended && call !== null && (call.custom || !written?.closed);
  }

  #wait(part: Part): void {
    const last = this.#waiting.at(-1);
    if (isText(part) && last?.kind === part.kind) {
      last.text += part.text;
      this.#held += part.text.length;
    } else {
      this.#waiting.push(part);
      this.#held += sizeOf(part);
    }
  }

  #writeWaiting(): void {
    while (this.#written < this.#waiting.length && !this.#isBlocked) {
      const part = this.#waiting[this.#written++] as Part;
      this.#held -= sizeOf(part);
      this.#write(part);
    }
    const isDone = this.#written === this.#waiting.length;
    if (!isDone && (this.#written < forgottenParts || this.#written * 2 < this.#waiting.length)) return;
    this.#waiting = this.#waiting.slice(this.#written);
    this.#written = 0;
  }

  #write(part: Part): void {
    if (part.kind === "seal") return this.#seal(part);
    const { kind, text } = part;
    if (kind === "call") {
      const { id, name, custom } = part;
      this.#begin({ kind, id, name, custom, text: "" }, part);
    } else if (this.#open?.block.kind !== kind) {
      this.#begin(kind === "thinking" ? { kind, text: "", seal: "", redacted: false } : { kind, text: "" }, null);
    }
    this.#more(text);
  }

  #seal({ seal, redacted }: Pick<ThoughtEvent, "seal" | "redacted">): void {
    const block = this.#open?.block;
    if (block?.kind === "thinking" && !redacted) block.seal = seal;
    else if (seal === "") return;
    else this.#begin({ kind: "thinking", text: "", seal, redacted }, null);
    if (this.#keepsTexts) this.#held += seal.length;
    this.#close();
  }

  #begin(block: AnswerBlock, call: CallPart | null): void {
    this.#close();
    this.#open = { block, call, written: new WholeObject() };
    if (this.#keepsTexts) this.#held += partCharacters;
    this.#receiver.opened(block, ++this.#index);
  }

  #more(text: string): void {
    if (this.#open === null || text === "") return;
    const { block, call, written } = this.#open;
    if (call !== null && !call.custom) written.feed(text);
    if (this.#keepsTexts) {
      block.text += text;
      this.#held += text.length;
    }
    this.#receiver.more(block, this.#index, text);
  }

  #close(): void {
    if (this.#open === null) return;
    const { block, call } = this.#open;
    this.#open = null;
    if (call !== null && this.#calls.get(call.key) === call) this.#calls.delete(call.key);
    this.#receiver.closed(block, this.#index);
  }
}

/** The blocks of a whole answer in the model's order, or else as a message has them: reasoning, text, refusal, calls. */
export function answerBlocks({ message, pieces }: Pick<WholeAnswer, "message" | "pieces">): AnswerBlock[] {
  const blocks: AnswerBlock[] = [];
  const sequence = new BlockSequence(
    { opened() {}, more() {}, closed: (block) => void blocks.push(block) },
    { keepsTexts: true },
  );
  for (const piece of pieces ?? []) {
    if (piece.kind === "thought") sequence.thought(piece);
    else sequence.delta(piece.delta);
  }
  if (pieces === undefined) {
    const calls = asArray(message["tool_calls"]).map((call, index) => ({ ...asObject(call), index }));
    sequence.delta({ ...message, tool_calls: calls });
  }
  sequence.end();
  return blocks;
}

function isText(part: Part): part is TextPart {
  return part.kind !== "seal" && part.kind !== "call";
}

function sizeOf(part: Part): number {
  return partCharacters + (part.kind === "seal" ? part.seal : part.text).length;
}
