/**
 * Finds the version to upgrade to: the smallest one above the installed version that no entry affects.
 *
 * Versions of the installed release line come before all later ones, and releases before prereleases, unless a prerelease is installed.
 * Candidates are the versions that records name as fixes, or the published versions if known. Without a candidate, the answer says why. A
 * version that cannot be compared with an entry is never recommended.
 */
import { type Affected, evaluate, evaluateAll } from "./osv-range.ts";
import { compareVersions, readVersion, type KnownVersion, type Version } from "./version.ts";

export type UpgradeStep = "patch" | "minor" | "major";

export type Upgrade =
  | {
      found: true;
      version: string;
      /** The first number that differs from the installed version's; `patch` also if only later parts differ. */
      step: UpgradeStep;
      /** No release is unaffected yet. If a release is installed, a prerelease is the last resort. */
      prerelease: boolean;
    }
  | { found: false; reason: NoUpgradeReason };

export type NoUpgradeReason =
  /** The installed version cannot be ordered. */
  | "version_unknown"
  | "not_affected"
  /** No record names a fixed version above the installed one. */
  | "no_fix_known"
  /** Each fixed version is affected by another entry, or cannot be compared with it. */
  | "no_version_clears_all";

interface UpgradeSearch {
  installed: Version;
  /** The entries of one record, or of all records about the component. */
  entries: readonly Affected[];
  /** Published versions if known: if any is unaffected, one of them is returned. */
  published?: readonly string[];
}

/** The result is on the installed version's release line if possible. */
export function nearestUnaffected({ installed, entries, published = [] }: UpgradeSearch): Upgrade {
  if (!installed.known) return { found: false, reason: "version_unknown" };
  if (evaluateAll({ version: installed, entries }).state === "unaffected") return { found: false, reason: "not_affected" };
  const candidates = [published, entries.flatMap(fixesOf)].map((texts) => upgradesOf({ installed, texts }));
  for (const versions of candidates) {
    const clear = firstClear({ versions, entries });
    if (clear !== undefined) {
      return { found: true, version: clear.text, step: stepOf({ installed, chosen: clear }), prerelease: clear.prerelease };
    }
  }
  return { found: false, reason: candidates.some((versions) => versions.length > 0) ? "no_version_clears_all" : "no_fix_known" };
}

function fixesOf({ ranges }: Affected): string[] {
  const events = ranges.flatMap((range) => (range.readable ? range.events : []));
  return events.filter(({ kind }) => kind === "fixed").map(({ text }) => text);
}

/** Versions above the installed one, without duplicates, in the order in which they are tried. */
function upgradesOf({ installed, texts }: { installed: KnownVersion; texts: readonly string[] }): KnownVersion[] {
  const versions = [...new Set(texts)].map((text) => readVersion({ scheme: installed.scheme, text }));
  const above = versions.filter((version) => version.known).filter((version) => compareVersions(version, installed) > 0);
  const ascending = above.toSorted(compareVersions);
  if (installed.prerelease) return ascending;
  return [...ascending.filter(({ prerelease }) => !prerelease), ...ascending.filter(({ prerelease }) => prerelease)];
}

/**
 * The entry that ruled out one version usually rules out the next one too, so it is checked first: otherwise packages with many records
 * take too long.
 */
function firstClear({ versions, entries }: { versions: KnownVersion[]; entries: readonly Affected[] }): KnownVersion | undefined {
  let strictest: Affected | undefined;
  return versions.find((version) => {
    const refuses = (affected: Affected) => evaluate({ version, affected }).state !== "unaffected";
    if (strictest !== undefined && refuses(strictest)) return false;
    strictest = entries.find(refuses);
    return strictest === undefined;
  });
}

function stepOf({ installed, chosen }: { installed: KnownVersion; chosen: KnownVersion }): UpgradeStep {
  if (installed.numbers.length === 0 || installed.numbers[0] !== chosen.numbers[0]) return "major";
  return (installed.numbers[1] ?? "0") === (chosen.numbers[1] ?? "0") ? "patch" : "minor";
}
