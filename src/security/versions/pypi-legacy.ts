/**
 * Versions of PyPI from before PEP 440, in the order of `LegacyVersion` of packaging 20, which setuptools had documented:
 * https://packaging.pypa.io/en/20.9/version.html#packaging.version.LegacyVersion
 */
import { numberAtom, withoutLeadingZeros, wordAtom, type Atom } from "./atom.ts";
import type { ParsedVersion } from "./version-order.ts";

/** Before the epoch that begins a version of PEP 440. */
const legacyRank = 0;
const ranks = { word: 1, number: 2 };

const spellings: Partial<Record<string, string>> = { pre: "c", preview: "c", rc: "c", "-": "final-", dev: "@" };
const final = "final";

/**
 * A text without a digit, or with characters of a range, a path or a placeholder, is not a version.
 * @param version in lower case, and not valid by PEP 440
 */
export function readLegacy(version: string): ParsedVersion | null {
  if (!/^[\da-z.!+_:~-]+$/.test(version) || !/\d/.test(version)) return null;
  const parts = version.match(/\d+|[a-z]+|-|[!+_:~]+/g) ?? [];
  const atoms: Atom[] = [wordAtom(legacyRank)];
  for (const part of [...parts, final]) push(atoms, part);
  const numbers = parts.filter((part) => /\d/.test(part)).map(withoutLeadingZeros);
  return { atoms, numbers, prerelease: parts.some((part) => /^(?:a|alpha|b|beta|c|rc|pre|preview|dev)$/.test(part)) };
}

/** A word before the final version removes dashes, and any word removes the zeros before it: `1.0-rc1` is `1c1`. */
function push(atoms: Atom[], part: string): void {
  if (/^\d/.test(part)) {
    atoms.push(numberAtom(ranks.number, part));
    return;
  }
  const word = spellings[part] ?? part;
  if (word < final) while (atoms.at(-1)?.text === "final-") atoms.pop();
  while (isZero(atoms.at(-1))) atoms.pop();
  atoms.push(wordAtom(ranks.word, word));
}

function isZero(atom: Atom | undefined): boolean {
  return atom?.numeric === true && atom.text === "0";
}
