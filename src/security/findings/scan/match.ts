/**
 * From the components of a package and what sources say of it to what is affected, by package and version alone. One match for an
 * issue and a version, however many records speak of it; what cannot be held against them is told as unknown.
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
  /** The entry as it was read. */
  affected: Affected;
  /** null: none. */
  customRanges: unknown;
}

/** What is known of one issue in one package. */
export interface Issue {
  vulnerability: bigint;
  rank: number;
  /** Those of its records, and of records that speak of other issues too, in the order of their ids. */
  entries: RecordEntry[];
}

/** A version of a package in a document. */
export interface Component {
  package: bigint;
  ecosystem: Ecosystem;
  /** null: the document names none. */
  version: string | null;
  name: string;
  purl: string | null;
}

export interface Match {
  package: bigint;
  /** As findings know it. */
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
  /** A clause, after the id of the record whose range it is held against. */
  reason: string;
}

export interface Matched {
  matches: Match[];
  unknowns: Unknown[];
}

/** Of one component against all that is known of its package. */
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

/** What is held against records, which may be less than what is shown. */
export function installedVersion({ ecosystem, version, purl }: Pick<Component, "ecosystem" | "version" | "purl">): Version {
  if (version === null) return { known: false, text: "", reason: "the document names no version" };
  return readVersion({ scheme: ecosystem, text: versionToMatch({ ecosystem, version, purl }) });
}

/** What the records of an issue say of a version; unknown only where none says that it is affected. */
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

/** A list names versions by what they mean: one that means nothing is not known to be none of them. */
function listsOnly({ ranges, listed }: Affected): boolean {
  return ranges.length === 0 && listed.size > 0;
}

/** Against the records of this issue alone: what clears all of a component's issues is another question. */
function fixOf(installed: Version, { entries }: Issue): string | null {
  const upgrade = nearestUnaffected({ installed, entries: entries.map(({ affected }) => affected) });
  return upgrade.found ? upgrade.version : null;
}
