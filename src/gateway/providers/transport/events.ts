/**
 * The events of a provider's stream: from bytes to the data of server-sent events, and from these to their valid sequence. The parser takes
 * bytes in whatever pieces they arrive, with a bound on an event. It is written by hand because it finds lines in bytes and decodes only
 * the data, and because each search continues where the last one stopped: a stream of single bytes costs no more than one of large pieces.
 * The sequence knows when nothing more of the answer will come. A finish reason is enough for an end, since not every provider marks it,
 * except within a tool call that continued after it: the body of such a stream may end in the middle of the call's arguments.
 */
import { Buffer } from "node:buffer";
import { GatheredBytes } from "../../../http/body.ts";
import { upstreamEventBytesMax, callGraceMs, finishGraceMs, streamTailMs } from "../../limits.ts";
import { UpstreamFailure, type DeltaEvent, type FinishReason, type ProviderEvent } from "../provider.ts";
import { asObject, parseJson, writtenJson, asArray, asText, WholeObject } from "../wire/json.ts";

/** An event that exceeds the bound. */
export class EventTooLargeError extends Error {
  override name = "EventTooLargeError";
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const colon = 0x3a;
const byteOrderMark = Uint8Array.of(0xef, 0xbb, 0xbf);
const dataField = new TextEncoder().encode("data");
const eventField = new TextEncoder().encode("event");
const twoLineEnds = new TextEncoder().encode("\n\n");

/**
 * Follows https://html.spec.whatwg.org/multipage/server-sent-events.html: any line end, comments, several data lines, a byte
 * order mark, characters split between chunks; invalid UTF-8 becomes U+FFFD. Ids, retry times and event names are ignored, except the
 * name `error`, whose event arrives as `{"error": …}`. Unlike the standard, an event that the clean end of the stream cuts off counts.
 */
export class EventParser {
  readonly #bytesMax: number;
  /** The start of a line whose end has not arrived. */
  readonly #begun = new GatheredBytes();
  /** The data of the event so far; null if it has none. */
  #data: string | null = null;
  /** The event so far is named `error`. */
  #failed = false;
  /** Bytes of the event's data so far, without those of the unfinished line. */
  #bytes = 0;
  #firstLine = true;
  /** The last line ended with a carriage return, so a following line feed belongs to it. */
  #returned = false;

  constructor(bytesMax: number = upstreamEventBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Returns the data of the events that these bytes complete. @throws EventTooLargeError */
  feed(chunk: Uint8Array): string[] {
    const bytes = asBuffer(chunk);
    const events: string[] = [];
    let start = this.#returned && bytes[0] === lineFeed ? 1 : 0;
    // Each search continues where it stopped, since a stream may have only one kind of line end.
    let feed = next(bytes, lineFeed, start);
    let carriage = next(bytes, carriageReturn, start);
    for (let end = Math.min(feed, carriage); end !== Infinity; end = Math.min(feed, carriage)) {
      this.#endLine(bytes, start, end, events);
      start = end === carriage && bytes[end + 1] === lineFeed ? end + 2 : end + 1;
      if (feed < start) feed = next(bytes, lineFeed, start);
      if (carriage < start) carriage = next(bytes, carriageReturn, start);
    }
    if (bytes.length > 0) this.#returned = bytes[bytes.length - 1] === carriageReturn;
    if (start < bytes.length) this.#begun.add(bytes.subarray(start));
    if (this.#bytes + this.#begun.length > this.#bytesMax)
      throw new EventTooLargeError(`Cannot read an event of more than ${this.#bytesMax} bytes`);
    return events;
  }

  /** Returns the data of a last event that lacked its empty line. Called at the end of the stream. */
  end(): string[] {
    return this.feed(twoLineEnds);
  }

  #endLine(bytes: Buffer, start: number, end: number, events: string[]): void {
    if (this.#begun.length === 0) return this.#takeLine(bytes, start, end, events);
    this.#begun.add(bytes.subarray(start, end));
    const line = asBuffer(this.#begun.take());
    this.#takeLine(line, 0, line.length, events);
  }

  #takeLine(bytes: Buffer, start: number, end: number, events: string[]): void {
    const from = this.#firstLine && begins(bytes, start, byteOrderMark) ? start + byteOrderMark.length : start;
    this.#firstLine = false;
    if (from === end) return this.#endEvent(events);
    const nameEnd = from + dataField.length;
    if (!begins(bytes, from, dataField) || (nameEnd < end && bytes[nameEnd] !== colon)) return this.#takeName(bytes, from, end);
    const valueStart = nameEnd + (bytes[nameEnd + 1] === space ? 2 : 1);
    const value = bytes.toString("utf8", Math.min(valueStart, end), end);
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    this.#bytes += end - start;
  }

  #takeName(bytes: Buffer, from: number, end: number): void {
    if (!begins(bytes, from, eventField)) return;
    this.#failed = /^event: ?error$/.test(bytes.toString("latin1", from, Math.min(end, from + nameBytesMax)));
  }

  #endEvent(events: string[]): void {
    if (this.#data !== null) events.push(this.#failed ? asError(this.#data) : this.#data);
    this.#failed = false;
    this.#data = null;
    this.#bytes = 0;
  }
}

/** Enough for `event: error`. */
const nameBytesMax = 16;

/** Most servers mark the error in the data too; some send only its fields or a text. Data that is part of an answer stays unchanged. */
function asError(data: string): string {
  const told = parseJson(data);
  const fields = asObject(told);
  if (fields === null) return Array.isArray(told) ? data : JSON.stringify({ error: { message: data } });
  const { error, choices, candidates, type } = fields;
  const says = error || choices || candidates || (typeof type === "string" && !/.(error|exception)/i.test(type));
  return says ? data : writtenJson({ error: fields });
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** @returns Infinity if there is none */
function next(bytes: Buffer, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? Infinity : at;
}

function begins(bytes: Uint8Array, start: number, prefix: Uint8Array): boolean {
  for (let at = 0; at < prefix.length; at++) if (bytes[start + at] !== prefix[at]) return false;
  return true;
}

// The sequence of one stream, to the end of its body

/** Given to the decoder if the body ends after a finish reason without this mark. */
const endMark = "[DONE]";

export class EventSequence {
  readonly #decode: (data: string) => ProviderEvent[];
  #finish: FinishReason | null = null;
  /** The provider has counted both sides. */
  #counted = false;
  /** It has done so after its finish reason, in a separate event: nothing more of the answer will come. */
  #settled = false;
  readonly #calls = new OpenCalls();

  constructor(decode: (data: string) => ProviderEvent[]) {
    this.#decode = decode;
  }

  /** A finish reason has arrived. */
  get finishSeen(): boolean {
    return this.#finish !== null;
  }

  /** A call has continued after the finish reason and is not complete. */
  get isInCall(): boolean {
    return this.#calls.some;
  }

  /** How long to wait for the end after a finish reason, if nothing more comes. */
  get graceMs(): number {
    if (this.#settled) return streamTailMs;
    if (this.#finish === "tool_calls" || this.#finish === "function_call") return callGraceMs;
    return this.#counted ? streamTailMs : finishGraceMs;
  }

  /** Appends the events of this data up to the end or a failure. @returns whether one of these came */
  take(data: string, events: ProviderEvent[]): boolean {
    let countsAlone = this.#finish !== null;
    for (const event of this.#decode(data)) {
      events.push(event);
      if (event.kind === "end" || event.kind === "failure") return true;
      if (event.kind === "usage") {
        this.#counted ||= Boolean(event.usage.promptTokens && event.usage.completionTokens);
        this.#settled = countsAlone && this.#counted;
      } else {
        countsAlone = false;
        this.#settled = false;
        if (event.kind === "thought") continue;
        if (event.finishReason !== null) this.#finish = event.finishReason;
        if ("tool_calls" in event.delta || "function_call" in event.delta || event.finishReason !== null) this.#calls.take(event);
      }
    }
    return false;
  }

  /** Appends the last events of a body that ended. Not every provider marks the end; a finish reason is enough, except within a call. */
  end(events: ProviderEvent[]): void {
    if (this.#finish === null || this.isInCall)
      events.push({ kind: "failure", failure: new UpstreamFailure("upstream_error", "the stream broke off") });
    else if (!this.take(endMark, events)) events.push({ kind: "end" });
  }
}

/** Which calls of tools go on after a finish reason. */
class OpenCalls {
  /** The arguments of each call so far, by its index; null: a function in the older form. */
  readonly #byIndex = new Map<unknown, WholeObject>();
  /** Calls that got more after the last finish reason, and whose arguments are not a closed object. */
  readonly #goOn = new Set<WholeObject>();

  /** Whether a call has continued after the last finish reason and is not complete. */
  get some(): boolean {
    return this.#goOn.size > 0;
  }

  take({ delta, finishReason }: DeltaEvent): void {
    for (const value of asArray(delta["tool_calls"])) {
      const { index, function: called, custom } = asObject(value) ?? {};
      this.#feed(index, asObject(called)?.["arguments"] ?? asObject(custom)?.["input"]);
    }
    const called = asObject(delta["function_call"]);
    if (called !== null) this.#feed(null, called["arguments"]);
    if (finishReason !== null) this.#goOn.clear();
  }

  #feed(index: unknown, text: unknown): void {
    const call = this.#byIndex.get(index) ?? new WholeObject();
    this.#byIndex.set(index, call);
    call.feed(asText(text) ?? "");
    if (call.closed) this.#goOn.delete(call);
    else this.#goOn.add(call);
  }
}
