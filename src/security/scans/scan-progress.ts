/**
 * The progress of a scan as the database stores it: the project's next scanner resumes after the last finished step. Database ids are
 * strings, because JSON has no bigint.
 */

/** The last finished step. */
type ScanCursor = MatchCursor | ResolveCursor;

/** The scan matches the page of versions after `after` with one issue after another, and has finished the issues up to `done`. */
export interface MatchCursor {
  phase: "match";
  /** null: the page begins with the first version. */
  after: { package: string; version: string } | null;
  /** null: none yet. */
  done: { package: string; vulnerability: string } | null;
}

/** The scan has checked the findings up to this one, and resolved those that it did not find again. This phase is stored as `rest`. */
interface ResolveCursor {
  phase: "rest";
  package: string;
  version: string;
  vulnerability: string;
}

export interface ScanProgress {
  /** The SBOM that is scanned; null: the project has none. */
  sbom: string | null;
  /** The number of the request that this scan serves. */
  asked: string;
  cursor: ScanCursor | null;
  /** Counts so far. */
  findings: number;
  findingsLeftOut: number;
  resolved: number;
  unknown: number;
  unknownLeftOut: number;
  /** Findings that are new and neither ignored nor false positives. */
  fresh: FreshFindings;
}

export interface FreshFindings {
  critical: number;
  high: number;
  medium: number;
  low: number;
  unknown: number;
}

export function newScanProgress({ sbom, asked }: { sbom: string | null; asked: bigint }): ScanProgress {
  const none = { findings: 0, findingsLeftOut: 0, resolved: 0, unknown: 0, unknownLeftOut: 0 };
  const fresh = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0 };
  return { sbom, asked: String(asked), cursor: null, ...none, fresh };
}
