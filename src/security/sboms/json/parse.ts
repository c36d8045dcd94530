/** Parses a JSON text, or explains why it cannot. */
import { SbomRefusal } from "../refusal.ts";
import { sbomJsonBounds, scanJson, type JsonBounds } from "./scan.ts";
import type { JsonValue } from "./value.ts";

/**
 * @param text the decoded bytes
 * @throws SbomRefusal too_large | truncated | malformed
 */
export function parseJson(bytes: Uint8Array, text: string, bounds: JsonBounds = sbomJsonBounds): JsonValue {
  const whole = scanJson(bytes, bounds);
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
