/** Writes down what a scan matched: findings that are new, changed or as before, and what is unknown. */
import { isDeepStrictEqual } from "node:util";
import { newToolsId, type WorkspaceId } from "../kernel/ids.ts";
import type { Lease } from "../scans/lease.ts";
import type { Match, Unknown } from "./match.ts";
import {
  insertEvents,
  insertFindings,
  insertOccurrences,
  replaceUnknowns,
  selectFindings,
  updateFindings,
  updateLastSeen,
  type FindingRow,
  type NewEvent,
  type StoredFinding,
} from "./scan-store.ts";
import { transitionsOf, type Decision } from "./transitions.ts";
import { openClaims, selectDecisions, type DecisionRow } from "./triage-store.ts";

/** A scan under way. */
export interface Scan {
  lease: Lease;
  workspace: WorkspaceId;
  /** The document that says what the project is made of now; null: there is none. */
  sbom: string | null;
  /** When it began, later than every scan before. */
  at: Date;
}

/** What is unknown of these packages, all of it. */
export async function recordUnknowns(
  about: { packages: readonly bigint[]; unknowns: readonly Unknown[] },
  lease: Lease,
): Promise<void> {
  await lease.hold((tx) => replaceUnknowns({ project: lease.project, ...about }, tx));
}

/**
 * @param matches every version that an issue affects of a package, where one is among them
 * @returns how many findings are there
 */
export async function recordMatches(
  matches: readonly Match[],
  { lease, workspace, sbom, at }: Scan & { sbom: string },
): Promise<number> {
  return lease.hold(async (tx, { product }) => {
    const { project } = lease;
    const known = await selectFindings({ project, keys: matches }, tx);
    const decisions = await selectDecisions({ project, pairs: matches }, tx);
    const plan = planOf({ matches, known, decisions, at });
    await insertFindings(plan.begun, { workspace, product, project, at }, tx);
    await updateFindings(plan.changed, at, tx);
    await updateLastSeen(plan.same, at, tx);
    await openClaims({ project, pairs: plan.claimsOver }, tx);
    await insertEvents(plan.events, { actor: scannerName, at }, tx);
    const there = [...plan.begun.map(({ id }) => id), ...plan.changed.map(({ id }) => id), ...plan.same];
    await insertOccurrences({ sbom, findings: there }, tx);
    return there.length;
  });
}

export const scannerName = "scanner";

interface Plan {
  begun: StoredFinding[];
  changed: StoredFinding[];
  /** Ids. */
  same: string[];
  events: NewEvent[];
  /** Claims of people that are over, by package and issue. */
  claimsOver: { package: bigint; vulnerability: bigint }[];
}

interface Facts {
  matches: readonly Match[];
  known: readonly FindingRow[];
  decisions: readonly DecisionRow[];
  at: Date;
}

function planOf({ matches, known, decisions, at }: Facts): Plan {
  const plan: Plan = { begun: [], changed: [], same: [], events: [], claimsOver: [] };
  const findings = new Map(known.map((row) => [`${pairOf(row)} ${row.version}`, row]));
  const decided = new Map<string, Decision>(decisions.map((row) => [pairOf(row), row]));
  for (const [pair, group] of Map.groupBy(matches, pairOf)) {
    const standing = (match: Match) => findings.get(`${pair} ${match.version}`) ?? null;
    const versions = new Map(group.map((match) => [match.version, standing(match)] as const));
    const { outcomes, claimIsOver } = transitionsOf({ versions, decision: decided.get(pair) ?? null });
    if (claimIsOver) plan.claimsOver.push(...group.slice(0, 1));
    for (const match of group) {
      const outcome = outcomes.get(match.version);
      if (outcome === undefined) continue;
      const { cause, changes, ...decision } = outcome;
      const finding = standing(match);
      const id = finding?.id ?? newToolsId("fnd", at.getTime());
      const isSame = finding !== null && Object.keys(changes).length === 0 && sameFacts(finding, match);
      if (isSame) plan.same.push(id);
      else (finding === null ? plan.begun : plan.changed).push({ ...match, ...decision, id });
      if (Object.keys(changes).length > 0) plan.events.push({ finding: id, cause, changes });
    }
  }
  return plan;
}

/** An issue in a package. */
export function pairOf(about: { package: bigint; vulnerability: bigint }): string {
  return `${about.package} ${about.vulnerability}`;
}

/** What the database keeps of evidence is equal, whatever the order of its fields. */
function sameFacts(finding: FindingRow, match: Match): boolean {
  return (
    finding.rank === match.rank &&
    finding.component === match.component &&
    finding.purl === match.purl &&
    finding.fixVersion === match.fixVersion &&
    isDeepStrictEqual(finding.evidence, match.evidence)
  );
}
