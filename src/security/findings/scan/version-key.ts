import { createHash } from "node:crypto";
import { versionKeyBytesMax } from "../../limits.ts";

const beginningCharacters = 64;
const digestDigits = 16;

/**
 * What findings know a version by: its text. One that is too long for the database's indexes is no version that any ecosystem reads;
 * it is kept as its beginning with a digest of the whole. The empty text stands for none.
 */
export function versionKey(version: string | null): string {
  if (version === null) return "";
  if (Buffer.byteLength(version) <= versionKeyBytesMax) return version;
  const digest = createHash("sha256").update(version).digest("hex").slice(0, digestDigits);
  return `${version.slice(0, beginningCharacters).toWellFormed()}… (sha256 ${digest})`;
}
