import { isCve } from "../advisories/advisory-id.ts";
import { advisoryIdCharactersMax } from "../limits.ts";

/**
 * An id of any database, as names are compared: trimmed, in capitals.
 * @returns null for what is no id: a CVE id has a year and a number, all others begin with the letters of their database
 */
export function readIdentifier(given: string): string | null {
  const id = given.trim().toUpperCase();
  if (id.length > advisoryIdCharactersMax || !/^[A-Z][A-Z0-9]*-[^\s\p{Cc}]+$/u.test(id)) return null;
  return id.startsWith("CVE-") && !isCve(id) ? null : id;
}
