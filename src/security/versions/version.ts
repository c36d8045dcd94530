/**
 * Versions of any ecosystem: parsed once, compared often. Two versions of one scheme are equal if and only if their keys are, in any
 * spelling. A version that cannot be read is shown with the reason, and no conclusion is drawn from it.
 */
import { compareAtoms, type Atom, type Order, type ParsedVersion, type VersionOrder } from "./version-order.ts";
import type { Ecosystem } from "./ecosystem.ts";
import { goOrder, npmOrder, nugetOrder, semverOrder } from "./semver.ts";
import { mavenOrder } from "./maven.ts";
import { pypiOrder } from "./pypi.ts";
import { rubygemsOrder } from "./rubygems.ts";
import { versionCharactersMax } from "../limits.ts";

/** The scheme of a range: an ecosystem's, or plain Semantic Versioning. */
export type VersionScheme = Ecosystem | "SemVer";

const orders: Record<VersionScheme, VersionOrder> = {
  npm: npmOrder,
  PyPI: pypiOrder,
  Maven: mavenOrder,
  Go: goOrder,
  "crates.io": semverOrder,
  RubyGems: rubygemsOrder,
  NuGet: nugetOrder,
  SemVer: semverOrder,
};

export interface KnownVersion extends ParsedVersion {
  known: true;
  scheme: VersionScheme;
  /** As written. */
  text: string;
  /** Two versions of one scheme have equal keys if and only if they compare as equal. */
  key: string;
}

/** It has no order relative to other versions: it is shown, and nothing is concluded from it. */
interface UnknownVersion {
  known: false;
  text: string;
  /** A clause, such as `"abc" is not a version of npm`. */
  reason: string;
}

export type Version = KnownVersion | UnknownVersion;

/** Takes time proportional to the text's length, which is at most `versionCharactersMax` characters. */
export function readVersion({ scheme, text }: { scheme: VersionScheme; text: string }): Version {
  if (text.length > versionCharactersMax) {
    const reason = `"${text.slice(0, 40)}…" is longer than ${versionCharactersMax} characters`;
    return { known: false, text, reason };
  }
  const reading = orders[scheme].read(text);
  if (reading === null) return { known: false, text, reason: `"${text}" is not a version of ${scheme}` };
  return { known: true, scheme, text, key: keyOf({ scheme, atoms: reading.atoms }), ...reading };
}

/** A total order in which equal versions are the same version in any spelling. Both must have the same scheme. */
export function compareVersions(left: KnownVersion, right: KnownVersion): Order {
  return compareAtoms({ left: left.atoms, right: right.atoms, padding: orders[left.scheme].padding });
}

/**
 * The version without its local part, as PEP 440 compares it with a bound or an entry of a list that has none
 * (https://packaging.python.org/en/latest/specifications/version-specifiers/#version-matching); a version without a local part unchanged.
 */
export function publicVersion(version: KnownVersion): KnownVersion {
  const { publicAtoms: atoms, ...rest } = version;
  return atoms === undefined ? version : { ...rest, atoms, key: keyOf({ scheme: version.scheme, atoms }) };
}

/** The atoms without trailing padding. */
function keyOf({ scheme, atoms }: { scheme: VersionScheme; atoms: readonly Atom[] }): string {
  const { padding } = orders[scheme];
  const end = atoms.findLastIndex(({ rank, text }) => rank !== padding.rank || text !== padding.text) + 1;
  // PostgreSQL can store these separators.
  const parts = atoms.slice(0, end).map(({ rank, text }) => `${rank}\u001f${text}`);
  return parts.join("\u001e");
}
