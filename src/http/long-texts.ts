/**
 * Keeps the long texts of a model's request as the bytes that the client sent. An agent's request is a hundred KiB of them, and to decode
 * them, copy them and write them again takes longer than all that is done with them. So while a body is scanned, each is measured and
 * checked to be valid JSON, and the parser gets a placeholder in its place. Bodies for providers are made of placeholders too, which become
 * the client's bytes when the request is sent.
 *
 * No client can write a placeholder. It begins with half of a surrogate pair, which the scan refuses in a body. A secret of the process
 * follows: the arguments of a call are JSON within a text, and the scan does not look there. A placeholder tells the size of its text, so
 * whoever counts bytes need not have the text. Whoever reads the text itself calls `restored`.
 *
 * Only texts that providers get as they came are kept: of messages that a model did not write, results of tools, and descriptions of tools.
 * They are neither blank nor within arguments. Short texts and small bodies are parsed, which is faster.
 */
import { Buffer, isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import {
  backslash,
  decode,
  type JsonObject,
  lowerU,
  parsedObject,
  parseJsonObject,
  quote,
  scanJson,
  space,
  type TextFinder,
} from "./json.ts";

/** The field of a chat that holds its `LongTexts`. A copy by `{...chat}` has it, and one by JSON does not. */
export const longTexts: unique symbol = Symbol("long texts");

/** From this many bytes on a text is kept. Keeping code takes half the time from 600 bytes on; prose is parsed sooner up to 8,000. */
export const longTextBytesMin = 1_024;
/** In smaller bodies none is. */
export const longTextsBodyBytesMin = 16 * 1_024;

/** As `parseJsonObject`, with placeholders in the object for `texts`; null: it has none. @param bytesMin of a text and a body to keep texts of */
export function parseWithLongTexts(
  bytes: Uint8Array,
  bytesMin: { text: number; body: number } = { text: longTextBytesMin, body: longTextsBodyBytesMin },
): { request: JsonObject; texts: LongTexts | null } {
  if (bytes.length < bytesMin.body) return { request: parseJsonObject(bytes), texts: null };
  const finder = new LongTextFinder(bytes, bytesMin.text);
  scanJson(bytes, { finder });
  const { texts } = finder;
  // What is not UTF-8 is refused when it is decoded as a whole.
  const text = texts !== null && isUtf8(bytes) ? texts.decoded() : decode(bytes);
  return { request: parsedObject(text), texts };
}

/** A text as it stands in the body: valid JSON between `start` and `end`, without its quotes. */
interface MeasuredText {
  start: number;
  end: number;
  /** UTF-8 bytes of the text. */
  bytes: number;
  /** UTF-8 bytes between the quotes if this process wrote it as JSON. */
  jsonBytes: number;
}

const secret = randomBytes(12).toString("base64url");
const half = "\udc00";
const begin = half + secret;
const writtenHalf = String.raw`\udc00`;
const writtenBegin = writtenHalf + secret;

export class LongTexts {
  readonly #body: Uint8Array;
  readonly #texts: readonly MeasuredText[];

  /** @param texts in the order of the body, which must not be changed afterwards */
  constructor(body: Uint8Array, texts: readonly MeasuredText[]) {
    this.#body = body;
    this.#texts = texts;
  }

  /** The body as a text with placeholders. It must be UTF-8. */
  decoded(): string {
    let text = "";
    let from = 0;
    for (const [index, { start, end, bytes, jsonBytes }] of this.#texts.entries()) {
      text += `${decode(this.#body.subarray(from, start))}${writtenBegin}${index},${bytes},${jsonBytes}${writtenHalf}`;
      from = end;
    }
    return text + decode(this.#body.subarray(from));
  }

  /** @param json a value with placeholders, which this process wrote @returns the same with the client's bytes in their place */
  inserted(json: string): Uint8Array {
    const places = placesIn(json).map((place) => ({ ...place, text: this.#textAt(place.index) }));
    const change = places.reduce((sum, { at, end, text }) => sum + (text.end - text.start) - (end - at), 0);
    const whole = Buffer.allocUnsafe(Buffer.byteLength(json) + change);
    let filled = 0;
    let from = 0;
    for (const { at, end, text } of places) {
      filled += whole.write(json.slice(from, at), filled);
      whole.set(this.#body.subarray(text.start, text.end), filled);
      filled += text.end - text.start;
      from = end;
    }
    whole.write(json.slice(from), filled);
    return whole;
  }

  /** A value as JSON, with the texts in place of placeholders. */
  written(value: unknown): string {
    return Buffer.from(this.inserted(JSON.stringify(value))).toString();
  }

  /** A copy of a value of JSON, with the texts in place of placeholders. Fields under symbols are left out. */
  restored<Value>(value: Value): Value {
    return JSON.parse(this.written(value)) as Value;
  }

  #textAt(index: number): MeasuredText {
    const text = this.#texts[index];
    if (text === undefined) throw new RangeError(`There is no long text ${index}`);
    return text;
  }
}

/** UTF-8 bytes of a text which may be a placeholder or have some. */
export function textBytes(text: string): number {
  if (text.startsWith(begin) && text.indexOf(half, 1) === text.length - 1) return Number(text.split(",", 2)[1]);
  const bytes = Buffer.byteLength(text);
  return text.includes(begin)
    ? bytes + placesIn(JSON.stringify(text)).reduce((sum, place) => sum + place.bytes - unwritten(place), 0)
    : bytes;
}

/** The bytes of a placeholder in a text. Half a pair has six in JSON, and three of the character that stands for it in UTF-8. */
function unwritten({ at, end }: Place): number {
  return end - at - 2 * (writtenHalf.length - 3);
}

/** UTF-8 bytes of a value that this process wrote as JSON, with the texts in place of placeholders. */
export function jsonBytes(json: string): number {
  let bytes = Buffer.byteLength(json);
  for (const place of placesIn(json)) bytes += place.jsonBytes - (place.end - place.at);
  return bytes;
}

interface Place extends Pick<MeasuredText, "bytes" | "jsonBytes"> {
  index: number;
  at: number;
  end: number;
}

/** The placeholders in JSON. @throws RangeError if one stands in JSON within a text, where the client's bytes would not be JSON */
function placesIn(json: string): Place[] {
  const places: Place[] = [];
  for (let at = json.indexOf(writtenBegin); at !== -1;) {
    if (isEscaped(json, at)) throw new RangeError("A long text was written as JSON within a text");
    const first = json.indexOf(",", at);
    const second = json.indexOf(",", first + 1);
    const close = json.indexOf(writtenHalf, second);
    const [index, bytes] = [Number(json.slice(at + writtenBegin.length, first)), Number(json.slice(first + 1, second))];
    const end = close + writtenHalf.length;
    places.push({ index, bytes, jsonBytes: Number(json.slice(second + 1, close)), at, end });
    at = json.indexOf(writtenBegin, end);
  }
  return places;
}

/** Whether the backslash is itself escaped. */
function isEscaped(json: string, at: number): boolean {
  let from = at;
  while (json[from - 1] === "\\") from--;
  return (at - from) % 2 === 1;
}

// While a body is scanned

/** Levels of a body: a list of it, and an item of that list. */
const listDepth = 2;
const itemDepth = 3;
const lists = new Set(["messages", "input", "tools"]);
/** The fields of an item, and of what they hold, that may hold texts to keep. */
const inside = new Set(["content", "output", "function"]);
const named = new Set(["content", "text", "output", "description"]);
/** Who writes a message that goes on as it is. What a model wrote may be cut before it is sent. */
const writers = new Set(["user", "system", "developer", "tool"]);

/** The names that matter, by their length. */
const names = Map.groupBy(new Set([...lists, ...inside, ...named, "role"]), ({ length }) => length);

/**
 * Finds the texts to keep. The scan tells it what it meets, and asks behind each colon whether it has to read the text that follows. A name
 * with escapes is not known here, so a text behind it is parsed.
 */
class LongTextFinder implements TextFinder {
  /** Those that may hold texts to keep. */
  reach = 0;
  readonly #body: Uint8Array;
  readonly #ruler: Ruler;
  readonly #bytesMin: number;
  readonly #found: MeasuredText[] = [];
  /** By level. */
  readonly #isList: boolean[] = [];
  /** The field at the reach whose value comes next; empty: it does not matter. */
  #name = "";
  /** What was found before the present item. */
  #before = 0;
  #hasContent = false;
  #writer: "none" | "known" | "other" = "none";

  constructor(body: Uint8Array, bytesMin: number) {
    this.#body = body;
    this.#ruler = new Ruler(body);
    this.#bytesMin = bytesMin;
  }

  /** null: there are none. */
  get texts(): LongTexts | null {
    return this.#found.length === 0 ? null : new LongTexts(this.#body, this.#found);
  }

  tookName(depth: number, start: number, end: number, from: number): number {
    this.#name = names.get(end - start)?.find((name) => isHere(name, this.#body, start)) ?? "";
    if (this.#name === "" || depth < itemDepth) return -1;
    const at = textStart(this.#body, from);
    if (this.#name === "role" && depth === itemDepth) this.#takeWriter(at);
    if (at === -1 || !named.has(this.#name) || this.#isShort(at)) return -1;
    const text = this.#ruler.measure(at);
    if (text === null || text.end - text.start < this.#bytesMin || !isSurelySaid(this.#body, text)) return -1;
    this.#found.push(text);
    this.#hasContent ||= this.#name === "content" || this.#name === "text";
    return text.end + 1;
  }

  opened(depth: number, isList: boolean): void {
    if (!this.#mayHold(depth, isList)) return;
    this.reach = depth;
    this.#isList[depth] = isList;
    if (depth !== itemDepth) return;
    this.#before = this.#found.length;
    this.#hasContent = false;
    this.#writer = "none";
  }

  closed(): void {
    this.reach--;
    const isForeign = this.#writer === "other" || (this.#hasContent && this.#writer === "none");
    if (this.reach === listDepth && isForeign) this.#found.length = this.#before;
  }

  /** Whether the text surely is: the next quote is searched natively. A text without an end is left to the scan. */
  #isShort(start: number): boolean {
    const end = this.#body.indexOf(quote, start);
    return end - start < this.#bytesMin && this.#body[end - 1] !== backslash;
  }

  #mayHold(depth: number, isList: boolean): boolean {
    if (depth === 1 || this.#isList[depth - 1] === true) return true;
    return depth === listDepth ? isList && lists.has(this.#name) : inside.has(this.#name);
  }

  /** @param start of a text; -1: there is none */
  #takeWriter(start: number): void {
    const isKnown = start !== -1 && writersAt(this.#body, start);
    this.#writer = isKnown && this.#writer !== "other" ? "known" : "other";
  }
}

function writersAt(body: Uint8Array, start: number): boolean {
  for (const writer of writers) if (body[start + writer.length] === quote && isHere(writer, body, start)) return true;
  return false;
}

function isHere(word: string, body: Uint8Array, start: number): boolean {
  for (let at = 0; at < word.length; at++) if (body[start + at] !== word.charCodeAt(at)) return false;
  return true;
}

/** @param from behind a colon @returns behind the quote; -1: another value stands there */
function textStart(body: Uint8Array, from: number): number {
  let at = from;
  while (at < body.length && (body[at] ?? 0) <= space) at++;
  return body[at] === quote ? at + 1 : -1;
}

/** Blank texts are left out of what is sent, so a text is kept only if one of its first characters is surely no space. */
function isSurelySaid(body: Uint8Array, { start, end }: MeasuredText): boolean {
  const until = Math.min(end, start + saidWithinBytes);
  for (let at = start; at < until; at++) {
    const byte = body[at] ?? 0;
    if (byte === backslash) at++;
    else if (byte > space && byte < 0x7f) return true;
  }
  return false;
}

const saidWithinBytes = 32;

/** What a byte is between quotes: 0 for a part of a text, 3 for what JSON does not allow. */
const kinds = new Uint8Array(256).fill(3, 0, space);
kinds[quote] = 1;
kinds[backslash] = 2;

/** What follows a backslash: 1 for a character that JSON always escapes so, 2 for one that it need not, 0 for all others. */
const escapes = new Uint8Array(256);
for (const one of '"\\nrtbf') escapes[one.charCodeAt(0)] = 1;
escapes["/".charCodeAt(0)] = 2;

/** `private` instead of `#`, as in `JsonTokens`. */
class Ruler {
  private body: Uint8Array;
  /** Four bytes a number; null: the body does not begin where a number may. */
  private words: Int32Array | null;

  constructor(body: Uint8Array) {
    this.body = body;
    const { buffer, byteOffset, byteLength } = body;
    this.words = byteOffset % 4 === 0 ? new Int32Array(buffer, byteOffset, byteLength >> 2) : null;
  }

  /** @param start behind a quote @returns null: the text is not valid */
  measure(start: number): MeasuredText | null {
    const { body } = this;
    let bytes = 0;
    let jsonBytes = 0;
    for (let at = start; ; at++) {
      if ((at & 3) === 0) at = this.afterPlain(at);
      const kind = kinds[body[at] ?? 0];
      if (kind === 0) continue;
      if (kind === 1) return { start, end: at, bytes: at - start + bytes, jsonBytes: at - start + jsonBytes };
      if (kind === 3) return null;
      const escape = escapes[body[++at] ?? 0] ?? 0;
      bytes--;
      if (escape === 1) continue;
      jsonBytes--;
      if (escape === 2) continue;
      const character = characterAt(body, at);
      if (character === null) return null;
      at += character.length - 2;
      bytes += character.bytes - character.length + 1;
      jsonBytes += character.jsonBytes - character.length + 1;
    }
  }

  /**
   * Skips bytes that are part of a text, four at once: of each byte something is subtracted, and its highest bit shows where that went
   * below zero (https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord). It may stop too early and never too late.
   * @param at a multiple of four
   */
  private afterPlain(at: number): number {
    const { words } = this;
    if (words === null) return at;
    let word = at >> 2;
    for (const { length } = words; word < length; word++) {
      const four = words[word] ?? 0;
      const quotes = four ^ 0x22222222;
      const slashes = four ^ 0x5c5c5c5c;
      const below = ((four - 0x20202020) & ~four) | ((quotes - 0x01010101) & ~quotes) | ((slashes - 0x01010101) & ~slashes);
      if ((below & 0x80808080) !== 0) break;
    }
    return word << 2;
  }
}

interface EscapedCharacter extends Pick<MeasuredText, "bytes" | "jsonBytes"> {
  /** With the backslash. */
  length: number;
}

/** The character written as `\u` and four digits, or twice that. @param at the letter u @returns null: it is none, or half of one */
function characterAt(body: Uint8Array, at: number): EscapedCharacter | null {
  const unit = codeUnit(body, at);
  if (unit === null) return null;
  if (unit < space) return { bytes: 1, jsonBytes: shortControls.has(unit) ? 2 : 6, length: 6 };
  if (unit === quote || unit === backslash) return { bytes: 1, jsonBytes: 2, length: 6 };
  if (unit < 0xd800 || unit > 0xdfff) {
    const bytes = unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    return { bytes, jsonBytes: bytes, length: 6 };
  }
  const second = body[at + 5] === backslash ? codeUnit(body, at + 6) : null;
  const isPair = unit < 0xdc00 && second !== null && second >= 0xdc00 && second <= 0xdfff;
  return isPair ? { bytes: 4, jsonBytes: 4, length: 12 } : null;
}

const shortControls = new Set([..."\b\t\n\f\r"].map((control) => control.charCodeAt(0)));

function codeUnit(body: Uint8Array, at: number): number | null {
  if (body[at] !== lowerU) return null;
  const digits = String.fromCharCode(...body.subarray(at + 1, at + 5));
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : null;
}
