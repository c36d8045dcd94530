/** Tables of versions: what comes before what, and what is the same. */
import { expect } from "bun:test";
import { compareVersions, readVersion, type KnownVersion, type VersionScheme } from "../../../src/security/versions/version.ts";

export function known({ scheme, text }: { scheme: VersionScheme; text: string }): KnownVersion {
  const version = readVersion({ scheme, text });
  if (!version.known) throw new Error(`Cannot read a version of a table: ${version.reason}`);
  return version;
}

/** @param rows from the lowest to the highest; versions in one row are equal, spelled with spaces between them */
export function expectOrder({ scheme, rows }: { scheme: VersionScheme; rows: readonly string[] }): void {
  const versions = rows.flatMap((row, rank) => row.split(" ").map((text) => ({ rank, version: known({ scheme, text }) })));
  const wrong: string[] = [];
  for (const left of versions) {
    for (const right of versions) {
      const order = compareVersions(left.version, right.version);
      if (order !== Math.sign(left.rank - right.rank))
        wrong.push(`${left.version.text} against ${right.version.text} gave ${order}`);
    }
  }
  expect(wrong).toEqual([]);
}

export function expectUnknown({ scheme, texts }: { scheme: VersionScheme; texts: readonly string[] }): void {
  expect(texts.filter((text) => readVersion({ scheme, text }).known)).toEqual([]);
}
