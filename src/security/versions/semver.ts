/**
 * Semantic Versioning 2.0.0, precedence of section 11: https://semver.org/#spec-item-11
 * As records of OSV need it, a leading `v` is dropped, missing numbers are zero, leading zeros do not count and an empty
 * identifier is `-`: https://github.com/google/osv.dev/blob/master/osv/semver_index.py
 */
import { numberAtom, withoutLeadingZeros, wordAtom, type Atom } from "./atom.ts";
import type { ParsedVersion, VersionOrder } from "./version-order.ts";

/** A longer row of identifiers comes later, numbers precede words, and any prerelease precedes the release. */
const ranks = { end: 0, number: 1, word: 2, release: 3 };
const coreRank = 0;

export const semverOrder: VersionOrder = { read: readSemver, padding: wordAtom(ranks.end) };

const pattern = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([\dA-Za-z.-]+))?(?:\+[\dA-Za-z.-]*)?$/;

function readSemver(text: string): ParsedVersion | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  const [, major = "0", minor = "0", patch = "0", label] = match;
  return parsedSemver({ numbers: [major, minor, patch], label });
}

/** @param label the text after the hyphen: identifiers joined by dots */
export function parsedSemver({ numbers, label }: { numbers: string[]; label: string | undefined }): ParsedVersion {
  return {
    atoms: [...numbers.map((digits) => numberAtom(coreRank, digits)), ...labelAtoms(label)],
    numbers: numbers.map(withoutLeadingZeros),
    prerelease: label !== undefined,
  };
}

function labelAtoms(label: string | undefined): Atom[] {
  if (label === undefined) return [wordAtom(ranks.release)];
  return label.split(".").map((identifier) => {
    if (/^\d+$/.test(identifier)) return numberAtom(ranks.number, identifier);
    return wordAtom(ranks.word, identifier === "" ? "-" : identifier);
  });
}
