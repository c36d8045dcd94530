/**
 * Writes the matches of a scan: new, changed and unchanged findings, their events, and unknown matches.
 *
 * One call is one transaction, which also advances the scan's progress. Writing the same matches again changes nothing. Beyond a project's
 * limit, existing findings stay up to date and new ones are only counted. A finding follows the decision about its issue. If a person
 * resolved the issue and it appears in a new version, the decision is reopened, together with the findings of versions that this scan has
 * already seen.
 */
import { isDeepStrictEqual } from "node:util";
import type { Database, Transaction } from "../../../backing/backing.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { newToolsId } from "../../../kernel/ids.ts";
import { projectFindingsMax } from "../../limits.ts";
import type { Lease, ScanState } from "../../scans/lease.ts";
import type { FreshFindings } from "../../scans/scan-progress.ts";
import { severityOf } from "../schema.ts";
import { transitionsOf } from "../transitions.ts";
import {
  holdingFor,
  reopenDecisions,
  selectDecisions,
  type DecisionRow,
  type DecisionScope,
  updateDecided,
} from "../triage-store.ts";
import type { Match, Unknown } from "./match.ts";
import { upsertUnknowns } from "./resolve-store.ts";
import * as store from "./scan-store.ts";

/** A running scan. */
export interface Scan extends ScanState {
  lease: Lease;
  sql: Database;
  clock: Clock;
  /** The project's current SBOM; null: none. */
  sbom: string | null;
  /** When aborted, the scan ends before the next step. */
  signal: AbortSignal;
}

export async function recordUnknowns(unknowns: readonly Unknown[], { lease, at, signal }: Scan): Promise<void> {
  signal.throwIfAborted();
  await lease.hold((tx) => upsertUnknowns({ project: lease.project, unknowns, at }, tx));
}

/** One transaction, which also stores the scan's progress. The matches of an issue in a package may come in several calls. */
export async function recordMatches(
  found: readonly Match[],
  { lease, workspace, sbom, at, progress, signal, clock }: Scan & { sbom: string },
): Promise<void> {
  signal.throwIfAborted();
  await lease.hold(async (tx, { product }) => {
    const { project } = lease;
    const known = await store.selectFindings({ project, keys: found }, tx);
    const matches = inKnownSpelling(found, known);
    const decisions = await selectDecisions({ project, pairs: matches }, tx);
    const plan = planOf({ matches, known, decisions, nowMs: clock.now(), room: projectFindingsMax - progress.findings });
    await store.insertFindings(plan.added, { workspace, product, project, at }, tx);
    await store.updateFindings(plan.changed, at, tx);
    await store.updateLastSeen(plan.same, at, tx);
    await reopenDecisions({ project, scopes: plan.reopened }, tx);
    await store.insertEvents(plan.events, { actor: scannerName, at }, tx);
    const there = [...plan.added.map(({ id }) => id), ...plan.changed.map(({ id }) => id), ...plan.same];
    await reopenSeen({ project, scopes: plan.reopened, at, actor: scannerName }, tx);
    await store.insertOccurrences({ sbom, findings: there }, tx);
    progress.findings += there.length;
    progress.findingsLeftOut += plan.leftOut;
    progress.fresh = withFresh(progress.fresh, plan.added);
  }, progress);
}

/** A finding keeps the spelling of its version, whatever the current SBOM writes. */
function inKnownSpelling(matches: readonly Match[], known: readonly store.KnownFindingRow[]): Match[] {
  const spellings = new Map(known.map(({ package: id, versionKey, version }) => [`${id} ${versionKey}`, version]));
  return matches.map((match) => ({ ...match, version: spellings.get(`${match.package} ${match.versionKey}`) ?? match.version }));
}

export const scannerName = "scanner";

export function freshTotal(counts: FreshFindings): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

interface Facts {
  matches: readonly Match[];
  known: readonly store.KnownFindingRow[];
  decisions: readonly DecisionRow[];
  /** The time in the ids of new findings, in milliseconds. Lists use it to skip whole batches of a scan. */
  nowMs: number;
  /** How many new findings the project has room for; existing ones stay. */
  room: number;
}

interface Plan {
  added: store.StoredFinding[];
  changed: store.StoredFinding[];
  /** Ids of unchanged findings. */
  same: string[];
  events: store.NewEvent[];
  /** The decisions that are open again. */
  reopened: DecisionScope[];
  /** The number of new findings beyond the limit. */
  leftOut: number;
}

function planOf({ matches: all, known, decisions, nowMs, room }: Facts): Plan {
  const findings = new Map(known.map((row) => [`${pairOf(row)} ${row.version}`, row]));
  const matches = withinRoom(all, { isThere: (match) => findings.has(`${pairOf(match)} ${match.version}`), room });
  const plan: Plan = { added: [], changed: [], same: [], events: [], reopened: [], leftOut: all.length - matches.length };
  const decided = Map.groupBy(decisions, pairOf);
  const holding = (match: Match) => holdingFor(decided.get(pairOf(match)) ?? [], match.version);
  // What is decided alike changes alike: the versions of a pair, without those that have a decision of their own.
  for (const group of Map.groupBy(matches, (match) => `${pairOf(match)} ${holding(match)?.version ?? ""}`).values()) {
    const standing = (match: Match) => findings.get(`${pairOf(match)} ${match.version}`) ?? null;
    const versions = new Map(group.map((match) => [match.version, standing(match)] as const));
    const [decision] = group.slice(0, 1).flatMap((match) => holding(match) ?? []);
    const { outcomes, reopens } = transitionsOf({ versions, decision: decision ?? null });
    if (reopens && decision !== undefined) plan.reopened.push(decision);
    for (const match of group) {
      const outcome = outcomes.get(match.version);
      if (outcome === undefined) continue;
      const { cause, changes, ...decision } = outcome;
      const finding = standing(match);
      const id = finding?.id ?? newToolsId("fnd", nowMs);
      const isSame = finding !== null && Object.keys(changes).length === 0 && sameFacts(finding, match);
      if (isSame) plan.same.push(id);
      else (finding === null ? plan.added : plan.changed).push({ ...match, ...decision, id });
      if (Object.keys(changes).length > 0) plan.events.push({ finding: id, cause, changes });
    }
  }
  return plan;
}

/** An issue in a package. */
function pairOf(about: { package: bigint; vulnerability: bigint }): string {
  return `${about.package} ${about.vulnerability}`;
}

/** The matches that have a finding, and as many others as there is room for. */
function withinRoom(
  matches: readonly Match[],
  { isThere, room }: { isThere: (match: Match) => boolean; room: number },
): readonly Match[] {
  if (matches.length <= room) return matches;
  let left = Math.max(room - matches.filter(isThere).length, 0);
  return matches.filter((match) => isThere(match) || left-- > 0);
}

/** Evidence is compared field by field, since the database may reorder fields. */
function sameFacts(finding: store.KnownFindingRow, match: Match): boolean {
  return (
    finding.rank === match.rank &&
    finding.component === match.component &&
    finding.purl === match.purl &&
    finding.fixVersion === match.fixVersion &&
    isDeepStrictEqual(finding.evidence, match.evidence)
  );
}

/** Reopens the findings of versions that this scan has already seen. For versions that it sees later, the decision is already open. */
async function reopenSeen(
  { project, scopes, at, actor }: { project: string; scopes: readonly DecisionScope[]; at: Date; actor: string },
  tx: Transaction,
): Promise<void> {
  if (scopes.length === 0) return;
  const ids = await store.selectSeenAsResolved({ project, scopes, at }, tx);
  await updateDecided(
    ids.map((id) => ({ id, status: "open", falsePositive: false })),
    tx,
  );
  const events = ids.map((finding) => ({
    finding,
    cause: "decision_followed" as const,
    changes: { status: { from: "resolved", to: "open" } },
  }));
  await store.insertEvents(events, { actor, at }, tx);
}

/** Counts the findings among `added` that wait for a decision. */
function withFresh(before: FreshFindings, added: readonly store.StoredFinding[]): FreshFindings {
  const counts = { ...before };
  for (const { rank, status, falsePositive } of added) {
    if (!falsePositive && (status === "open" || status === "in_progress")) counts[severityOf(rank) ?? "unknown"]++;
  }
  return counts;
}
