/**
 * Parses the bytes of a body as one JSON object.
 *
 * JSON.parse blocks the event loop, and values and nesting make it slow, not bytes. So a scan counts both first, in one pass without
 * allocating memory. Half a surrogate pair is refused, because providers reject it with various errors. The last of repeated keys
 * counts, as everywhere in JavaScript. A client cannot use that to hide a value: this one parse is checked and priced, and providers
 * get it written again, never the client's bytes.
 */
import { invalidRequest } from "../kernel/errors.ts";
import { quote, backslash, colon, comma, openBracket, openBrace, isBlank, JsonTokens, noToken } from "./json-tokens.ts";
import { jsonDepthMax, jsonFieldsMax, jsonValuesMax } from "./limits.ts";

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * @throws GatewayError invalid_request for bytes that are not UTF-8, not JSON, too deep or not an object, or have too many fields or values
 */
export function parseJsonObject(bytes: Uint8Array, valuesMax?: number): JsonObject {
  scanJson(bytes, valuesMax === undefined ? {} : { valuesMax });
  const body = parse(decode(bytes));
  if (!isJsonObject(body)) throw invalidRequest(undefined, "The request body must be a JSON object");
  return body;
}

interface JsonBounds {
  /** Absent: `jsonValuesMax`. */
  valuesMax?: number;
  /** Absent: `jsonDepthMax`. The fields of deeper objects are not counted. */
  depthMax?: number;
}

/** Fields of the open objects, by depth; shared, because scans never overlap. */
const fieldsAt = new Uint32Array(jsonDepthMax + 1);

/**
 * Ignores texts that are not JSON: the parser refuses those.
 * @throws GatewayError invalid_request beyond 64 levels, 5,000 fields of an object or too many values, or at half a surrogate pair
 */
export function scanJson(bytes: Uint8Array, { valuesMax = jsonValuesMax, depthMax = jsonDepthMax }: JsonBounds = {}): void {
  const tokens = new JsonTokens(bytes);
  let depth = 0;
  // Every comma separates two values, and a container that is not empty has one value more than commas.
  let values = 1;
  /** The index after the opening of a container until something follows; otherwise -1. */
  let opened = -1;
  for (let token = tokens.next(); token !== noToken; token = tokens.next()) {
    if (token === quote) {
      if (tokens.mayHaveSurrogate) requirePairs(bytes, tokens);
    } else if (token === comma) values++;
    else if (token === colon) countField(depth);
    else if (token === openBrace || token === openBracket) {
      if (++depth > depthMax) throw invalidRequest(undefined, `The request body is nested deeper than ${depthMax} levels`);
      fieldsAt[depth] = 0;
      values++;
      opened = tokens.end;
      continue;
    } else {
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

function decode(bytes: Uint8Array): string {
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

const lowerU = 0x75;

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

/** Outside strings only fields have a colon; the parser refuses a colon outside an object. */
function countField(depth: number): void {
  if (depth < 1) return;
  const fields = (fieldsAt[depth] ?? 0) + 1;
  fieldsAt[depth] = fields;
  if (fields > jsonFieldsMax)
    throw invalidRequest(undefined, `The request body has an object of more than ${jsonFieldsMax} fields`);
}
