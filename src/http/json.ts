/**
 * Bounds a JSON text before it is parsed, and parses a body as one JSON object.
 *
 * JSON.parse blocks the event loop. Values and nesting make it slow, not bytes. So a scan counts both first, in one pass without allocating
 * memory. Half a surrogate pair is refused, because providers reject it with various errors. Of repeated keys the last one counts, as
 * everywhere in JavaScript. A client cannot hide a value that way: the result of this one parse is checked and priced, and providers get
 * that result serialized again. Of the client's bytes they get none but long texts (long-texts.ts).
 *
 * The scan reads tokens as bytes: brackets, braces, commas, colons and strings. Its time is linear in bytes, even for texts made to be
 * slow. It does not validate: the parser refuses what is not JSON.
 */
import { invalidRequest } from "../kernel/errors.ts";
import { jsonDepthMax, jsonFieldsMax, jsonValuesMax } from "./limits.ts";

export type JsonObject = Record<string, unknown>;

/** Whether a text is a JSON document. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * @throws GatewayError invalid_request for bytes that are not UTF-8, not JSON, too deep or not an object, or have too many fields or values
 */
export function parseJsonObject(bytes: Uint8Array, valuesMax?: number): JsonObject {
  scanJson(bytes, valuesMax === undefined ? {} : { valuesMax });
  return parsedObject(decode(bytes));
}

/** @throws GatewayError invalid_request for a text that is not JSON or not an object */
export function parsedObject(text: string): JsonObject {
  const body = parse(text);
  if (!isJsonObject(body)) throw invalidRequest(undefined, "The request body must be a JSON object");
  return body;
}

interface JsonBounds {
  /** Absent: `jsonValuesMax`. */
  valuesMax?: number;
  /** Absent: `jsonDepthMax`. The fields of deeper objects are not counted. */
  depthMax?: number;
  /** Is told what the scan meets, and may read texts in its place. */
  finder?: TextFinder;
}

export interface TextFinder {
  /** How many open containers, from the top, matter to it. It is told nothing of others. */
  readonly reach: number;
  /**
   * A name at the reach, and its colon.
   * @param start between the quotes
   * @param from behind the colon
   * @returns behind the text there, which the scan need not read; -1: the scan reads on
   */
  tookName(depth: number, start: number, end: number, from: number): number;
  /** A container within the reach. @param depth with it */
  opened(depth: number, isList: boolean): void;
  /** The container that was the reach. */
  closed(): void;
}

/** Fields of the open objects, by depth; shared, because scans never overlap. */
const fieldsAt = new Uint32Array(jsonDepthMax + 1);

/**
 * Ignores invalid JSON, which the parser refuses.
 * @throws GatewayError invalid_request beyond 64 levels, 5,000 fields of an object or too many values, or at half a surrogate pair
 */
export function scanJson(
  bytes: Uint8Array,
  { valuesMax = jsonValuesMax, depthMax = jsonDepthMax, finder }: JsonBounds = {},
): void {
  const tokens = new JsonTokens(bytes);
  let [textStart, textEnd] = [0, 0];
  let depth = 0;
  // Every comma separates two values, and a non-empty container has one more value than commas.
  let values = 1;
  /** The index after the opening of a container until something follows; otherwise -1. */
  let opened = -1;
  for (let token = tokens.next(); token !== noToken; token = tokens.next()) {
    if (token === quote) {
      if (tokens.mayHaveSurrogate) requirePairs(bytes, tokens);
      textStart = tokens.start + 1;
      textEnd = tokens.end - 1;
    } else if (token === comma) values++;
    else if (token === colon) {
      countField(depth);
      if (depth === finder?.reach) tokens.end = Math.max(tokens.end, finder.tookName(depth, textStart, textEnd, tokens.end));
    } else if (token === openBrace || token === openBracket) {
      if (++depth > depthMax) throw invalidRequest(undefined, `The request body is nested deeper than ${depthMax} levels`);
      fieldsAt[depth] = 0;
      values++;
      opened = tokens.end;
      if (depth - 1 === finder?.reach) finder.opened(depth, token === openBracket);
      continue;
    } else {
      if (depth === finder?.reach) finder.closed();
      depth--;
      if (opened !== -1 && isBlank(bytes, opened, tokens.start)) values--;
    }
    opened = -1;
    if (values > valuesMax) throw invalidRequest(undefined, `The request body holds more than ${valuesMax} JSON values`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest(undefined, "The request body is not valid JSON");
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** @throws GatewayError invalid_request for bytes that are not UTF-8 */
export function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalidRequest(undefined, "The request body is not valid UTF-8");
  }
}

/** Half a surrogate pair is not text: providers reject it with various errors, and its size in UTF-8 is undefined. */
function requirePairs(bytes: Uint8Array, { start, end }: JsonTokens): void {
  for (let at = start; at < end; at++) {
    if (bytes[at] !== backslash) continue;
    const first = surrogateKind(bytes, at);
    if (first === "low" || (first === "high" && surrogateKind(bytes, at + 6) !== "low"))
      throw invalidRequest(undefined, "The request body has half of a surrogate pair (such as \\ud83d alone) in a string");
    at += first === "high" ? 11 : 1;
  }
}

export const lowerU = 0x75;

/** Surrogates are \uD800 to \uDBFF (high) and \uDC00 to \uDFFF (low). */
function surrogateKind(bytes: Uint8Array, at: number): "none" | "high" | "low" {
  const escaped = bytes[at] === backslash && bytes[at + 1] === lowerU && isLetter(bytes[at + 2], "d");
  if (!escaped) return "none";
  const second = bytes[at + 3];
  if (second === 0x38 || second === 0x39 || isLetter(second, "a") || isLetter(second, "b")) return "high";
  return isLetter(second, "c") || isLetter(second, "d") || isLetter(second, "e") || isLetter(second, "f") ? "low" : "none";
}

function isLetter(byte: number | undefined, letter: string): boolean {
  return byte !== undefined && (byte | 0x20) === letter.charCodeAt(0);
}

/** Outside strings, each colon is a field; the parser refuses a colon outside an object. */
function countField(depth: number): void {
  if (depth < 1) return;
  const fields = (fieldsAt[depth] ?? 0) + 1;
  fieldsAt[depth] = fields;
  if (fields > jsonFieldsMax)
    throw invalidRequest(undefined, `The request body has an object of more than ${jsonFieldsMax} fields`);
}

// Tokens. Numbers and words between them are skipped, long strings are searched natively, and a text may arrive in pieces, cut anywhere.

/** The structural characters of JSON, as bytes of UTF-8 and as code units, for scans before a text is parsed. */
export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
/** This byte and all below it occur only between values. */
export const space = 0x20;

const lowerD = 0x64;
/** Up to here a string is read byte by byte: a native search costs as much as forty bytes. */
const shortBytes = 32;
/** What `next` returns after the last token. */
export const noToken = 0;

/** 1 for each byte that is a token or begins one. */
const beginsToken = new Uint8Array(256);
for (const byte of [quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace]) beginsToken[byte] = 1;

/** 1 for each hexadecimal digit. */
const isDigit = new Uint8Array(256);
for (const digit of "0123456789abcdefABCDEF") isDigit[digit.charCodeAt(0)] = 1;

/** `private` instead of `#`: private names make a body of many short strings 15 % slower to read. */
export class JsonTokens {
  /** Where the token begins; for a string, at its opening quote. */
  start = 0;
  /** After the token; for a string, after its closing quote. */
  end: number;
  /** Whether the text ends within the last string. */
  isCut = false;
  /** Whether the last string has an escape such as `\ud83d`: half of a surrogate pair, or another character from U+D000 on. */
  mayHaveSurrogate = false;
  private bytes: Uint8Array;
  /** The last backslash that a search found; the length of the bytes if there was none. */
  private backslashAt = -1;

  /** @param at where to begin, outside of strings */
  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.end = at;
  }

  /** @returns the token's first byte, or `noToken` at the end of the text */
  next(): number {
    const { bytes } = this;
    const { length } = bytes;
    for (let at = this.end; at < length; at++) {
      const byte = bytes[at] ?? 0;
      if (beginsToken[byte] === 0) continue;
      this.start = at;
      this.end = byte === quote ? this.endOfString(at + 1) : at + 1;
      return byte;
    }
    this.start = length;
    this.end = Math.max(this.end, length);
    return noToken;
  }

  /** Continues with the next piece of the same text, even within a string that the last piece cut. */
  continueIn(piece: Uint8Array): void {
    // An escape at the very end of the last piece includes the first byte of this one.
    const at = this.end - this.bytes.length;
    this.bytes = piece;
    this.backslashAt = -1;
    this.start = 0;
    this.end = this.isCut ? this.endOfString(at) : 0;
  }

  private endOfString(from: number): number {
    const { bytes } = this;
    const { length } = bytes;
    this.isCut = false;
    this.mayHaveSurrogate = false;
    const near = Math.min(length, from + shortBytes);
    for (let at = from; at < near; at++) {
      const byte = bytes[at];
      if (byte === quote) return at + 1;
      if (byte === backslash) return this.endOfEscapedString(at);
    }
    if (near < length) return this.endOfLongString(near);
    this.isCut = true;
    return Math.max(from, length);
  }

  /**
   * Searches natively, twenty times as fast. The time stays linear: the next quote is within this string or ends it, and the next
   * backslash of the whole text is remembered.
   */
  private endOfLongString(from: number): number {
    const { bytes } = this;
    const { length } = bytes;
    const found = bytes.indexOf(quote, from);
    const end = found === -1 ? length : found;
    if (this.backslashAt < from) {
      const next = bytes.indexOf(backslash, from);
      this.backslashAt = next === -1 ? length : next;
    }
    if (this.backslashAt < end) return this.endOfEscapedString(this.backslashAt);
    this.isCut = found === -1;
    return found === -1 ? length : found + 1;
  }

  /**
   * A separate method, so that `next` and `endOfString` are small enough to be inlined: 20 % for a body of many numbers.
   * @param from the string's first backslash
   */
  private endOfEscapedString(from: number): number {
    const { bytes } = this;
    const { length } = bytes;
    let at = from;
    for (; at < length; at++) {
      const byte = bytes[at];
      if (byte === quote) return at + 1;
      if (byte !== backslash || bytes[++at] !== lowerU) continue;
      if (((bytes[at + 1] ?? 0) | 0x20) === lowerD) this.mayHaveSurrogate = true;
      const digits = digitAt(bytes, at + 1) & digitAt(bytes, at + 2) & digitAt(bytes, at + 3) & digitAt(bytes, at + 4);
      if (digits === 1) at += 4;
    }
    this.isCut = true;
    return at;
  }
}

/** Whether only blanks are between two places. */
function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if ((bytes[at] ?? 0) > space) return false;
  return true;
}

/** 1 if there is a hexadecimal digit. */
function digitAt(bytes: Uint8Array, at: number): number {
  return isDigit[bytes[at] ?? 0] ?? 0;
}
