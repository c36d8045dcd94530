/** The values of a JSON document, one at a time: of an array its entries, else the values that stand one behind another. */
import { backslash, closeBrace, closeBracket, comma, openBrace, openBracket, quote } from "../../../http/json-bytes.ts";
import { jsonDepthMax } from "../../../http/limits.ts";
import { advisoryBytesMax } from "../../limits.ts";
import type { Bytes } from "../../archives/byte-reader.ts";

/** `at` tells where in the document it stands: `[3]` in an array, `:12` in a line, empty where it is the whole of it. */
export type Piece = { at: string } & Content;
type Content = { text: string } | { problem: string };

/** Each value as text, or why it is none; nothing that is held here exceeds one record. */
export async function* jsonValues(pieces: AsyncIterable<Bytes>): AsyncGenerator<Piece> {
  const scan = new Scan();
  for await (const piece of pieces) {
    yield* scan.push(piece);
    if (scan.isOver) return;
  }
  yield* scan.end();
}

/** Where in the document the scan stands. */
class Scan {
  isOver = false;
  #began = false;
  #inArray = false;
  /** Open brackets of the value under way. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  readonly #value = new ValueBytes();
  #count = 0;

  *push(piece: Bytes): Generator<Piece> {
    let start = 0;
    for (let at = 0; at < piece.length && !this.isOver; at++) {
      const byte = piece[at] ?? 0;
      if (this.#inString) this.#withinString(byte);
      else if (this.#value.isOpen) {
        // A number or word ends before what follows it; a list, an object or a text with its own last byte.
        const endsBefore = this.#depth === 0 && (isSpace(byte) || byte === comma || byte === closeBracket);
        const endsWith = !endsBefore && this.#step(byte);
        if (!endsBefore && !endsWith) continue;
        yield this.#placed(this.#value.close(piece.subarray(start, endsBefore ? at : at + 1)));
        if (endsBefore) this.#between(byte);
      } else if (this.#between(byte)) {
        start = at;
        this.#value.open();
        this.#step(byte);
      }
    }
    if (this.#value.isOpen) this.#value.keep(piece.subarray(start));
  }

  *end(): Generator<Piece> {
    if (this.#value.isOpen) {
      const whole = this.#depth === 0 && !this.#inString && !this.#inArray;
      const piece = this.#value.close(new Uint8Array(0));
      yield this.#placed(whole ? piece : { problem: "is cut off: the document ends in the middle of it" });
    } else if (this.#inArray) yield this.#placed({ problem: "is missing: the document ends before the end of its array" });
    else if (!this.#began) yield this.#placed({ problem: "is missing: the document is empty" });
  }

  #placed(content: Content): Piece {
    const index = this.#count++;
    return { at: this.#inArray || index > 0 ? `[${index}]` : "", ...content };
  }

  /** Whether a value begins with this byte. */
  #between(byte: number): boolean {
    if (isSpace(byte) || (!this.#began && isMark(byte))) return false;
    if (!this.#began && byte === openBracket) {
      this.#inArray = true;
      this.#began = true;
      return false;
    }
    this.#began = true;
    if (this.#inArray && byte === closeBracket) this.isOver = true;
    return !this.isOver && !(this.#inArray && byte === comma);
  }

  /** Whether the value ends with this byte. */
  #step(byte: number): boolean {
    if (byte === quote) this.#inString = true;
    else if (byte === openBracket || byte === openBrace) this.#depth++;
    else if (byte === closeBracket || byte === closeBrace) {
      this.#depth = Math.max(0, this.#depth - 1);
      return this.#depth === 0;
    }
    if (this.#depth > jsonDepthMax) this.#value.refuse(`is nested more than ${jsonDepthMax} levels deep`);
    return false;
  }

  #withinString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === backslash) this.#escaped = true;
    else if (byte === quote) this.#inString = false;
  }
}

/** The bytes of one value, up to the most that a record may have. */
export class ValueBytes {
  isOpen = false;
  #kept: Bytes[] = [];
  #length = 0;
  #problem: string | null = null;
  readonly #bytesMax: number;

  constructor(bytesMax = advisoryBytesMax) {
    this.#bytesMax = bytesMax;
  }

  open(): void {
    this.isOpen = true;
    this.#kept = [];
    this.#length = 0;
    this.#problem = null;
  }

  refuse(problem: string): void {
    this.#problem ??= problem;
  }

  keep(bytes: Bytes): void {
    this.#length += bytes.length;
    if (this.#length > this.#bytesMax) this.refuse(`is larger than ${this.#bytesMax} bytes, the most that a record may have`);
    if (this.#problem === null) this.#kept.push(bytes);
    else this.#kept = [];
  }

  close(last: Bytes): Content {
    this.keep(last);
    this.isOpen = false;
    if (this.#problem !== null) return { problem: this.#problem };
    try {
      return { text: new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(this.#kept)) };
    } catch {
      return { problem: "is not text in UTF-8" };
    }
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Of the three bytes of a byte order mark. */
function isMark(byte: number): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf;
}
