/** Parses a JSON text, or explains why it cannot. */
import type { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { SbomRefusal } from "../refusal.ts";
import { sbomJsonBounds, scanJson, type JsonBounds } from "./scan.ts";
import type { JsonValue } from "./value.ts";

/**
 * @param text the decoded bytes
 * @throws SbomRefusal too_large | truncated | malformed
 */
export function parseJson(bytes: Uint8Array, text: string, bounds: JsonBounds = sbomJsonBounds): JsonValue {
  return parsed(text, scanJson(bytes, bounds));
}

/** The same with a turn for others between the two looks at the text. */
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

/** @param whole whether the text ends outside of texts, lists and objects */
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
