/**
 * An OSV record as this service keeps it, and the rules for its ids and times. The raw record is stored too, so nothing from the source is
 * lost. Ids are compared in one spelling, because databases write the same id in several. A record replaces the stored one only if its
 * `modified` is not older, to the nanosecond.
 */
import { advisoryIdCharactersMax, versionCharactersMax } from "../limits.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";
import type { OsvAffected } from "../versions/osv-range.ts";

export interface Advisory {
  id: string;
  schemaVersion: string;
  /** UTC as the record has it, to the nanosecond; `isNotOlder` compares it. */
  modified: string;
  published: string | null;
  withdrawn: string | null;
  /** Other ids of the same issue, without duplicates or the record's own id. */
  aliases: string[];
  /** Ids of issues that this one stems from; never the same issue. `related` has ids of similar issues. */
  upstream: string[];
  related: string[];
  summary: string;
  details: string;
  severities: DeclaredSeverity[];
  affected: AffectedPackage[];
  references: Reference[];
  credits: Credit[];
  databaseSpecific: Record<string, unknown>;
}

/** A severity as the record has it, unchecked: its vector may be broken or belong to an unknown system. */
export interface DeclaredSeverity {
  /** Such as `CVSS_V3`, or the name of a database that rates in words. */
  type: string;
  /** A vector or a word. */
  score: string;
}

export interface AffectedPackage {
  /** null: the record has only commits. */
  package: AdvisoryPackage | null;
  /** Severities of this package only; the record then has none for all packages. */
  severities: DeclaredSeverity[];
  ranges: AffectedRange[];
  /** Versions that are listed one by one, in addition to the ranges. */
  versions: string[];
  ecosystemSpecific: Record<string, unknown>;
  databaseSpecific: Record<string, unknown>;
}

export interface AdvisoryPackage {
  /** null: an ecosystem whose versions this service cannot compare. */
  ecosystem: Ecosystem | null;
  /** As the record has it, such as `Debian:12`. */
  ecosystemName: string;
  name: string;
  purl: string | null;
}

export interface AffectedRange {
  type: "SEMVER" | "ECOSYSTEM" | "GIT";
  /** The repository of a GIT range. */
  repo: string | null;
  events: RangeEvent[];
  databaseSpecific: Record<string, unknown>;
}

/** The events of the format, unsorted. */
export type RangeEvent = { introduced: string } | { fixed: string } | { last_affected: string } | { limit: string };

interface Reference {
  /** Such as `FIX` or `WEB`. */
  type: string;
  url: string;
}

interface Credit {
  name: string;
  contact: string[];
  /** Such as `FINDER`; null: unknown. */
  type: string | null;
}

/** GitHub's bound of an open range; a text that is too long for one is not kept. */
export function lastKnownOf({
  last_known_affected_version_range: range,
}: Record<string, unknown>): Pick<OsvAffected, "lastKnown"> {
  return typeof range === "string" && range.length <= 2 * versionCharactersMax ? { lastKnown: range } : {};
}

/** Normalizes an id: CVE and GHSA ids as their databases write them, all others unchanged. */
export function canonicalId(id: string): string {
  const trimmed = id.trim();
  if (/^cve-/i.test(trimmed)) return trimmed.toUpperCase();
  return /^ghsa-/i.test(trimmed) ? `GHSA-${trimmed.slice(5).toLowerCase()}` : trimmed;
}

export function isCve(id: string): boolean {
  return /^CVE-\d{4}-\d{4,}$/.test(id);
}

export function isGhsa(id: string): boolean {
  return id.startsWith("GHSA-");
}

/** CWE-506, embedded malicious code, and its kinds (https://cwe.mitre.org/data/definitions/506.html). */
const malwareWeaknesses = /^CWE-(?:50[6-9]|51[0-2])$/;

/**
 * Whether a record says that a package is malicious: those of OpenSSF's malicious-packages, and GitHub's of such a weakness.
 * @param record.cwes `database_specific.cwe_ids`, as the record has it
 */
export function isMalware({ id, cwes }: { id: string; cwes: unknown }): boolean {
  if (id.startsWith("MAL-")) return true;
  return isGhsa(id) && [cwes].flat().some((cwe) => typeof cwe === "string" && malwareWeaknesses.test(cwe));
}

/**
 * Parses an id of any database: trims it and converts it to upper case, because names are compared in upper case.
 * @returns null for a text that is not an id: a CVE id has a year and a number, all others begin with the letters of their database
 */
export function readIdentifier(given: string): string | null {
  const id = given.trim().toUpperCase();
  if (id.length > advisoryIdCharactersMax || !/^[A-Z][A-Z0-9]*-[^\s\p{Cc}]+$/u.test(id)) return null;
  return id.startsWith("CVE-") && !isCve(id) ? null : id;
}

/** Compares `modified` times as the format writes them. A record replaces the stored one only if it is not older. */
export function isNotOlder(times: { candidate: string; stored: string }): boolean {
  return toNanoseconds(times.candidate) >= toNanoseconds(times.stored);
}

/** Why a record is invalid. `path` is the location, such as `affected[0].versions[3]`; empty for the record itself. */
export class RecordError extends Error {
  override name = "RecordError";
  readonly path: string;

  constructor(path: string, problem: string) {
    super(path === "" ? `The record ${problem}` : `"${path}" ${problem}`);
    this.path = path;
  }
}

/** A sortable text, with a fraction of exactly nine digits. */
function toNanoseconds(time: string): string {
  const [seconds = "", fraction = ""] = time.slice(0, -1).split(".");
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}
