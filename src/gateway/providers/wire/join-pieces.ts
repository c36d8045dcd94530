/** Joins the pieces of a message: texts are appended, tool calls are joined by their index. */
import { asCount, asObject, asText, type JsonObject } from "./json.ts";

/** A message without pieces. It has no prototype, so that a provider's field named `__proto__` is an ordinary field. */
export function blank(): JsonObject {
  return Object.create(null);
}

/** Adds a delta, as the formats' decoders make it, to the message so far. */
export function joinPiece(message: JsonObject, delta: JsonObject): void {
  for (const [name, more] of Object.entries(delta)) message[name] = joined(message[name], more);
}

function joined(value: unknown, more: unknown): unknown {
  if (typeof more === "string") return (asText(value) ?? "") + more;
  if (Array.isArray(more)) return joinedList(Array.isArray(value) ? value : [], more);
  const fields = asObject(more);
  if (fields === null) return more ?? value;
  const whole = asObject(value) ?? blank();
  joinPiece(whole, fields);
  return whole;
}

function joinedList(list: unknown[], pieces: readonly unknown[]): unknown[] {
  for (const piece of pieces) {
    const { index, ...rest } = asObject(piece) ?? {};
    const place = asCount(index);
    if (place === null) list.push(piece);
    else if (place < list.length) list[place] = joined(list[place], rest);
    // A provider's large index must not make a long list.
    else list.push(joined(undefined, rest));
  }
  return list;
}
