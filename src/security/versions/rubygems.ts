/**
 * RubyGems: a version is a sequence of numbers and words. A word makes it a prerelease and precedes any number; missing parts are zero.
 * Source: https://docs.ruby-lang.org/en/master/Gem/Version.html
 */
import { numberAtom, wordAtom, type Atom, type ParsedVersion, type VersionOrder } from "./version-order.ts";

const ranks = { word: 0, number: 1 };
const zero = numberAtom(ranks.number, "0");
export const rubygemsOrder: VersionOrder = { read: readGem, padding: zero };
const pattern = /^\d[\dA-Za-z]*(?:\.[\dA-Za-z]+)*(?:-[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;

function readGem(text: string): ParsedVersion | null {
  const version = text.trim();
  if (!pattern.test(version)) return null;
  const segments = version.replaceAll("-", ".pre.").match(/\d+|[A-Za-z]+/g) ?? [];
  const atoms = segments.map((segment) =>
    /\d/.test(segment) ? numberAtom(ranks.number, segment) : wordAtom(ranks.word, segment),
  );
  const firstWord = atoms.findIndex(({ numeric }) => !numeric);
  const numbers = atoms.slice(0, firstWord === -1 ? atoms.length : firstWord);
  return {
    atoms: [...withoutTrailingZeros(numbers), ...withoutTrailingZeros(atoms.slice(numbers.length))],
    numbers: numbers.map(({ text: digits }) => digits),
    prerelease: firstWord !== -1,
  };
}

/** `1.0.a` is `1.a` and `1.a.0` is `1.a`: zeros count only before a number. */
function withoutTrailingZeros(atoms: Atom[]): Atom[] {
  return atoms.slice(0, atoms.findLastIndex(({ numeric, text }) => !numeric || text !== "0") + 1);
}
