/**
 * Version ranges of statements: `vers:npm/>=1.2.0|<2.0.0`, parsed once and compared with many versions.
 *
 * Source: https://github.com/package-url/vers-spec/blob/main/VERSION-RANGE-SPEC.md, whose algorithm this follows on the constraints in the
 * order of their versions. The scheme has to be the package's own, or one that has the same order; `generic` has no order of its own, so
 * that of the package holds. A range in another scheme, with a version that cannot be read, or with too many constraints has no answer: nothing is concluded from it.
 */
import { ecosystemOfPackageUrlType, type Ecosystem } from "./ecosystem.ts";
import { versConstraintsMax } from "../limits.ts";
import { compareVersions, readVersion, type KnownVersion } from "./version.ts";

/** Longer ones first. */
const comparators = ["!=", "<=", ">=", "<", ">", "="] as const;
type Comparator = (typeof comparators)[number];

interface Constraint {
  comparator: Comparator;
  at: KnownVersion;
}

/** `all` contains every version. */
export type VersRange = "all" | VersConstraints;

interface VersConstraints {
  /** By key: the comparator of the constraint that names exactly this version. */
  named: ReadonlyMap<string, Comparator>;
  /** Those that compare, in the order of their versions. */
  bounds: readonly Constraint[];
  /** Whether it only names versions that it leaves out. */
  onlyExcludes: boolean;
}

/** @returns null for a range that cannot be compared with the ecosystem's versions */
export function readVersRange(text: string, ecosystem: Ecosystem): VersRange | null {
  const [, scheme = "", listed = ""] = /^vers:([a-z][a-z0-9.-]*)\/(.+)$/i.exec(text.replaceAll(/\s/g, "")) ?? [];
  if (listed === "" || !isComparable(scheme.toLowerCase(), ecosystem)) return null;
  if (listed === "*") return "all";
  const constraints: Constraint[] = [];
  const parts = listed.split("|", versConstraintsMax + 1);
  if (parts.length > versConstraintsMax) return null;
  for (const part of parts) {
    if (part === "") continue;
    const constraint = constraintOf(part, ecosystem);
    if (constraint === null) return null;
    constraints.push(constraint);
  }
  if (constraints.length === 0) return null;
  const bounds = constraints.filter(({ comparator }) => comparator !== "=" && comparator !== "!=");
  return {
    named: new Map(constraints.map(({ comparator, at }) => [at.key, comparator])),
    bounds: bounds.toSorted((one, other) => compareVersions(one.at, other.at)),
    onlyExcludes: constraints.every(({ comparator }) => comparator === "!="),
  };
}

/** @param version of the ecosystem that the range was read for */
export function isInRange(version: KnownVersion, range: VersRange): boolean {
  if (range === "all") return true;
  const named = range.named.get(version.key);
  if (named !== undefined) return named === "=" || named === "<=" || named === ">=";
  if (range.onlyExcludes) return true;
  const before = boundBefore(version, range.bounds);
  const [lower, upper] = [range.bounds[before], range.bounds[before + 1]];
  if (lower === undefined) return upper !== undefined && opensDown(upper);
  if (upper === undefined) return !opensDown(lower);
  return !opensDown(lower) && opensDown(upper);
}

/** Plain Semantic Versioning has the order of these ecosystems. */
const semantic: ReadonlySet<Ecosystem> = new Set(["npm", "Go", "crates.io"]);

function isComparable(scheme: string, ecosystem: Ecosystem): boolean {
  if (scheme === "all" || scheme === "generic") return true;
  return scheme === "semver" ? semantic.has(ecosystem) : ecosystemOfPackageUrlType(scheme) === ecosystem;
}

function constraintOf(part: string, ecosystem: Ecosystem): Constraint | null {
  const comparator = comparators.find((one) => part.startsWith(one)) ?? null;
  const at = readVersion({ scheme: ecosystem, text: decoded(part.slice(comparator?.length ?? 0)) });
  return at.known ? { comparator: comparator ?? "=", at } : null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function opensDown({ comparator }: Constraint): boolean {
  return comparator === "<" || comparator === "<=";
}

/** The position of the last bound below the version, which no bound names; -1: none. */
function boundBefore(version: KnownVersion, bounds: readonly Constraint[]): number {
  let [low, high] = [0, bounds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const bound = bounds[middle];
    if (bound !== undefined && compareVersions(bound.at, version) < 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
