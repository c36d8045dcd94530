/**
 * Reads JSON from others: every step may find something unexpected, so each reader returns the value or null and throws nothing. Depth and
 * values are bounded where JSON is parsed or written again, also for the arguments of calls, which are JSON within strings.
 */
import { backslash, closeBracket, closeBrace, openBracket, openBrace, quote, comma, isJsonObject } from "../../../http/json.ts";
import { jsonDepthMax, jsonValuesMax } from "../../../http/limits.ts";

export type JsonObject = Record<string, unknown>;

/** Called for every delta of a stream, so it builds no list of the fields. */
export function isEmpty(object: JsonObject): boolean {
  for (const _field in object) return false;
  return true;
}

/** null if it is not an object. */
export function asObject(value: unknown): JsonObject | null {
  return isJsonObject(value) ? value : null;
}

/** null if it is not a text. */
export function asText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

const none: readonly unknown[] = Object.freeze([]);

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : none;
}

/** A token count: a whole number from 0; null for anything else. */
export function asCount(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Writes what was read. The time grows with the square of the depth, so it may be as deep as a request.
 * @throws RangeError when it is deeper
 */
export function writtenJson(value: unknown): string {
  if (isDeeper(value, jsonDepthMax)) throw new RangeError("Cannot write JSON that is nested too deep");
  return JSON.stringify(value);
}

/** Detects the end of one JSON object in pieces of text: where one call's arguments end and the next one's begin. */
export class WholeObject {
  #depth = 0;
  #quoted = false;
  #escaped = false;
  #begun = false;

  /** Whether an object has begun and ended. */
  get closed(): boolean {
    return this.#begun && this.#depth === 0;
  }

  feed(text: string): void {
    for (let at = 0; at < text.length; at++) this.#take(text.charCodeAt(at));
  }

  #take(unit: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (this.#quoted && unit === backslash) this.#escaped = true;
    else if (unit === quote) this.#quoted = !this.#quoted;
    else if (this.#quoted) return;
    else if (unit === openBrace || unit === openBracket) {
      this.#depth++;
      this.#begun = true;
    } else if (unit === closeBrace || unit === closeBracket) this.#depth--;
  }
}

/**
 * Parses the arguments of a request's calls, one after another. They are JSON within strings, which the check of the request's
 * own depth and values has not seen, so together they may be as deep and as many as a whole request.
 */
export class ToolArguments {
  #values = 0;

  /**
   * An empty text is a call without arguments.
   * @returns null if it is not a JSON object, too deep, or has too many values
   */
  read(text: string): JsonObject | null {
    if (text === "") return {};
    return this.#isBounded(text) ? asObject(parseJson(text)) : null;
  }

  #isBounded(text: string): boolean {
    let depth = 0;
    let quoted = false;
    this.#values++;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === quote) quoted = !quoted;
      else if (quoted) at += unit === backslash ? 1 : 0;
      else if (unit === comma) this.#values++;
      else if (unit === openBrace || unit === openBracket) depth++;
      else if (unit === closeBrace || unit === closeBracket) depth--;
      if (depth > jsonDepthMax || this.#values > jsonValuesMax) return false;
    }
    return true;
  }
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}
