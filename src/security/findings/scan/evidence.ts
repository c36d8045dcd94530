/** Why a version counts as affected: which source says so, in which words, and which others do. */
import { evidenceRangeCharactersMax, evidenceSourcesMax } from "../../limits.ts";
import type { OsvAffected, OsvRange } from "../../versions/osv-affected.ts";
import type { Evidence as Matched } from "../../versions/osv-range.ts";

/** What one source says. */
export interface SourceEvidence {
  /** Id of the record. */
  source: string;
  /** The range in the record's words, as in `introduced 1.2.0, fixed 1.2.9`; null where none holds the version, which is listed then. */
  range: string | null;
  /** The part of it that holds the version, as in `>= 1.2.0, < 1.2.9`. */
  comparator: string | null;
  /** The record's spelling of the version, where it lists it. */
  listed: string | null;
}

export interface Evidence extends SourceEvidence {
  /** What other sources say of the same issue. */
  more: SourceEvidence[];
  /** How many say it; `more` may hold fewer. */
  sources: number;
  /** What a record of Go modules says of versions that the module mirror does not have; they do not narrow the match. */
  custom_ranges?: unknown;
}

export interface SourceMatch {
  source: string;
  entry: OsvAffected;
  evidence: Matched;
  customRanges: unknown;
}

/** @param said at least one, in an order that does not change; those that tell a range go before those that list */
export function evidenceOf(sources: readonly SourceMatch[]): Evidence {
  const bySource = new Map<string, SourceMatch>();
  for (const one of sources) {
    const known = bySource.get(one.source);
    if (known === undefined || (known.evidence.range === null && one.evidence.range !== null)) bySource.set(one.source, one);
  }
  const ordered = [...bySource.values()].toSorted((one, other) => kindRank(one) - kindRank(other));
  const [first, ...more] = ordered.map(sourceEvidence);
  if (first === undefined) throw new Error("There is no evidence of nothing");
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
