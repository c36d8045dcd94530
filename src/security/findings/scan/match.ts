/**
 * Compares one version of a package with the known issues of that package. An issue and a version give one match, no matter how many
 * records describe the issue. The match carries the evidence of each source and the nearest version that the issue does not affect.
 *
 * A version that cannot be compared with a record gives an unknown match with the reason, never a guess and never silence. A version that a
 * record lists is affected even if no range contains it.
 */
import { evidenceRangeCharactersMax, evidenceSourcesMax } from "../../limits.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import { nearestUnaffected } from "../../versions/nearest-unaffected.ts";
import { type Affected, type OsvAffected, evaluate, type OsvRange, type VerdictEvidence } from "../../versions/osv-range.ts";
import { storedVersion, versionKey, versionToMatch } from "../../versions/version-to-match.ts";
import { readVersion, type Version } from "../../versions/version.ts";

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
export interface PackageIssue {
  vulnerability: bigint;
  rank: number;
  /** The entries of all records about it, in the order of the records' ids. A record may also be about other issues. */
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
  /** As the SBOM spells it. */
  version: string;
  /** What all spellings of the version share. */
  versionKey: string;
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
  versionKey: string;
  vulnerability: bigint;
  /** A clause that follows the record's id. */
  reason: string;
}

export interface Matched {
  matches: Match[];
  unknowns: Unknown[];
}

/** Matches one component with all known issues of its package. */
export function matchComponent(component: Component, issues: readonly PackageIssue[]): Matched {
  const installed = installedVersion(component);
  const own = { package: component.package, version: storedVersion(component.version), versionKey: versionKey(component) };
  const matched: Matched = { matches: [], unknowns: [] };
  for (const issue of issues) {
    const { sources, unknown } = evaluateIssue(installed, issue);
    const about = { ...own, vulnerability: issue.vulnerability };
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

/** The version to compare with records; it may be part of the shown version. */
export function installedVersion({ ecosystem, version, purl }: Pick<Component, "ecosystem" | "version" | "purl">): Version {
  if (version === null) return { known: false, text: "", reason: "the document names no version" };
  return readVersion({ scheme: ecosystem, text: versionToMatch({ ecosystem, version, purl }) });
}

/** The evidence of one source. */
interface SourceEvidence {
  /** Id of the record. */
  source: string;
  /**
   * The range as the record has it, as in `introduced 1.2.0, fixed 1.2.9` or `introduced 0, last known affected < 1.2.9`; null if the
   * version is listed and no range contains it.
   */
  range: string | null;
  /** The part of the range that contains the version, as in `>= 1.2.0, < 1.2.9`. */
  comparator: string | null;
  /** The record's spelling of the version; null if the record does not list it. */
  listed: string | null;
}

export interface Evidence extends SourceEvidence {
  /** The evidence of other sources for the same issue. */
  more: SourceEvidence[];
  /** The number of all sources; `more` may have fewer. */
  sources: number;
  /** A Go record's custom ranges, for versions that the module mirror does not have. They do not narrow the match. */
  custom_ranges?: unknown;
}

interface SourceMatch {
  source: string;
  entry: OsvAffected;
  evidence: VerdictEvidence;
  customRanges: unknown;
}

/** Compares a version with the records of an issue. It is unknown only if no record lists it as affected. */
function evaluateIssue(version: Version, { entries }: PackageIssue): { sources: SourceMatch[]; unknown: string | null } {
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

/** Lists name versions by meaning, so an unreadable version may be one of them. */
function listsOnly({ ranges, listed }: Affected): boolean {
  return ranges.length === 0 && listed.size > 0;
}

/** The nearest version that this issue does not affect. It may have other issues. */
function fixOf(installed: Version, { entries }: PackageIssue): string | null {
  const upgrade = nearestUnaffected({ installed, entries: entries.map(({ affected }) => affected) });
  return upgrade.found ? upgrade.version : null;
}

/**
 * Why a version is affected. A source with a matching range comes before those that only list the version.
 * @param matches at least one, in a stable order
 */
function evidenceOf(matches: readonly SourceMatch[]): Evidence {
  const bySource = new Map<string, SourceMatch>();
  for (const one of matches) {
    const known = bySource.get(one.source);
    if (known === undefined || (known.evidence.range === null && one.evidence.range !== null)) bySource.set(one.source, one);
  }
  const ordered = [...bySource.values()].toSorted((one, other) => kindRank(one) - kindRank(other));
  const [first, ...more] = ordered.map(sourceEvidence);
  if (first === undefined) throw new Error("Evidence needs at least one source");
  const custom = ordered.find(({ customRanges }) => customRanges !== null)?.customRanges;
  return {
    ...first,
    more: more.slice(0, evidenceSourcesMax),
    sources: ordered.length,
    ...(custom !== undefined && { custom_ranges: custom }),
  };
}

function kindRank({ evidence }: SourceMatch): number {
  return evidence.range === null ? 1 : 0;
}

function sourceEvidence({ source, entry, evidence }: SourceMatch): SourceEvidence {
  const { listed, range: holding } = evidence;
  const range = holding === null ? undefined : entry.ranges?.[holding.index];
  const words = range ? wordsOf(range, holding?.lastKnown === true ? entry.lastKnown : undefined) : null;
  return { source, range: words, comparator: holding?.comparator ?? null, listed };
}

function wordsOf({ events }: OsvRange, lastKnown: string | undefined): string {
  const words = eventWords(events);
  return lastKnown === undefined ? words : `${words}, last known affected ${lastKnown.trim()}`;
}

function eventWords(events: OsvRange["events"]): string {
  let words = "";
  for (const event of events) {
    for (const [kind, version] of Object.entries(event)) {
      words += `${words === "" ? "" : ", "}${kind} ${String(version)}`;
      if (words.length > evidenceRangeCharactersMax) return `${words.slice(0, evidenceRangeCharactersMax)}…`;
    }
  }
  return words;
}
