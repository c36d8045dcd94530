/** Tool calls as SDKs need them: an index on every piece; id, type and name on the first of each call and on no other. */
import { asCount, asObject, asText, type JsonObject } from "../json.ts";

/** Calls of a whole answer. */
export function wholeToolCalls(values: readonly unknown[]): JsonObject[] {
  const pieces = new ToolCallPieces();
  return pieces.take(values.map((value, index) => ({ ...asObject(value), index }))).map(({ index: _, ...call }) => call);
}

/** The pieces of a stream, call by call. */
export class ToolCallPieces {
  readonly #ids: string[] = [];

  take(values: readonly unknown[]): JsonObject[] {
    const pieces: JsonObject[] = [];
    for (const value of values) {
      const piece = asObject(value);
      if (piece !== null) pieces.push(this.#one(piece));
    }
    return pieces;
  }

  #one(piece: JsonObject): JsonObject {
    const index = this.#indexOf(piece);
    const first = this.#ids[index] === undefined;
    if (first) this.#ids[index] = asText(piece["id"]) || `call_${index}`;
    const custom = asObject(piece["custom"]);
    if (custom) return first ? { index, id: this.#ids[index], type: "custom", custom } : { index, custom };
    const called = asObject(piece["function"]) ?? {};
    const text = argumentsText(called["arguments"]);
    if (!first) return { index, function: { arguments: text } };
    return { index, id: this.#ids[index], type: "function", function: { name: asText(called["name"]) ?? "", arguments: text } };
  }

  /** Some providers leave the index out: a new id then begins a new call, and no id goes on with the last one. */
  #indexOf(piece: JsonObject): number {
    const told = asCount(piece["index"]);
    if (told !== null && told <= this.#ids.length) return told;
    const id = asText(piece["id"]);
    if (!id) return Math.max(0, this.#ids.length - 1);
    const known = this.#ids.indexOf(id);
    return known === -1 ? this.#ids.length : known;
  }
}

/** Arguments are JSON text; some providers send the object itself. */
export function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
