/** The text of a statement that is stored and hashed: JSON by https://www.rfc-editor.org/rfc/rfc8785 */
import { createHash } from "node:crypto";
import type { StatementDocument } from "./schema.ts";

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Names in the order of their code units, and no space. Amounts are texts, so that all numbers are whole. */
function canonicalText(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalText).join(",")}]`;
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalText(field)}`).join(",")}}`;
}

/** `Array.isArray` does not narrow read-only arrays. */
function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}

export interface HashedDocument {
  text: string;
  /** SHA-256 of the text in UTF-8, in hexadecimal digits. */
  sha256: string;
}

export function hashedDocument(document: StatementDocument): HashedDocument {
  const text = canonicalText(document);
  return { text, sha256: createHash("sha256").update(text, "utf8").digest("hex") };
}

/** Only `hashedDocument` makes such texts, and no stored one changes. */
export function parseDocument(text: string): StatementDocument {
  return JSON.parse(text) as StatementDocument;
}
