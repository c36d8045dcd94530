import { createHash } from "node:crypto";
import { versionKeyBytesMax } from "../../limits.ts";

const beginningCharacters = 64;
const digestDigits = 16;

/**
 * The key of a version in findings: its text, or an empty string for no version. A text that is too long for the database's indexes is not
 * a version of any ecosystem; its key is its beginning with a digest of the whole.
 */
export function versionKey(version: string | null): string {
  if (version === null) return "";
  if (Buffer.byteLength(version) <= versionKeyBytesMax) return version;
  const digest = createHash("sha256").update(version).digest("hex").slice(0, digestDigits);
  return `${version.slice(0, beginningCharacters).toWellFormed()}… (sha256 ${digest})`;
}
