/**
 * JSON from untrusted sources: any value may be anywhere.
 *
 * The bytes are scanned before they are parsed, with memory proportional to the depth. Parsing cost depends on values and nesting, not on
 * bytes, so both are limited here. The scan also finds duplicate keys: JSON.parse silently keeps the last one, while other parsers keep the
 * first. Keys are compared by hash, and as bytes only if two hashes are equal. A large object keeps them in a set, so no choice of keys
 * makes this slow. Other faults are left to the parser. The first functions read parsed values without casts.
 */
import {
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  quote,
  backslash,
  JsonTokens,
  noToken,
  isJsonObject,
} from "../../http/json.ts";
import type { EventLoopYielder } from "../../process/event-loop-yielder.ts";
import { sbomDepthMax, sbomFieldsMax, sbomValuesMax, sbomKeyBytesMax } from "../limits.ts";
import { SbomRefusal } from "./refusal.ts";

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value);
}

/** An object's own field, never an inherited one. */
export function fieldOf(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** @returns null for a missing or empty text */
export function textOf(object: JsonObject, key: string): string | null {
  const value = fieldOf(object, key);
  return typeof value === "string" && value !== "" ? value : null;
}

export function objectOf(object: JsonObject, key: string): JsonObject | null {
  const value = fieldOf(object, key);
  return isObject(value) ? value : null;
}

/** @returns an empty list if the field is missing */
export function listOf(object: JsonObject, key: string): JsonValue[] {
  const value = fieldOf(object, key);
  return Array.isArray(value) ? value : [];
}

export function objectsOf(object: JsonObject, key: string): JsonObject[] {
  return listOf(object, key).filter(isObject);
}

export function textsOf(object: JsonObject, key: string): string[] {
  return listOf(object, key).filter((value) => typeof value === "string");
}

/**
 * Parses a JSON text, or explains why it cannot.
 * @param text the decoded bytes
 * @throws SbomRefusal too_large | truncated | malformed
 */
export function parseJson(bytes: Uint8Array, text: string, bounds: JsonBounds = sbomJsonBounds): JsonValue {
  return parsed(text, scanJson(bytes, bounds));
}

/** The same, but gives other work a turn between scanning and parsing. */
export async function parseJsonInTurns(
  { bytes, text, bounds }: { bytes: Uint8Array; text: string; bounds: JsonBounds },
  yielder: EventLoopYielder,
): Promise<JsonValue> {
  const whole = scanJson(bytes, bounds);
  await yielder.yieldIfDue();
  const value = parsed(text, whole);
  await yielder.yieldIfDue();
  return value;
}

interface JsonBounds {
  depthMax: number;
  valuesMax: number;
  /** Fields of one object. */
  fieldsMax: number;
}

const sbomJsonBounds: JsonBounds = { depthMax: sbomDepthMax, valuesMax: sbomValuesMax, fieldsMax: sbomFieldsMax };

/** @param whole whether the text ends outside any string, list or object */
function parsed(text: string, whole: boolean): JsonValue {
  try {
    return valueOf(text);
  } catch (error) {
    if (!whole) throw new SbomRefusal("truncated", "The document is JSON that ends in the middle; upload the whole file");
    throw new SbomRefusal(
      "malformed",
      `The document is not valid JSON: ${error instanceof Error ? error.message : "unknown error"}`,
    );
  }
}

/** JSON.parse returns only these kinds of values. */
function valueOf(text: string): JsonValue {
  return JSON.parse(text) as JsonValue;
}

interface Level {
  count: number;
  hashes: Int32Array;
  starts: Int32Array;
  ends: Int32Array;
  large: Set<string> | null;
}

const encoder = new TextEncoder();
const protoHash = hashOf(encoder.encode("__proto__"));
const smallMax = 32;
const decoder = new TextDecoder();

/** The keys of the objects that are open at a position in a JSON text. */
class ObjectKeys {
  readonly #bytes: Uint8Array;
  readonly #fieldsMax: number;
  readonly #levels: Level[] = [];

  /** @param fieldsMax of one object */
  constructor(bytes: Uint8Array, fieldsMax: number) {
    this.#bytes = bytes;
    this.#fieldsMax = fieldsMax;
  }

  /** Begins an object at this depth, and forgets the keys of the previous one there. */
  open(depth: number): void {
    const level = this.#level(depth);
    level.count = 0;
    level.large = null;
  }

  /**
   * @param start position of the opening quote
   * @param end position of the closing quote
   * @throws SbomRefusal malformed for a duplicate key or `__proto__`; too_large
   */
  add(depth: number, start: number, end: number): void {
    if (end - start > sbomKeyBytesMax)
      throw new SbomRefusal("too_large", `The document has a key longer than ${sbomKeyBytesMax} bytes`);
    const level = this.#level(depth);
    if (level.count >= this.#fieldsMax)
      throw new SbomRefusal("too_large", `The document has an object of more than ${this.#fieldsMax} fields`);
    const hash = this.#hash(start + 1, end);
    if (hash === protoHash && this.#text(start, end) === "__proto__") throw protoRefused();
    if (level.large !== null) addToLarge(level.large, this.#text(start, end));
    else this.#addToSmall({ level, hash, start, end });
    level.count++;
  }

  #addToSmall({ level, hash, start, end }: { level: Level; hash: number; start: number; end: number }): void {
    for (let index = 0; index < level.count; index++) {
      if (level.hashes[index] !== hash) continue;
      const text = this.#text(start, end);
      if (this.#text(level.starts[index] ?? 0, level.ends[index] ?? 0) === text) throw twice(text);
    }
    level.hashes[level.count] = hash;
    level.starts[level.count] = start;
    level.ends[level.count] = end;
    if (level.count + 1 < smallMax) return;
    const texts = Array.from(level.starts, (from, index) => this.#text(from, level.ends[index] ?? from));
    level.large = new Set(texts);
  }

  #level(depth: number): Level {
    const ints = () => new Int32Array(smallMax);
    return (this.#levels[depth] ??= { count: 0, hashes: ints(), starts: ints(), ends: ints(), large: null });
  }

  /** A key may be written with escapes, so they are decoded before hashing. */
  #hash(start: number, end: number): number {
    const bytes = this.#bytes.subarray(start, end);
    return hashOf(bytes.includes(backslash) ? encoder.encode(this.#text(start - 1, end)) : bytes);
  }

  /** An invalid text is compared as written; the parser refuses it later. */
  #text(start: number, end: number): string {
    const written = decoder.decode(this.#bytes.subarray(start, end + 1));
    try {
      return String(JSON.parse(written));
    } catch {
      return written;
    }
  }
}

/**
 * Ignores other faults, which the parser refuses.
 * @returns false if the text ends within a string, list or object
 * @throws SbomRefusal too_large for too many levels or values, malformed for a duplicate key or `__proto__`
 */
function scanJson(bytes: Uint8Array, { depthMax, valuesMax, fieldsMax }: JsonBounds): boolean {
  const tokens = new JsonTokens(bytes);
  const keys = new ObjectKeys(bytes, fieldsMax);
  const isObject = new Uint8Array(depthMax + 1);
  let depth = 0;
  let values = 1;
  let keyNext = false;
  for (let token = tokens.next(); token !== noToken; token = tokens.next()) {
    if (token === quote) {
      if (tokens.isCut) return false;
      if (keyNext) keys.add(depth, tokens.start, tokens.end - 1);
      keyNext = false;
    } else if (token === comma) {
      countValue(++values, valuesMax);
      keyNext = isObject[depth] === 1;
    } else if (token === openBrace || token === openBracket) {
      if (++depth > depthMax) throw new SbomRefusal("too_large", `The document is nested deeper than ${depthMax} levels`);
      countValue(++values, valuesMax);
      keyNext = token === openBrace;
      isObject[depth] = keyNext ? 1 : 0;
      if (keyNext) keys.open(depth);
    } else if (token === closeBrace || token === closeBracket) {
      if (depth > 0) depth--;
      keyNext = false;
    }
  }
  return depth === 0;
}

function countValue(values: number, max: number): void {
  if (values > max) throw new SbomRefusal("too_large", `The document holds more than ${max} JSON values`);
}

/** FNV-1a with 32 bits. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash | 0;
}

function addToLarge(keys: Set<string>, text: string): void {
  if (keys.has(text)) throw twice(text);
  keys.add(text);
}

function twice(key: string): SbomRefusal {
  const shown = key.length > 100 ? `${key.slice(0, 100)}…` : key;
  return new SbomRefusal("malformed", `The document has the key ${JSON.stringify(shown)} twice in one object; keep one of them`);
}

function protoRefused(): SbomRefusal {
  return new SbomRefusal(
    "malformed",
    'The document has an object with the key "__proto__", which no format of SBOM knows; remove it',
  );
}
