import type { Atom } from "./atom.ts";

/** A version as its ecosystem parses it. */
export interface ParsedVersion {
  atoms: Atom[];
  /** The leading numbers, without leading zeros: `1.2` of `1.2.3` is its release line. A name has none. */
  numbers: string[];
  /** Whether it precedes the release with the same numbers. */
  prerelease: boolean;
}

/** How an ecosystem orders its versions. */
export interface VersionOrder {
  /** @returns null for an invalid version, which counts as unknown and is never guessed */
  read(text: string): ParsedVersion | null;
  /** The padding of a shorter row of atoms. */
  padding: Atom;
}
