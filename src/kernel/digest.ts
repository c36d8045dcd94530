/** Digests JSON values: the order of fields does not matter. The canonical form is that of RFC 8785. */
import { createHash } from "node:crypto";
import { byCodeUnits } from "./by-code-units.ts";

/** SHA-256 in hexadecimal. @param value of JSON, of bounded depth */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([one], [other]) => byCodeUnits(one, other));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(",")}}`;
}
