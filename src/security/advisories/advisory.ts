/** A source's record of a vulnerability as this service reads it with `readAdvisory`. The raw record is stored too. */
import type { Ecosystem } from "../versions/ecosystem.ts";

export interface Advisory {
  id: string;
  schemaVersion: string;
  /** UTC as the record has it, to the nanosecond; `isNotOlder` compares it. */
  modified: string;
  published: string | null;
  withdrawn: string | null;
  /** Other ids of the same issue, without duplicates and the record's own id. */
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

/** A severity as the record has it, unchecked: its vector may be broken or of an unknown system. */
export interface DeclaredSeverity {
  /** Such as `CVSS_V3`. */
  type: string;
  score: string;
}

export interface AffectedPackage {
  /** null: the record has only commits. */
  package: AdvisoryPackage | null;
  /** Severities of only this package; then the record has none for all packages. */
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

export interface Reference {
  /** Such as `FIX` or `WEB`. */
  type: string;
  url: string;
}

export interface Credit {
  name: string;
  contact: string[];
  /** Such as `FINDER`; null: unknown. */
  type: string | null;
}
