/** Finds the findings that a document decides about, in time that grows with statements and findings, and not with their product. */
import { packageIdentity } from "../../versions/package-name.ts";
import type { Decided } from "./analysis.ts";
import type { VexStatement } from "./read-vex.ts";
import type { Candidate } from "./vex-store.ts";

/** A decision is stored for an issue in a package of the project: all versions follow it. */
export interface PairDecision {
  decided: Decided;
  /** The findings that statements are about. */
  findings: Candidate[];
  /** How many findings follow the decision. */
  size: number;
}

export interface MatchedStatements {
  pairs: PairDecision[];
  /** Statements about none of the findings. */
  unmatched: VexStatement[];
}

/**
 * Of several statements about an issue in a package the last counts.
 * @param issues those of each statement's id
 */
export function matchStatements(
  statements: readonly VexStatement[],
  { candidates, issues }: { candidates: readonly Candidate[]; issues: ReadonlyMap<string, readonly bigint[]> },
): MatchedStatements {
  const index = indexOf(candidates);
  const sizes = new Map<string, number>();
  for (const candidate of candidates) sizes.set(pairOf(candidate), (sizes.get(pairOf(candidate)) ?? 0) + 1);
  const pairs = new Map<string, PairDecision>();
  const taken = new Set<Candidate | readonly Candidate[]>();
  const unmatched: VexStatement[] = [];
  for (const statement of statements.toReversed()) {
    const found = (issues.get(statement.id) ?? []).flatMap((issue) => {
      const meant = index.get(keyOf(issue, statement));
      return meant === undefined ? [] : [meant];
    });
    if (found.length === 0) unmatched.push(statement);
    for (const meant of found) {
      // What several statements are about is looked through once.
      if (taken.has(meant)) continue;
      taken.add(meant);
      for (const candidate of meant) {
        if (taken.has(candidate)) continue;
        taken.add(candidate);
        const pair = pairOf(candidate);
        const known = pairs.get(pair);
        const size = sizes.get(pair) ?? 1;
        if (known === undefined) pairs.set(pair, { decided: statement.decided, findings: [candidate], size });
        else known.findings.push(candidate);
      }
    }
  }
  return { pairs: [...pairs.values()].toReversed(), unmatched: unmatched.toReversed() };
}

function pairOf({ package: id, issue }: Candidate): string {
  return `${id} ${issue}`;
}

/** The findings by what statements name: the issue, the issue in a package, and the issue in a version of it. */
function indexOf(candidates: readonly Candidate[]): Map<string, Candidate[]> {
  const index = new Map<string, Candidate[]>();
  const identities = new Map<bigint, string>();
  for (const candidate of candidates) {
    const { issue, package: id, ecosystem, key: name, version } = candidate;
    const identity = identities.get(id) ?? packageIdentity({ ecosystem, name });
    identities.set(id, identity);
    for (const named of [null, { identity, version: null }, { identity, version }]) {
      const key = keyOf(issue, { ref: named && identity, package: named });
      const same = index.get(key);
      if (same === undefined) index.set(key, [candidate]);
      else same.push(candidate);
    }
  }
  return index;
}

/** A statement whose reference names no package is about no finding. */
function keyOf(issue: bigint, { ref, package: named }: Pick<VexStatement, "ref" | "package">): string {
  if (ref === null) return String(issue);
  return named === null ? "" : JSON.stringify([String(issue), named.identity, named.version]);
}
