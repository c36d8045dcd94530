/**
 * Semantic Versioning 2.0.0, with the precedence of section 11 (https://semver.org/#spec-item-11), for crates.io and OSV's SEMVER ranges,
 * and the deviations of npm, Go and NuGet. As OSV records require, a leading `v` is dropped, missing numbers are zero, leading zeros are
 * ignored and an empty identifier is `-`: https://github.com/google/osv.dev/blob/master/osv/semver_index.py
 */
import { numberAtom, withoutLeadingZeros, wordAtom, type Atom, type ParsedVersion, type VersionOrder } from "./version-order.ts";

/** A longer list of identifiers comes later, numbers precede words, and any prerelease precedes the release. */
const ranks = { end: 0, number: 1, word: 2, release: 3 };
const coreRank = 0;
export const semverOrder: VersionOrder = { read: readSemver, padding: wordAtom(ranks.end) };
const pattern = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([\dA-Za-z.-]+))?(?:\+[\dA-Za-z.-]*)?$/;

/**
 * npm: Semantic Versioning in node-semver's loose mode, in which a label needs no hyphen: `1.2.3beta`. Source:
 * https://github.com/npm/node-semver#versions
 */
export const npmOrder: VersionOrder = { read: readNpm, padding: semverOrder.padding };

/**
 * Go: Semantic Versioning with a `v` before it, which OSV records leave out. Pseudo-versions such as `v0.0.0-20200101…` are prereleases,
 * and `+incompatible` is ignored like any build metadata. Source: https://go.dev/ref/mod#versions
 */
export const goOrder: VersionOrder = { read: readGo, padding: semverOrder.padding };

/** Releases of Go itself, the versions of its standard library and toolchain: https://go.dev/doc/toolchain#version */
const release = /^(?:go)?(\d+)\.(\d+)(?:\.(\d+)|(beta|rc)(\d+))?$/;

/**
 * NuGet: up to four numbers, where missing ones are zero; labels as in Semantic Versioning, but case-insensitive; metadata after a plus is
 * ignored. Source: https://learn.microsoft.com/nuget/concepts/package-versioning
 */
export const nugetOrder: VersionOrder = { read: readNuget, padding: semverOrder.padding };

const nugetPattern = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:\.(\d+))?(?:-([\da-z-]+(?:\.[\da-z-]+)*))?(?:\+[\da-z.-]*)?$/;

function readSemver(text: string): ParsedVersion | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  const [, major = "0", minor = "0", patch = "0", label] = match;
  return parsedSemver({ numbers: [major, minor, patch], label });
}

/** @param label the text after the hyphen: identifiers joined by dots */
function parsedSemver({ numbers, label }: { numbers: string[]; label: string | undefined }): ParsedVersion {
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

function readNpm(text: string): ParsedVersion | null {
  const version = text.trim().replace(/^[=v\s]+/, "");
  return semverOrder.read(version) ?? semverOrder.read(version.replace(/^(\d+\.\d+\.\d+)(?=[A-Za-z])/, "$1-"));
}

function readGo(text: string): ParsedVersion | null {
  const [, major, minor, patch = "0", stage, count] = release.exec(text) ?? [];
  if (major === undefined || minor === undefined) return semverOrder.read(text);
  return parsedSemver({ numbers: [major, minor, patch], label: stage === undefined ? undefined : `${stage}.${count}` });
}

function readNuget(text: string): ParsedVersion | null {
  const match = nugetPattern.exec(text.trim().toLowerCase());
  if (match === null) return null;
  const [, major = "0", minor = "0", patch = "0", revision = "0", label] = match;
  return parsedSemver({ numbers: [major, minor, patch, revision], label });
}
