/**
 * Turns the blocks of an answer into the items of a response, and writes the events of each. A thought is a reasoning item, consecutive text
 * and refusal are one message, and a call is an item of the kind of the client's own tool.
 * One item is open at a time. Its id is made of the generation's id and its place, so a whole answer and a stream have the same items. An
 * item that is done is kept as text, since the last event repeats it.
 * The model may know a custom tool, or the search for tools, as a function. Such a call is sent whole at its end, when its arguments can be
 * read.
 */
import type { AnswerBlock, BlockReceiver } from "../answer/block-sequence.ts";
import type { Logprobs } from "../answer/answer.ts";
import { asText, ToolArguments, WholeObject } from "../../providers/wire/json.ts";
import { packedThought } from "../../thoughts.ts";
import { idEnd, type TextLogprob, type TextPart } from "./answer.ts";
import type { CalledTool, ToolNames } from "./tools.ts";

/** Writes one event. */
type WriteEvent = (type: string, fields: Record<string, unknown>) => void;

interface ItemFacts {
  /** The generation's id. */
  id: string;
  signer: string;
  names: ToolNames;
}

type CallBlock = Extract<AnswerBlock, { kind: "call" }>;

interface OpenCall {
  id: string;
  called: CalledTool;
  /** The model writes arguments, but the client's tool takes a text or an object: they are read once they are whole. */
  isBuffered: boolean;
}

/** Roughly the characters that a token's probabilities take. They are kept until the end. */
const logprobCharacters = 100;

/** Turns blocks into items, and writes the events of each. */
export class OutputItems implements BlockReceiver {
  /** The items that are done, as JSON. */
  readonly done: string[] = [];
  /** The answer ends within the open item. */
  isCut = false;
  /** The model wrote a refusal. */
  refused = false;
  readonly #facts: ItemFacts;
  readonly #write: WriteEvent;
  /** The open item's. */
  #id = "";
  /** null: no message is open. */
  #parts: TextPart[] | null = null;
  #call: OpenCall | null = null;
  /** They belong to the next piece of text. */
  #logprobs: TextLogprob[] = [];
  /** Those of the open part. */
  #partLogprobs: TextLogprob[] = [];
  #held = 0;

  constructor(facts: ItemFacts, write: WriteEvent) {
    this.#facts = facts;
    this.#write = write;
  }

  /** Characters that are kept besides the blocks. */
  get held(): number {
    return this.#held;
  }

  addLogprobs(logprobs: Logprobs | null): void {
    for (const one of [...(logprobs?.content ?? []), ...(logprobs?.refusal ?? [])]) {
      const { top_logprobs: others, ...token } = one;
      this.#logprobs.push({ ...withBytes(token), top_logprobs: others.map(withBytes) });
      this.#held += logprobCharacters * (1 + others.length);
    }
  }

  opened(block: AnswerBlock): void {
    if (block.kind === "text" || block.kind === "refusal") return this.#openPart(block.kind);
    this.end();
    if (block.kind === "call") return this.#openCall(block);
    this.#add("rs", { type: "reasoning", summary: [] });
  }

  more(block: AnswerBlock, _index: number, text: string): void {
    if (block.kind === "call") this.#moreOfCall(text);
    else if (block.kind === "thinking") this.#moreOfThought(block, text);
    else this.#moreOfPart(block.kind, text);
  }

  closed(block: AnswerBlock): void {
    if (block.kind === "call") this.#closeCall(block);
    else if (block.kind === "thinking") this.#closeThought(block);
    else this.#closePart(block.kind, block.text);
  }

  /** Ends a message that is open. */
  end(): void {
    if (this.#parts === null) return;
    const content = this.#parts;
    this.#parts = null;
    this.#finish({ type: "message", status: this.isCut ? "incomplete" : "completed", role: "assistant", content });
  }

  /** The place of the open item. */
  get #index(): number {
    return this.done.length;
  }

  #add(prefix: string, item: Record<string, unknown>): void {
    this.#id = `${prefix}_${idEnd(this.#facts.id)}_${this.#index}`;
    this.#write("response.output_item.added", { output_index: this.#index, item: { id: this.#id, ...item } });
  }

  #finish(item: Record<string, unknown>): void {
    const whole = { id: this.#id, ...item };
    this.#write("response.output_item.done", { output_index: this.#index, item: whole });
    this.done.push(JSON.stringify(whole));
  }

  /** An event of the open item. */
  #of(type: string, fields: Record<string, unknown>): void {
    this.#write(`response.${type}`, { item_id: this.#id, output_index: this.#index, ...fields });
  }

  // Parts of a message

  #openPart(kind: "text" | "refusal"): void {
    if (this.#parts === null) {
      this.#add("msg", { type: "message", status: "in_progress", role: "assistant", content: [] });
      this.#parts = [];
    }
    this.#partLogprobs = [];
    this.refused ||= kind === "refusal";
    this.#ofPart("content_part.added", { part: partOf(kind, "", []) });
  }

  #moreOfPart(kind: "text" | "refusal", delta: string): void {
    if (kind === "refusal") return this.#ofPart("refusal.delta", { delta });
    const logprobs = this.#logprobs;
    this.#logprobs = [];
    for (const one of logprobs) this.#partLogprobs.push(one);
    this.#ofPart("output_text.delta", { delta, logprobs });
  }

  #closePart(kind: "text" | "refusal", text: string): void {
    const logprobs = this.#partLogprobs;
    const part = partOf(kind, text, logprobs);
    if (kind === "text") this.#ofPart("output_text.done", { text, logprobs });
    else this.#ofPart("refusal.done", { refusal: text });
    this.#ofPart("content_part.done", { part });
    this.#parts?.push(part);
  }

  #ofPart(type: string, fields: Record<string, unknown>): void {
    this.#of(type, { content_index: this.#parts?.length ?? 0, ...fields });
  }

  // Thoughts

  #moreOfThought({ text }: AnswerBlock, delta: string): void {
    // The block has its text already.
    if (text.length === delta.length) this.#of("reasoning_summary_part.added", { summary_index: 0, part: summaryOf("") });
    this.#of("reasoning_summary_text.delta", { summary_index: 0, delta });
  }

  #closeThought({ text, seal, redacted }: Extract<AnswerBlock, { kind: "thinking" }>): void {
    if (text !== "") {
      this.#of("reasoning_summary_text.done", { summary_index: 0, text });
      this.#of("reasoning_summary_part.done", { summary_index: 0, part: summaryOf(text) });
    }
    const { signer } = this.#facts;
    const encrypted_content = packedThought({ signer, text, seal, ...(redacted && { redacted }) });
    this.#held += encrypted_content.length;
    this.#finish({ type: "reasoning", summary: text === "" ? [] : [summaryOf(text)], encrypted_content });
  }

  // Calls

  #openCall({ name, custom, id }: CallBlock): void {
    const called = this.#facts.names.get(name) ?? { kind: custom ? "custom" : "function", name };
    const kind = custom ? "custom" : called.kind;
    this.#call = { id, called: { ...called, kind }, isBuffered: kind === "search" || (kind === "custom" && !custom) };
    const empty = kind === "search" ? {} : "";
    this.#add(callPrefixes[kind], this.#callItem(this.#call, "in_progress", empty));
  }

  #moreOfCall(delta: string): void {
    if (this.#call === null || this.#call.isBuffered) return;
    this.#of(this.#call.called.kind === "custom" ? "custom_tool_call_input.delta" : "function_call_arguments.delta", { delta });
  }

  #closeCall({ text, custom }: CallBlock): void {
    const call = this.#call;
    if (call === null) return;
    this.#call = null;
    const { kind, name } = call.called;
    const status = this.isCut && (custom || !isObject(text)) ? "incomplete" : "completed";
    if (kind === "function") {
      this.#of("function_call_arguments.done", { name, arguments: text });
      return this.#finish(this.#callItem(call, status, text));
    }
    if (kind === "search") return this.#finish(this.#callItem(call, status, searchArguments(text)));
    const input = call.isBuffered ? inputOf(text) : text;
    if (call.isBuffered && input !== "") this.#of("custom_tool_call_input.delta", { delta: input });
    this.#of("custom_tool_call_input.done", { input });
    this.#finish(this.#callItem(call, status, input));
  }

  #callItem({ id, called }: OpenCall, status: string, value: unknown): Record<string, unknown> {
    const { kind, name, namespace } = called;
    const callId = id === "" ? this.#id : id;
    const common = { status, call_id: callId };
    if (kind === "search") return { type: "tool_search_call", ...common, execution: "client", arguments: value };
    const named = { ...common, name, ...(namespace !== undefined && { namespace }) };
    return kind === "custom"
      ? { type: "custom_tool_call", ...named, input: value }
      : { type: "function_call", ...named, arguments: value };
  }
}

const callPrefixes = { function: "fc", custom: "ctc", search: "tsc" } as const;

function partOf(kind: "text" | "refusal", text: string, logprobs: TextLogprob[]): TextPart {
  return kind === "text" ? { type: "output_text", text, annotations: [], logprobs } : { type: "refusal", refusal: text };
}

function summaryOf(text: string): { type: "summary_text"; text: string } {
  return { type: "summary_text", text };
}

function withBytes<Token extends { bytes: number[] | null }>(token: Token): Token & { bytes: number[] } {
  return { ...token, bytes: token.bytes ?? [] };
}

function isObject(text: string): boolean {
  const written = new WholeObject();
  written.feed(text);
  return written.closed;
}

/** The input of a custom tool that the model called as a function; all of it if it has another form. */
function inputOf(text: string): string {
  return asText(new ToolArguments().read(text)?.["input"]) ?? text;
}

function searchArguments(text: string): unknown {
  return new ToolArguments().read(text) ?? { invalid_arguments: text };
}
