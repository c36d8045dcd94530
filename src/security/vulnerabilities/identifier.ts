import { isCve } from "../advisories/advisory-id.ts";
import { advisoryIdCharactersMax } from "../limits.ts";

/**
 * Reads an id of any database: trims it and writes it in capitals, as names are compared.
 * @returns null for a text that is not an id: a CVE id has a year and a number, all others begin with the letters of their database
 */
export function readIdentifier(given: string): string | null {
  const id = given.trim().toUpperCase();
  if (id.length > advisoryIdCharactersMax || !/^[A-Z][A-Z0-9]*-[^\s\p{Cc}]+$/u.test(id)) return null;
  return id.startsWith("CVE-") && !isCve(id) ? null : id;
}
