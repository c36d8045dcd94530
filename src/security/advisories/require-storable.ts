/** Refuses texts that JSON allows and the database cannot store. A record is not repaired, so that it stays the same as its source. */
import { jsonDepthMax } from "../../http/limits.ts";
import { RecordError } from "./reading/record-error.ts";

/** @throws RecordError for the first text that cannot be stored, and for more than `jsonDepthMax` levels */
export function requireStorable(value: unknown): void {
  requireBelow(value, "", 0);
}

function requireBelow(value: unknown, path: string, depth: number): void {
  if (typeof value === "string") return requireText(value, path);
  if (typeof value !== "object" || value === null) return;
  if (depth === jsonDepthMax) throw new RecordError("", `is nested more than ${jsonDepthMax} levels deep`);
  if (Array.isArray(value)) return value.forEach((entry: unknown, index) => requireBelow(entry, `${path}[${index}]`, depth + 1));
  for (const [key, field] of Object.entries(value)) {
    const below = path === "" ? key : `${path}.${key}`;
    requireText(key, below);
    requireBelow(field, below, depth + 1);
  }
}

function requireText(text: string, path: string): void {
  if (text.includes("\0")) throw new RecordError(path, "has the character U+0000, which cannot be stored");
  if (!text.isWellFormed()) throw new RecordError(path, "has half a surrogate pair, which is not a character");
}
