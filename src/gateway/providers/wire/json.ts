/** Looking into JSON that somebody else wrote: every step may find something other than expected. */

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Asked of every delta of a stream, so without a list of its fields. */
export function isEmpty(object: JsonObject): boolean {
  for (const _field in object) return false;
  return true;
}

/** null: it is no object. */
export function asObject(value: unknown): JsonObject | null {
  return isObject(value) ? value : null;
}

/** null: it is no text. */
export function asText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

const none: readonly unknown[] = Object.freeze([]);

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : none;
}

/** A count of tokens: a whole number from 0; anything else is no count. */
export function asCount(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** undefined: it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
