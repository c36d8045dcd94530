/**
 * The basis of all version orders. A version is parsed into a sequence of atoms, and sequences compare like words in a dictionary, with the
 * shorter one padded. An ecosystem defines only how it parses a version, how it ranks its kinds of atoms, and what pads a sequence. An
 * invalid version has no position in any order: it counts as unknown and is never guessed.
 */

/** A version as its ecosystem parses it. */
export interface ParsedVersion {
  atoms: Atom[];
  /** The leading numbers, without leading zeros: `1.2` of `1.2.3` is its release line. A name has none. */
  numbers: string[];
  /** Whether it precedes the release with the same numbers. */
  prerelease: boolean;
  /** Its atoms without a local part, which a bound without one does not look at; absent: it has no local part. */
  publicAtoms?: Atom[];
}

/** How an ecosystem orders its versions. */
export interface VersionOrder {
  /** @returns null for an invalid version, which counts as unknown and is never guessed */
  read(text: string): ParsedVersion | null;
  /** Pads the shorter sequence of atoms. */
  padding: Atom;
}

export type Order = -1 | 0 | 1;

export interface Atom {
  /** Atoms of lower rank come first. All atoms of one rank are numbers, or all are words. */
  readonly rank: number;
  /** A number's digits without leading zeros. They stay text, because a number may exceed every exact numeric type. */
  readonly text: string;
  readonly numeric: boolean;
}

export function numberAtom(rank: number, digits: string): Atom {
  return { rank, text: withoutLeadingZeros(digits), numeric: true };
}

/** Words of one rank compare by their UTF-16 code units. */
export function wordAtom(rank: number, text = ""): Atom {
  return { rank, text, numeric: false };
}

/** Sequences of different lengths compare as if `padding` continued the shorter one forever. */
export function compareAtoms({ left, right, padding }: { left: readonly Atom[]; right: readonly Atom[]; padding: Atom }): Order {
  const length = Math.max(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const order = compareAtom(left[at] ?? padding, right[at] ?? padding);
    if (order !== 0) return order;
  }
  return 0;
}

export function withoutLeadingZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, "");
}

function compareAtom(left: Atom, right: Atom): Order {
  if (left.rank !== right.rank) return left.rank < right.rank ? -1 : 1;
  if (left.numeric && left.text.length !== right.text.length) return left.text.length < right.text.length ? -1 : 1;
  return compareText(left.text, right.text);
}

function compareText(left: string, right: string): Order {
  return left === right ? 0 : left < right ? -1 : 1;
}
