/** Which version to go to: the nearest one that is not affected. */
import type { Affected } from "./osv-affected.ts";
import { evaluate, evaluateAll } from "./osv-range.ts";
import { compareVersions, readVersion, type KnownVersion, type Version } from "./version.ts";

export type Upgrade =
  | {
      found: true;
      version: string;
      /** How far it is: within the installed `major.minor`, within its major version, or beyond. */
      step: "line" | "major" | "beyond";
      /** No release clears it yet; offered to a release only for want of one. */
      prerelease: boolean;
    }
  | { found: false; reason: NoUpgradeReason };

export type NoUpgradeReason =
  /** The installed version has no place in the order. */
  | "version_unknown"
  | "not_affected"
  /** No record names a version above the installed one that fixes it. */
  | "no_fix_known"
  /** Each version that fixes one is affected by another, or cannot be held against it. */
  | "no_version_clears_all";

export interface UpgradeSearch {
  installed: Version;
  /** The entries of one record, or of all records that concern the component. */
  entries: readonly Affected[];
  /** Published versions, where they are known: then one of these is named if one clears all. */
  published?: readonly string[];
}

/**
 * The smallest version above the installed one that none of the entries affects. Releases go before prereleases, unless a
 * prerelease is installed. The smallest is on the installed version's own line wherever one on that line is clear.
 */
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

/** What refused one version mostly refuses the next one too, so it is asked first: else a package of many records takes long. */
function firstClear({ versions, entries }: { versions: KnownVersion[]; entries: readonly Affected[] }): KnownVersion | undefined {
  let strictest: Affected | undefined;
  return versions.find((version) => {
    const refuses = (affected: Affected) => evaluate({ version, affected }).state !== "unaffected";
    if (strictest !== undefined && refuses(strictest)) return false;
    strictest = entries.find(refuses);
    return strictest === undefined;
  });
}

function fixesOf({ ranges }: Affected): string[] {
  const events = ranges.flatMap((range) => (range.readable ? range.events : []));
  return events.filter(({ kind }) => kind === "fixed").map(({ text }) => text);
}

/** Those above the installed version, each once, in the order in which they are to be tried. */
function upgradesOf({ installed, texts }: { installed: KnownVersion; texts: readonly string[] }): KnownVersion[] {
  const versions = [...new Set(texts)].map((text) => readVersion({ scheme: installed.scheme, text }));
  const above = versions.filter((version) => version.known).filter((version) => compareVersions(version, installed) > 0);
  const ascending = above.toSorted(compareVersions);
  if (installed.prerelease) return ascending;
  return [...ascending.filter(({ prerelease }) => !prerelease), ...ascending.filter(({ prerelease }) => prerelease)];
}

function stepOf({ installed, chosen }: { installed: KnownVersion; chosen: KnownVersion }): "line" | "major" | "beyond" {
  if (installed.numbers.length === 0 || installed.numbers[0] !== chosen.numbers[0]) return "beyond";
  return (installed.numbers[1] ?? "0") === (chosen.numbers[1] ?? "0") ? "line" : "major";
}
