/**
 * Splits files of advisories into records: JSON (one value, a list, or values one after another), NDJSON and YAML. The name decides the
 * format; without a name, the content does.
 *
 * At most one record is in memory, and its size is bounded. A broken line or value does not affect the others. YAML is read without
 * aliases, which could grow without limit, and without tags; its scalars stay text, so an unquoted version 1.10 stays 1.10.
 */
import { boolCoreTag, FAILSAFE_SCHEMA, load, nullCoreTag, YAMLException } from "js-yaml";
import { closeBrace, closeBracket, comma, openBrace, openBracket, JsonTokens, noToken } from "../../http/json.ts";
import { jsonDepthMax } from "../../http/limits.ts";
import type { Bytes } from "../archives/byte-reader.ts";
import { advisoryYamlBytesMax, advisoryBytesMax } from "../limits.ts";
import { RecordError } from "./advisory.ts";

export type DocumentFormat = "json" | "ndjson" | "yaml";

const formats: Readonly<Record<string, DocumentFormat>> = {
  json: "json",
  ndjson: "ndjson",
  jsonl: "ndjson",
  yaml: "yaml",
  yml: "yaml",
};

/** The format by the extension; null: not a file of advisories, such as a readme or a hidden file. */
export function formatOf(name: string): DocumentFormat | null {
  const parts = name.split("/").filter((part) => part !== "." && part !== "..");
  if (parts.some((part) => part.startsWith(".") || part === "__MACOSX")) return null;
  return formats[/\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ""] ?? null;
}

/** The format of a stream without a name: a text that does not begin like a JSON object or list is YAML. */
export function formatByContent(first: Bytes): DocumentFormat {
  return /^[\s\ufeff]*[[{]/.test(new TextDecoder().decode(first)) ? "json" : "yaml";
}

/** The text of each record, or the reason why it is invalid. */
export function piecesOf(bytes: AsyncIterable<Bytes>, format: DocumentFormat): AsyncGenerator<Piece> {
  if (format === "yaml") return wholeText(bytes);
  return format === "json" ? jsonValues(bytes) : jsonLines(bytes);
}

/** @throws RecordError */
export function parsePiece(piece: Piece, format: DocumentFormat): unknown {
  if ("problem" in piece) throw new RecordError("", piece.problem);
  if (format === "yaml") return parseYaml(piece.text);
  try {
    return JSON.parse(piece.text);
  } catch (error) {
    throw new RecordError("", `is not valid JSON: ${error instanceof Error ? error.message : "unknown fault"}`);
  }
}

/** `at` is the position in the document: `[3]` in an array, `:12` in a line, empty for a whole document. */
type Piece = { at: string } & Content;
type Content = { text: string } | { problem: string };

/** The bytes of one value, up to the size limit of a record. */
class ValueBytes {
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

async function* wholeText(bytes: AsyncIterable<Bytes>): AsyncGenerator<Piece> {
  const value = new ValueBytes(advisoryYamlBytesMax);
  value.open();
  for await (const piece of bytes) value.keep(piece);
  yield { at: "", ...value.close(new Uint8Array(0)) };
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
      // A number or a word ends before the next byte; an object, a list or a string ends with its own last byte.
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

/** Each value as text, or the reason why it is invalid. At most one record is in memory. */
async function* jsonValues(pieces: AsyncIterable<Bytes>): AsyncGenerator<Piece> {
  const splitter = new ValueSplitter();
  for await (const piece of pieces) {
    yield* splitter.push(piece);
    if (splitter.isOver) return;
  }
  yield* splitter.end();
}

const newline = 0x0a;

/** The lines of an NDJSON document. A broken line does not affect the others. */
async function* jsonLines(pieces: AsyncIterable<Bytes>): AsyncGenerator<Piece> {
  const line = new ValueBytes();
  let number = 1;
  const close = (last: Bytes): Piece[] => {
    const piece = { at: `:${number++}`, ...line.close(last) };
    return "problem" in piece || piece.text.trim() !== "" ? [piece] : [];
  };
  line.open();
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, start)) {
      yield* close(piece.subarray(start, end));
      line.open();
      start = end + 1;
    }
    line.keep(piece.subarray(start));
  }
  yield* close(new Uint8Array(0));
}

/** An unquoted version 1.10 stays 1.10: the format has no numbers, so scalars are text unless they are true, false or null. */
const schema = FAILSAFE_SCHEMA.withTags(nullCoreTag, boolCoreTag);

/** @throws RecordError naming the line */
function parseYaml(text: string): unknown {
  try {
    return load(text, { schema, maxAliases: 0, maxDepth: jsonDepthMax });
  } catch (error) {
    if (error instanceof YAMLException) throw new RecordError("", `cannot be read as YAML: ${error.reason}${lineOf(error)}`);
    throw error;
  }
}

function lineOf(error: YAMLException): string {
  return error.mark ? `, in line ${error.mark.line + 1}` : "";
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Whether a byte belongs to a byte order mark. */
function isMark(byte: number): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf;
}
