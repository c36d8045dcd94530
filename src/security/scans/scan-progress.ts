/** A scan on its way, as the database keeps it: whoever takes the project up next goes on behind what is written. */

/** What was done last; numbers of the database as texts. */
export type ScanCursor = MatchCursor | ResolveCursor;

/** Of the versions behind a place, the issues of packages up to one were held against the versions that are looked at together. */
export interface MatchCursor {
  phase: "match";
  /** null: from the first on. */
  after: { package: string; version: string } | null;
  /** null: none yet. */
  done: { package: string; vulnerability: string } | null;
}

/** What the scan has not seen was looked through up to this finding. */
export interface ResolveCursor {
  phase: "rest";
  package: string;
  version: string;
  vulnerability: string;
}

export interface ScanProgress {
  /** The document that is scanned; null: the project has none. */
  sbom: string | null;
  /** The question that it answers. */
  asked: string;
  cursor: ScanCursor | null;
  /** What it came to so far. */
  findings: number;
  findingsLeftOut: number;
  resolved: number;
  unknown: number;
  unknownLeftOut: number;
}

export function newScanProgress({ sbom, asked }: { sbom: string | null; asked: bigint }): ScanProgress {
  const none = { findings: 0, findingsLeftOut: 0, resolved: 0, unknown: 0, unknownLeftOut: 0 };
  return { sbom, asked: String(asked), cursor: null, ...none };
}
