/** A source's record of a vulnerability, in the service's own words; `readAdvisory` makes it, the raw record is kept beside it. */
import type { Ecosystem } from "../versions/ecosystem.ts";

export interface Advisory {
  id: string;
  schemaVersion: string;
  /** UTC as the record has it, to the nanosecond; compared by `isNotOlder`. */
  modified: string;
  published: string | null;
  withdrawn: string | null;
  /** Other names of the same issue, none of them twice nor the record's own. */
  aliases: string[];
  /** Issues that this one stems from or is about; never the same issue. */
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

/** What a record says of its severity, unchecked: a vector may be broken, or of a system that is not known. */
export interface DeclaredSeverity {
  /** Such as `CVSS_V3`. */
  type: string;
  score: string;
}

export interface AffectedPackage {
  /** null: the record tells commits alone. */
  package: AdvisoryPackage | null;
  /** Of this package; where there are any, the record has none for all. */
  severities: DeclaredSeverity[];
  ranges: AffectedRange[];
  /** Versions named one by one; they count beside the ranges. */
  versions: string[];
  ecosystemSpecific: Record<string, unknown>;
  databaseSpecific: Record<string, unknown>;
}

export interface AdvisoryPackage {
  /** null: none of the seven whose versions are known. */
  ecosystem: Ecosystem | null;
  /** As the record has it, such as `Debian:12`. */
  ecosystemName: string;
  name: string;
  purl: string | null;
}

export interface AffectedRange {
  type: "SEMVER" | "ECOSYSTEM" | "GIT";
  /** Of a GIT range. */
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
  /** Such as `FINDER`; null: not said. */
  type: string | null;
}
