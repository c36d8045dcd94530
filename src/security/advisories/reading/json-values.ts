/** The values of a JSON document, one at a time: the entries of an array, or values one after another. */
import { closeBrace, closeBracket, comma, openBrace, openBracket } from "../../../http/json-bytes.ts";
import { JsonTokens, noToken } from "../../../http/json-tokens.ts";
import { jsonDepthMax } from "../../../http/limits.ts";
import { advisoryBytesMax } from "../../limits.ts";
import type { Bytes } from "../../archives/byte-reader.ts";

/** `at` is the position in the document: `[3]` in an array, `:12` in a line, empty for the whole document. */
export type Piece = { at: string } & Content;
type Content = { text: string } | { problem: string };

/** Each value as text, or the reason why it is invalid. At most one record is in memory. */
export async function* jsonValues(pieces: AsyncIterable<Bytes>): AsyncGenerator<Piece> {
  const splitter = new ValueSplitter();
  for await (const piece of pieces) {
    yield* splitter.push(piece);
    if (splitter.isOver) return;
  }
  yield* splitter.end();
}

class ValueSplitter {
  isOver = false;
  readonly #tokens = new JsonTokens(new Uint8Array(0));
  readonly #value = new ValueBytes();
  #began = false;
  #inArray = false;
  /** Open brackets of the current value. */
  #depth = 0;
  #count = 0;

  *push(bytes: Bytes): Generator<Piece> {
    const tokens = this.#tokens;
    tokens.continueIn(bytes);
    let start = 0;
    while (!this.isOver) {
      const before = tokens.end;
      const token = tokens.next();
      // A number or a word ends before what follows it; an object, a list or a string with its own last byte.
      for (let at = before; this.#depth === 0 && at < tokens.start; at++) {
        const byte = bytes[at] ?? 0;
        if (isSpace(byte)) {
          if (this.#value.isOpen) yield this.#close(bytes.subarray(start, at));
        } else if (!this.#value.isOpen && (this.#began || !isMark(byte))) start = this.#open(at);
      }
      if (token === noToken) break;
      const isSeparator = this.#depth === 0 && (token === comma || token === closeBracket);
      if (isSeparator && this.#value.isOpen) yield this.#close(bytes.subarray(start, tokens.start));
      else if (this.#value.isOpen) {
        if (this.#endsWith(token)) yield this.#close(bytes.subarray(start, tokens.end));
      } else if (!this.#began && token === openBracket) this.#inArray = this.#began = true;
      else if (!this.#inArray || !isSeparator) {
        start = this.#open(tokens.start);
        this.#endsWith(token);
      }
      if (this.#inArray && isSeparator && token === closeBracket) this.isOver = true;
    }
    if (this.#value.isOpen) this.#value.keep(bytes.subarray(start));
  }

  *end(): Generator<Piece> {
    if (this.#value.isOpen) {
      const whole = this.#depth === 0 && !this.#tokens.isCut && !this.#inArray;
      const piece = this.#close(new Uint8Array(0));
      yield whole ? piece : { at: piece.at, problem: "is cut off: the document ends in the middle of it" };
    } else if (this.#inArray) yield this.#placed({ problem: "is missing: the document ends before the end of its array" });
    else if (!this.#began) yield this.#placed({ problem: "is missing: the document is empty" });
  }

  #open(at: number): number {
    this.#began = true;
    this.#value.open();
    return at;
  }

  #close(last: Bytes): Piece {
    return this.#placed(this.#value.close(last));
  }

  #placed(content: Content): Piece {
    const index = this.#count++;
    return { at: this.#inArray || index > 0 ? `[${index}]` : "", ...content };
  }

  /** Whether the current value ends with this token. */
  #endsWith(token: number): boolean {
    if (token === openBracket || token === openBrace) this.#depth++;
    if (this.#depth > jsonDepthMax) this.#value.refuse(`is nested more than ${jsonDepthMax} levels deep`);
    if (token !== closeBracket && token !== closeBrace) return false;
    this.#depth = Math.max(0, this.#depth - 1);
    return this.#depth === 0;
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
