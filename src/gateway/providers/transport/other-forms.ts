/**
 * Answers in the other form: a stream where a whole answer was due is assembled, and a document (a whole answer, an error, a list of
 * chunks, the page of a proxy) where a stream was due becomes its events. Some servers ignore `stream`, and some report errors this way.
 * Other calls get their turns while a large answer is decoded.
 */
import { Buffer } from "node:buffer";
import { openBracket } from "../../../http/json.ts";
import { upstreamAnswerBytesMax, upstreamEventBytesMax } from "../../limits.ts";
import type { ReportedUsage } from "../../models/model.ts";
import {
  type AnswerPiece,
  type AnswerWants,
  type ProviderEvent,
  type WholeAnswer,
  OversizedAnswer,
  UpstreamFailure,
} from "../provider.ts";
import { finalEnding, strongerEnding, type Ending, blank, joinPiece } from "../wire/answers.ts";
import { asArray, asText, asObject, parseJson, writtenJson, type JsonObject } from "../wire/json.ts";
import { EventSequence, EventParser } from "./events.ts";
import { GatheredBytes } from "../../../http/body.ts";

/** Whether a text begins like an event stream: with a comment or a field. JSON begins otherwise. */
export function beginsEvents(text: string): boolean {
  return /^\s*(data|event|id|retry)?:/.test(text);
}

/**
 * Assembles a whole answer from a stream that came in its place. Other calls have their turns meanwhile.
 * @param text the whole body
 * @param decode a new decoder
 * @param wants the call's
 * @throws UpstreamFailure when the stream fails or breaks off
 */
export async function assembledAnswer(
  text: string,
  decode: (data: string) => ProviderEvent[],
  wants?: AnswerWants,
): Promise<WholeAnswer> {
  const parts = new AnswerAssembly(wants);
  for await (const events of eventsIn(text, decode)) for (const event of events) parts.add(event);
  return parts.whole();
}

/** Assembles a whole answer from the events of a stream. */
export class AnswerAssembly {
  readonly #message = blank();
  readonly #logprobs = blank();
  /** null: the caller wants no thoughts, and the message says all. */
  readonly #pieces: AnswerPiece[] | null;
  #ending: Ending | null = null;
  #usage: ReportedUsage | null = null;
  #isWhole = false;

  constructor(wants: AnswerWants | undefined) {
    this.#pieces = wants ? [] : null;
  }

  /** @throws UpstreamFailure of a stream that fails before it is whole */
  add(event: ProviderEvent): void {
    // A finished answer is whole, as in a stream, unless a call continues after its finish reason.
    if (event.kind === "failure" && !this.#isWhole) throw event.failure;
    if (event.kind === "usage") this.#usage = event.usage;
    if (event.kind === "delta" || event.kind === "thought") this.#takePiece(event);
    if (event.kind !== "delta") return;
    const { delta, logprobs, finishReason } = event;
    joinPiece(this.#message, delta);
    joinPiece(this.#logprobs, { logprobs });
    this.#ending = strongerEnding(this.#ending, event);
    this.#isWhole = finishReason !== null || (this.#isWhole && !("tool_calls" in delta || "function_call" in delta));
  }

  whole(): WholeAnswer {
    const { role: _role, content, ...fields } = this.#message;
    const calledTools = asArray(fields["tool_calls"]).length > 0;
    const { reason, stop } = finalEnding(this.#ending, calledTools);
    return {
      message: { refusal: null, ...fields, role: "assistant", content: asText(content) || (calledTools ? null : "") },
      finishReason: reason,
      logprobs: this.#logprobs["logprobs"] ?? null,
      usage: this.#usage,
      ...(stop !== null && { stop }),
      ...(this.#pieces && { pieces: this.#pieces }),
    };
  }

  /** What goes on with the text or the call of the piece before joins it: a kept answer has few pieces, however its stream was cut. */
  #takePiece(piece: AnswerPiece): void {
    if (this.#pieces === null) return;
    const joint = joinedPiece(this.#pieces.at(-1), piece);
    if (joint === null) this.#pieces.push(piece);
    else this.#pieces[this.#pieces.length - 1] = joint;
  }
}

const textFields: ReadonlySet<string> = new Set(["content", "refusal", "reasoning_content"]);

/** Two pieces of one text, or of one call, as one; null: they are not, or say more than that. */
function joinedPiece(last: AnswerPiece | undefined, next: AnswerPiece): AnswerPiece | null {
  const before = onlyField(last);
  const [name, more] = onlyField(next) ?? ["", null];
  if (before?.[0] !== name) return null;
  const value = textFields.has(name) ? joinedText(before[1], more) : joinedCall(before[1], more);
  return value === null ? null : { kind: "delta", delta: { [name]: value }, finishReason: null };
}

/** The name and the value of a delta that has one field, and nothing besides. */
function onlyField(piece: AnswerPiece | undefined): [name: string, value: unknown] | null {
  if (piece?.kind !== "delta" || piece.finishReason !== null || piece.logprobs !== undefined) return null;
  const [field, ...others] = Object.entries(piece.delta);
  return field !== undefined && others.length === 0 ? field : null;
}

function joinedText(text: unknown, more: unknown): string | null {
  return typeof text === "string" && typeof more === "string" ? text + more : null;
}

/** @param more of the same call has its index and a text, but no id and no name */
function joinedCall(calls: unknown, more: unknown): JsonObject[] | null {
  const [[call, ...others], [next, ...further]] = [asArray(calls).map(asObject), asArray(more).map(asObject)];
  if (!call || !next || others.length + further.length > 0 || call["index"] !== next["index"]) return null;
  const { index: _index, ...rest } = next;
  for (const [kind, field] of callTexts) {
    const [own, added] = [asObject(call[kind]), asObject(rest[kind])];
    if (own === null || added === null || Object.keys(rest).length > 1 || Object.keys(added).length > 1) continue;
    const text = joinedText(own[field] ?? "", added[field]);
    if (text !== null) return [{ ...call, [kind]: { ...own, [field]: text } }];
  }
  return null;
}

const callTexts = [
  ["function", "arguments"],
  ["custom", "input"],
] as const;

/** White space and the bytes of a byte order mark. */
const blankBytes: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf]);
/** `{`, `[`, `<` and `"`, with which no line of an event stream begins. */
const openings: ReadonlySet<number> = new Set([0x7b, openBracket, 0x3c, 0x22]);

/** Whether a body that begins like this is a document; null: that is not known yet. */
export function beginsDocument(bytes: Uint8Array): boolean | null {
  for (const byte of bytes) if (!blankBytes.has(byte)) return openings.has(byte);
  return null;
}

/** A document in place of a stream's events. */
export class StreamDocument {
  readonly #read = new GatheredBytes();
  readonly #bytesMax: number;

  /** @param begins its first bytes, which `beginsDocument` knows. All chunks of a list are decoded in one turn, like an event. */
  constructor(begins: Uint8Array) {
    this.#bytesMax =
      begins.find((byte) => !blankBytes.has(byte)) === openBracket ? upstreamEventBytesMax : upstreamAnswerBytesMax;
  }

  /** @throws OversizedAnswer */
  add(bytes: Uint8Array): void {
    if (this.#read.length + bytes.length > this.#bytesMax)
      throw new OversizedAnswer(`the answer is larger than ${this.#bytesMax} bytes`);
    this.#read.add(bytes);
  }

  /**
   * Appends the events of the document, at its end: a list has one chunk after another, anything else is a whole answer.
   * @throws UpstreamFailure when it holds no answer
   */
  end(events: ProviderEvent[], sequence: EventSequence, decodeAnswer: (body: unknown) => WholeAnswer): void {
    const body = parseJson(new TextDecoder().decode(this.#read.take()));
    if (body === undefined) throw new UpstreamFailure("upstream_error", "the answer is not JSON");
    if (!Array.isArray(body)) return void events.push(...answerEvents(decodeAnswer(body)));
    for (const chunk of body) if (sequence.take(writtenJson(chunk), events)) return;
    sequence.end(events);
  }
}

/** How much is decoded before other calls have their turn. */
const bytesATurn = 256 * 1024;

/** The events of one turn after those of another. */
async function* eventsIn(text: string, decode: (data: string) => ProviderEvent[]): AsyncGenerator<ProviderEvent[]> {
  const bytes = Buffer.from(text);
  const parser = new EventParser(bytes.length + 1);
  const sequence = new EventSequence(decode);
  for (let at = 0; at < bytes.length; at += bytesATurn) {
    const events: ProviderEvent[] = [];
    const isOver = parser.feed(bytes.subarray(at, at + bytesATurn)).some((data) => sequence.take(data, events));
    yield events;
    if (isOver) return;
    if (at + bytesATurn < bytes.length) await new Promise((resolve) => void setImmediate(resolve));
  }
  const events: ProviderEvent[] = [];
  if (!parser.end().some((data) => sequence.take(data, events))) sequence.end(events);
  yield events;
}

/** The pieces of the answer in the model's order, or else the answer as one delta. */
export function answerEvents({ message, finishReason, logprobs, usage, stop, pieces }: WholeAnswer): ProviderEvent[] {
  const delta: JsonObject = {};
  const told = asObject(logprobs);
  if (pieces === undefined) {
    for (const [name, value] of Object.entries(message)) if (value !== null && name !== "role") delta[name] = value;
    const calls = asArray(message["tool_calls"]);
    if (calls.length > 0) delta["tool_calls"] = calls.map((call, index) => ({ index, ...asObject(call) }));
  }
  return [
    ...(pieces ?? []),
    { kind: "delta", delta, finishReason, ...(told !== null && { logprobs: told }), ...(stop && { stop }) },
    ...(usage === null ? [] : [{ kind: "usage" as const, usage }]),
    { kind: "end" },
  ];
}
