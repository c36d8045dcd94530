/**
 * Parses the bytes of an event stream into the data of its events, in whatever pieces they arrive, with a bound on an event. Written by
 * hand because it finds lines in bytes and decodes only the data, and because each search goes on where the last one stopped: a stream of
 * single bytes costs no more than one of large pieces.
 */
import { Buffer } from "node:buffer";
import { upstreamEventBytesMax } from "../../limits.ts";
import { asObject, parseJson, writtenJson } from "../wire/json.ts";
import { GatheredBytes } from "../../../http/gathered-bytes.ts";

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
    // Each search goes on where it stopped: a stream may have one kind of line end alone.
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
