/**
 * An SBOM within the body of a call, found by its bytes: the document is read from exactly these and by its own bounds, and the
 * rest of the body, a few fields, by those of every call. Nothing is parsed twice.
 */
import { closeBrace, closeBracket, colon, comma, openBrace, openBracket, quote, space } from "../../../http/json-bytes.ts";
import { JsonTokens, noToken } from "../../../http/json-tokens.ts";

export interface ExtractedField {
  /** The document, as the value was written; of a text what it says. */
  document: Uint8Array;
  /** The body with `{}` or `""` where the document stood. */
  rest: Uint8Array;
}

/**
 * @param path the fields that lead to the document; where one stands twice the last counts, as when JSON is parsed
 * @returns null where the body has no object or text there: then it is what it is, and judged as a whole
 */
export function extractJsonField(body: Uint8Array, path: readonly string[]): ExtractedField | null {
  let at = skipSpace(body, 0);
  for (const key of path) {
    const value = body[at] === openBrace ? lastValueOf(body, at, key) : null;
    if (value === null) return null;
    at = value;
  }
  const end = endOfValue(body, at);
  const first = body[at];
  if (first !== openBrace && first !== quote) return null;
  const document = first === quote ? textOf(body.subarray(at, end)) : body.subarray(at, end);
  if (document === null) return null;
  return {
    document,
    rest: Buffer.concat([body.subarray(0, at), encoder.encode(first === quote ? '""' : "{}"), body.subarray(end)]),
  };
}

/** @param at where the object's brace is. @returns where the value of the field begins, or null */
function lastValueOf(bytes: Uint8Array, at: number, key: string): number | null {
  let found: number | null = null;
  for (let next = skipSpace(bytes, at + 1); bytes[next] === quote;) {
    const keyEnd = endOfValue(bytes, next);
    const colonAt = skipSpace(bytes, keyEnd);
    if (bytes[colonAt] !== colon) return null;
    const value = skipSpace(bytes, colonAt + 1);
    if (isKey(bytes.subarray(next, keyEnd), key)) found = value;
    const after = skipSpace(bytes, endOfValue(bytes, value));
    if (bytes[after] !== comma) break;
    next = skipSpace(bytes, after + 1);
  }
  return found;
}

/** Keys may be written with escapes, six bytes a character. */
function isKey(written: Uint8Array, key: string): boolean {
  return written.length <= key.length * 6 + 2 && parsedText(written) === key;
}

/** @returns the place behind the value, or behind the bytes where the value does not end */
function endOfValue(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first !== quote && first !== openBrace && first !== openBracket) return endOfWord(bytes, start);
  const tokens = new JsonTokens(bytes, start);
  let depth = 0;
  for (let token = tokens.next(); token !== noToken; token = tokens.next()) {
    if (token === openBrace || token === openBracket) depth++;
    else if (token === closeBrace || token === closeBracket) depth--;
    if (depth === 0) break;
  }
  return Math.min(tokens.end, bytes.length);
}

/** Of a number or a word such as `null`. */
function endOfWord(bytes: Uint8Array, start: number): number {
  let at = start;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= space || byte === comma || byte === closeBrace || byte === closeBracket) break;
  }
  return at;
}

function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at] ?? 0) <= space) at++;
  return at;
}

const encoder = new TextEncoder();

/** A text with half of a surrogate pair cannot be written as bytes: the check of the whole body refuses it. */
function textOf(written: Uint8Array): Uint8Array | null {
  const text = parsedText(written);
  return text?.isWellFormed() === true ? encoder.encode(text) : null;
}

/** @returns null where it is not the JSON of a text */
function parsedText(written: Uint8Array): string | null {
  try {
    const text: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(written));
    return typeof text === "string" ? text : null;
  } catch {
    return null;
  }
}
