/** Why a version counts as affected: the source that lists it, the matching range, and the other sources. */
import { evidenceRangeCharactersMax, evidenceSourcesMax } from "../../limits.ts";
import type { OsvAffected, OsvRange } from "../../versions/osv-affected.ts";
import type { Evidence as Matched } from "../../versions/osv-range.ts";

/** The evidence of one source. */
export interface SourceEvidence {
  /** Id of the record. */
  source: string;
  /** The range as the record has it, as in `introduced 1.2.0, fixed 1.2.9`; null when the version is listed and no range contains it. */
  range: string | null;
  /** The part of the range that contains the version, as in `>= 1.2.0, < 1.2.9`. */
  comparator: string | null;
  /** The record's spelling of the version; null when the record does not list it. */
  listed: string | null;
}

export interface Evidence extends SourceEvidence {
  /** The evidence of other sources for the same issue. */
  more: SourceEvidence[];
  /** The number of all sources; `more` may have fewer. */
  sources: number;
  /** The custom ranges of a Go record, for versions that the module mirror does not have. They do not narrow the match. */
  custom_ranges?: unknown;
}

export interface SourceMatch {
  source: string;
  entry: OsvAffected;
  evidence: Matched;
  customRanges: unknown;
}

/** @param matches at least one, in a stable order. Those with a range come before those that only list the version */
export function evidenceOf(matches: readonly SourceMatch[]): Evidence {
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
  return { source, range: range ? wordsOf(range) : null, comparator: holding?.comparator ?? null, listed };
}

function wordsOf({ events }: OsvRange): string {
  let words = "";
  for (const event of events) {
    for (const [kind, version] of Object.entries(event)) {
      words += `${words === "" ? "" : ", "}${kind} ${String(version)}`;
      if (words.length > evidenceRangeCharactersMax) return `${words.slice(0, evidenceRangeCharactersMax)}…`;
    }
  }
  return words;
}
