/** Texts that JSON can write and no database keeps: refused with the record, for a changed one would not be the source's any longer. */
import { RecordError } from "./record-error.ts";

/**
 * @param value as a parser of JSON or YAML gave it, which bounds its depth
 * @throws RecordError naming the first such text
 */
export function requireStorable(value: unknown, path = ""): void {
  if (typeof value === "string") return requireText(value, path);
  if (Array.isArray(value)) return value.forEach((entry: unknown, index) => requireStorable(entry, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    const below = path === "" ? key : `${path}.${key}`;
    requireText(key, below);
    requireStorable(field, below);
  }
}

function requireText(text: string, path: string): void {
  if (text.includes("\0")) throw new RecordError(path, "holds the character U+0000, which cannot be stored");
  if (!text.isWellFormed()) throw new RecordError(path, "holds half a surrogate pair, which is no character");
}
