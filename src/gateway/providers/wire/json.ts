/** Reads JSON from others: every step may find something unexpected. */
import { isJsonObject } from "../../../http/json-object.ts";
import { jsonDepthMax } from "../../../http/limits.ts";

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
 * Writes what was read. That takes time by the square of its depth, so it may be as deep as a request.
 * @throws RangeError when it is deeper
 */
export function writtenJson(value: unknown): string {
  if (isDeeper(value, jsonDepthMax)) throw new RangeError("Cannot write JSON that is nested too deep");
  return JSON.stringify(value);
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}
