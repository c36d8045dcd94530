/**
 * Matches the versions of a package with the records about it. An issue and a version give one match, however many records describe the
 * issue. A version that cannot be compared with a record gives an unknown match.
 */
import type { Ecosystem } from "../../versions/ecosystem.ts";
import type { Affected, OsvAffected } from "../../versions/osv-affected.ts";
import { evaluate } from "../../versions/osv-range.ts";
import { nearestUnaffected } from "../../versions/nearest-unaffected.ts";
import { versionToMatch } from "../../versions/version-to-match.ts";
import { readVersion, type Version } from "../../versions/version.ts";
import { evidenceOf, type Evidence, type SourceMatch } from "./evidence.ts";
import { versionKey } from "./version-key.ts";

/** An entry of a record that is not withdrawn, about one package. */
export interface RecordEntry {
  /** Id of the record. */
  source: string;
  entry: OsvAffected;
  /** The parsed entry. */
  affected: Affected;
  /** null: none. */
  customRanges: unknown;
}

/** One issue in one package. */
export interface Issue {
  vulnerability: bigint;
  rank: number;
  /** The entries of all records about it, in the order of their ids. A record may be about other issues too. */
  entries: RecordEntry[];
}

/** A version of a package in an SBOM. */
export interface Component {
  package: bigint;
  ecosystem: Ecosystem;
  /** null: the SBOM has none. */
  version: string | null;
  name: string;
  purl: string | null;
}

export interface Match {
  package: bigint;
  /** The version key of findings. */
  version: string;
  vulnerability: bigint;
  rank: number;
  component: string;
  purl: string | null;
  fixVersion: string | null;
  evidence: Evidence;
}

export interface Unknown {
  package: bigint;
  version: string;
  vulnerability: bigint;
  /** A clause after the id of the record. */
  reason: string;
}

export interface Matched {
  matches: Match[];
  unknowns: Unknown[];
}

/** Matches one component with all known issues of its package. */
export function matchComponent(component: Component, issues: readonly Issue[]): Matched {
  const installed = installedVersion(component);
  const matched: Matched = { matches: [], unknowns: [] };
  for (const issue of issues) {
    const { sources, unknown } = evaluateIssue(installed, issue);
    const about = { package: component.package, version: versionKey(component.version), vulnerability: issue.vulnerability };
    if (sources.length > 0) {
      const { name, purl } = component;
      const fixVersion = fixOf(installed, issue);
      matched.matches.push({ ...about, rank: issue.rank, component: name, purl, fixVersion, evidence: evidenceOf(sources) });
    } else if (unknown !== null) {
      matched.unknowns.push({ ...about, reason: unknown });
    }
  }
  return matched;
}

/** The version that is compared with records. It may be a part of the shown version. */
export function installedVersion({ ecosystem, version, purl }: Pick<Component, "ecosystem" | "version" | "purl">): Version {
  if (version === null) return { known: false, text: "", reason: "the document names no version" };
  return readVersion({ scheme: ecosystem, text: versionToMatch({ ecosystem, version, purl }) });
}

/** Compares a version with the records of an issue. It is unknown only if no record lists it as affected. */
function evaluateIssue(version: Version, { entries }: Issue): { sources: SourceMatch[]; unknown: string | null } {
  const sources: SourceMatch[] = [];
  let unknown: string | null = null;
  for (const { source, entry, affected, customRanges } of entries) {
    const verdict = evaluate({ version, affected });
    if (verdict.state === "affected") sources.push({ source, entry, evidence: verdict.evidence, customRanges });
    if (verdict.state === "unknown") unknown ??= `${source}: ${version.known ? verdict.reason : version.reason}`;
    if (!version.known && listsOnly(affected)) unknown ??= `${source}: ${version.reason}`;
  }
  return { sources, unknown };
}

/** Lists name versions by their meaning, so a version that cannot be read may be one of them. */
function listsOnly({ ranges, listed }: Affected): boolean {
  return ranges.length === 0 && listed.size > 0;
}

/** The nearest version that this issue does not affect. It may have other issues. */
function fixOf(installed: Version, { entries }: Issue): string | null {
  const upgrade = nearestUnaffected({ installed, entries: entries.map(({ affected }) => affected) });
  return upgrade.found ? upgrade.version : null;
}
