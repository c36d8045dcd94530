import type { Atom } from "./atom.ts";

/** A version as its ecosystem reads it. */
export interface ParsedVersion {
  atoms: Atom[];
  /** The numbers that it begins with, without leading zeros: `1.2` of `1.2.3` is its release line. A name has none. */
  numbers: string[];
  /** Made before the release whose numbers it has. */
  prerelease: boolean;
}

/** How an ecosystem orders its versions. */
export interface VersionOrder {
  /** @returns null where the text is no version of the ecosystem: such a version is unknown and never guessed */
  read(text: string): ParsedVersion | null;
  /** What stands behind the end of a shorter row of atoms. */
  padding: Atom;
}
