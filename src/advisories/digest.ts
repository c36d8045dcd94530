/** When two records say the same: by a digest of their canonical form, in which the order of fields does not count. */
import { createHash } from "node:crypto";

/** SHA-256 in hexadecimal. @param record whose depth `readAdvisory` has bounded */
export function digestOf(record: unknown): string {
  return createHash("sha256").update(canonicalJson(record)).digest("hex");
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(",")}}`;
}
