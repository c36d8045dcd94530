/** A document in place of a stream's events: a whole answer, an error, a list of chunks, the page of a proxy. */
import { upstreamAnswerBytesMax, upstreamEventBytesMax } from "../../limits.ts";
import { OversizedAnswer, UpstreamFailure, type ProviderEvent, type WholeAnswer } from "../provider.ts";
import { asArray, asObject, parseJson, writtenJson, type JsonObject } from "../wire/json.ts";
import { openBracket } from "../../../http/json-bytes.ts";
import type { EventSequence } from "./event-sequence.ts";
import { GatheredBytes } from "./gathered-bytes.ts";

/** White space and the bytes of a byte order mark. */
const blank: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf]);
/** `{`, `[`, `<` and `"`, with which no line of an event stream begins. */
const openings: ReadonlySet<number> = new Set([0x7b, openBracket, 0x3c, 0x22]);

/** Whether a body that begins like this is a document; null: that is not known yet. */
export function beginsDocument(bytes: Uint8Array): boolean | null {
  for (const byte of bytes) if (!blank.has(byte)) return openings.has(byte);
  return null;
}

export class StreamDocument {
  readonly #read = new GatheredBytes();
  readonly #bytesMax: number;

  /** @param begins its first bytes, which `beginsDocument` knows. All chunks of a list are decoded in one turn, like an event. */
  constructor(begins: Uint8Array) {
    this.#bytesMax = begins.find((byte) => !blank.has(byte)) === openBracket ? upstreamEventBytesMax : upstreamAnswerBytesMax;
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
    if (!Array.isArray(body)) return void events.push(...eventsOf(decodeAnswer(body)));
    for (const chunk of body) if (sequence.take(writtenJson(chunk), events)) return;
    sequence.end(events);
  }
}

/** The answer as one delta. */
function eventsOf({ message, finishReason, logprobs, usage }: WholeAnswer): ProviderEvent[] {
  const delta: JsonObject = {};
  for (const [name, value] of Object.entries(message)) if (value !== null && name !== "role") delta[name] = value;
  const calls = asArray(message["tool_calls"]);
  if (calls.length > 0) delta["tool_calls"] = calls.map((call, index) => ({ index, ...asObject(call) }));
  const told = asObject(logprobs);
  return [
    { kind: "delta", delta, finishReason, ...(told !== null && { logprobs: told }) },
    ...(usage === null ? [] : [{ kind: "usage" as const, usage }]),
    { kind: "end" },
  ];
}
