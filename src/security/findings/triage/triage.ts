/**
 * Stores what a person decides about a finding.
 *
 * A decision is stored for the issue in this package of the project, so it applies to all versions and survives a new SBOM. The findings of
 * all present versions follow at once, up to the caller's limit if there is one. Only a document that names versions decides about one alone. Repeating a decision changes nothing, and the answer says
 * so. What a call makes of a decision is in `decision.ts`. A decision about several findings is one transaction: it applies to all of them
 * or to none, except for those that someone decided about after the caller looked, which are left.
 *
 * A transaction of a scan or an import locks the project; triage waits for that lock, but no longer than a call may take.
 */
import { Type, type Static } from "@sinclair/typebox";
import { type Actor, authorize, writers } from "../../../accounts/audit/actor.ts";
import { canonicalEmail } from "../../../accounts/workspaces/fields.ts";
import { change, type AuditEvent, type Sources } from "../../../accounts/audit/change.ts";
import type { Changes } from "../../../accounts/audit/store.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { selectMembers } from "../../../accounts/members/store.ts";
import { type Transaction, allowLocks, allowStatements } from "../../../backing/backing.ts";
import { isoTime } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { decisionWaitMs } from "../../limits.ts";
import { findingsFollowingMax } from "../limits.ts";
import { insertEvents } from "../scan/scan-store.ts";
import { findingNotFound, FindingStatusView, type FindingStatus } from "../schema.ts";
import * as store from "../triage-store.ts";
import {
  decisionAfter,
  decisionChanges,
  findingAfter,
  undecided,
  type DecisionFields,
  type StoredDecision,
} from "../decision.ts";

interface TriageRequest extends DecisionFields {
  finding: string;
  /** When the decision was made that the caller saw; null: none; undefined: it decides in any case. */
  ifDecidedAt?: Date | null | undefined;
}

export interface TriageResult {
  target: store.Target;
  status: FindingStatus;
  falsePositive: boolean;
  /** What holds for the issue in the package now. */
  decision: StoredDecision;
  /** Changes to the named finding and the decision; empty: nothing changed. */
  changes: Changes;
  /** How many findings of other versions followed. */
  followed: number;
  /** How many still have to follow, if the caller limits their number. */
  left: number;
}

/** @throws DomainError not_found; conflict for a finding that is gone and cannot be reopened; forbidden for auditors */
export async function triage(
  { actor, workspace, decided }: { actor: Actor; workspace: WorkspaceId; decided: TriageRequest },
  sources: Sources,
): Promise<TriageResult> {
  authorize(actor, { roles: writers, action: "decide about findings" });
  return change(actor, sources, async (tx) => {
    const made = await triageIn(tx, { workspace, decided, by: authorOf(actor), at: new Date(sources.clock.now()) });
    return { result: made, event: eventOf(made) };
  });
}

/** Who a decision is attributed to. */
export function authorOf(actor: Actor): string {
  return actor.kind === "member" ? actor.email : actor.kind;
}

/** @returns null: nothing changed */
export function eventOf({ changes, followed, target }: TriageResult): AuditEvent | null {
  if (!isChange(changes) && followed === 0) return null;
  return { event: "finding.updated", workspace: target.workspace, target: target.id, changes };
}

interface TriageWork {
  workspace: WorkspaceId;
  decided: TriageRequest;
  by: string;
  at: Date;
  /** How many findings of other versions follow in this transaction; calling again continues. Absent: all. */
  followersMax?: number;
  /** Only the named finding is decided about, and other versions keep what they have. */
  isAlone?: boolean;
}

/** Triages one finding in the caller's transaction. @throws DomainError not_found, conflict */
export async function triageIn(
  tx: Transaction,
  { workspace, decided, by, at, followersMax = Infinity, isAlone = false }: TriageWork,
): Promise<TriageResult> {
  const target = await store.selectTarget({ workspace, id: decided.finding }, tx);
  if (target === undefined) throw findingNotFound(decided.finding);
  // A transaction of a scan or an import locks the project.
  await allowLocks(decisionWaitMs, tx);
  await allowStatements(decisionWaitMs, tx);
  await store.lockDecisions(target.project, tx);
  const versions = await store.selectVersions({ ...target, only: isAlone ? target.version : null }, tx);
  const named = versions.find(({ id }) => id === target.id);
  if (named === undefined) throw findingNotFound(decided.finding);
  const decisions = await store.selectDecisions({ project: target.project, pairs: [target] }, tx);
  const standing = store.holdingFor(decisions, target.version);
  requireSeen(standing, { decided, at, target, finding: named });
  const before = standing ?? undecided(named);
  const after = decisionAfter({ before, finding: named, decided, today: dayOf(at) });
  if (after.owner !== null && after.owner !== before.owner) after.owner = await requireOwner(after.owner, { workspace, sql: tx });
  const own = { id: named.id, ...findingAfter(named, after) };
  const changes = { ...own.changes, ...decisionChanges({ before, after, own }) };
  const others = versions
    .filter(({ id, present }) => present && id !== target.id)
    .map((version) => ({ id: version.id, ...findingAfter(version, after) }));
  const following = others.filter((one) => isChange(one.changes));
  const followed = following.slice(0, followersMax);
  const { status, falsePositive } = own;
  const made = {
    target,
    status,
    falsePositive,
    decision: after,
    changes,
    followed: followed.length,
    left: following.length - followed.length,
  };
  if (!isChange(changes) && followed.length === 0) return made;
  await store.upsertDecision({ ...target, ...after, version: isAlone ? target.version : "", by, at }, tx);
  await store.updateDecided([own, ...followed], tx);
  const updated = [{ ...own, changes }, ...followed].filter((one) => isChange(one.changes));
  const events = updated.map((one) => ({ finding: one.id, cause: "decided" as const, changes: one.changes }));
  await insertEvents(events, { actor: by, at }, tx);
  return made;
}

/** The fields of a decision as callers name them, for messages. */
export const decisionFieldNames = '"status", "false_positive", "justification", "accepted_until", "owner" and "note"';

interface TriageManyRequest extends Omit<TriageRequest, "finding"> {
  actor: Actor;
  workspace: WorkspaceId;
  findings: readonly string[];
  /** For each finding, when the decision was made that the caller saw: those decided since are left. Absent: none is left. */
  seen?: readonly (Date | null)[] | undefined;
}

const DecidedMeanwhile = Type.Object({
  id: Type.String({ description: "Id of the finding" }),
  cve_id: Type.String({ description: "The vulnerability" }),
  component: Type.String({ description: "The component" }),
  component_version: Type.String({ description: "Its version; empty: none" }),
  status: FindingStatusView,
  false_positive: Type.Boolean({ description: "Whether a person marked the match as wrong" }),
  decided_by: Type.String({ description: "Who decided" }),
  decided_at: Type.String({ description: "When, ISO 8601 in UTC" }),
});

export const TriagedMany = Type.Object({
  updated: Type.Array(Type.String(), { description: "Ids of the findings that changed" }),
  unchanged: Type.Array(Type.String(), { description: "Ids of those to which the decision already applied" }),
  also_updated: Type.Integer({ description: "Findings of other versions of the same packages that followed" }),
  decided_meanwhile: Type.Optional(
    Type.Array(DecidedMeanwhile, {
      description: "With `seen_decided_at`: those that are left, since someone decided about them meanwhile, with that decision",
    }),
  ),
});
export type TriagedMany = Static<typeof TriagedMany>;

/**
 * Stores one decision about several findings in one transaction.
 * @throws DomainError not_found for an unknown finding; conflict for one that is gone and cannot be reopened; forbidden for auditors;
 *   invalid_field for no decision, or one that would change too many findings
 */
export async function triageMany(
  { actor, workspace, findings, ifDecidedAt, seen, ...decided }: TriageManyRequest,
  sources: Sources,
): Promise<TriagedMany> {
  authorize(actor, { roles: writers, action: "decide about findings" });
  if (Object.values(decided).every((value) => value === undefined)) {
    throw new DomainError("invalid_field", `Cannot triage findings without a decision: one of ${decisionFieldNames} is needed`, {
      field: "status",
    });
  }
  const seenAt = new Map(findings.map((id, index) => [id, seen === undefined ? ifDecidedAt : (seen[index] ?? null)]));
  return change(actor, sources, async (tx) => {
    const ids = [...seenAt.keys()];
    const targets = await Promise.all(ids.map((id) => store.selectTarget({ workspace, id }, tx)));
    const unknown = targets.findIndex((target) => target === undefined);
    if (unknown !== -1) throw findingNotFound(ids[unknown] ?? "");
    // Each decision locks its project. All calls lock projects in the same order, so they wait for each other and never deadlock.
    const inOrder = targets.flatMap((target) => target ?? []).toSorted((one, other) => compare(one.project, other.project));
    const by = authorOf(actor);
    const at = new Date(sources.clock.now());
    const results: TriageResult[] = [];
    const left: DecidedMeanwhileError[] = [];
    for (const { id } of inOrder) {
      try {
        results.push(
          await triageIn(tx, { workspace, decided: { ...decided, ifDecidedAt: seenAt.get(id), finding: id }, by, at }),
        );
      } catch (error) {
        if (!(error instanceof DecidedMeanwhileError) || seen === undefined) throw error;
        left.push(error);
      }
      requireFew(results);
    }
    const result = { ...viewOf(results), ...(seen !== undefined && { decided_meanwhile: left.map(viewLeft) }) };
    return { result, event: results.flatMap((one) => eventOf(one) ?? []) };
  });
}

interface Seen extends Pick<TriageWork, "decided" | "at"> {
  target: store.Target;
  /** As it is now. */
  finding: store.VersionRow;
}

/** @throws DecidedMeanwhileError if someone decided since the caller looked. What this call decided itself does not count. */
function requireSeen(standing: store.DecisionRow | undefined, { decided: { ifDecidedAt }, at, ...found }: Seen): void {
  const decidedAt = standing?.decidedAt.getTime() ?? null;
  if (ifDecidedAt === undefined || decidedAt === (ifDecidedAt?.getTime() ?? null) || decidedAt === at.getTime()) return;
  throw new DecidedMeanwhileError(found, standing);
}

/** A conflict with a decision that the caller has not seen; nothing was written. */
class DecidedMeanwhileError extends DomainError {
  override name = "DecidedMeanwhileError";
  readonly target: store.Target;
  readonly finding: store.VersionRow;
  readonly standing: store.DecisionRow | undefined;

  constructor({ target, finding }: Pick<Seen, "target" | "finding">, standing: store.DecisionRow | undefined) {
    super("conflict", `Someone decided about the finding "${target.id}" meanwhile: look at the decision, then decide again`);
    this.target = target;
    this.finding = finding;
    this.standing = standing;
  }
}

function viewLeft({ target, finding, standing }: DecidedMeanwhileError): Static<typeof DecidedMeanwhile> {
  return {
    id: target.id,
    cve_id: target.name,
    component: target.component,
    component_version: target.version,
    status: finding.status,
    false_positive: finding.falsePositive,
    decided_by: standing?.decidedBy ?? "",
    decided_at: standing === undefined ? "" : isoTime(standing.decidedAt.getTime()),
  };
}

/** @returns the address as it is stored @throws DomainError invalid_field for a person who is not an active member */
async function requireOwner(owner: string, { workspace, sql }: { workspace: WorkspaceId; sql: Transaction }): Promise<string> {
  const [member] = await selectMembers({ workspace, email: canonicalEmail(owner) }, sql);
  if (member?.active && member.account === "active") return member.email;
  throw new DomainError("invalid_field", `Cannot take "${owner}" as owner: no active member of the workspace has the address`, {
    field: "owner",
  });
}

/** In UTC. */
function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

function isChange(changes: Changes): boolean {
  return Object.keys(changes).length > 0;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Other versions follow, up to a thousand per package: one call could change all findings of a project at once. */
function requireFew(results: readonly TriageResult[]): void {
  const changed = results.reduce((sum, { followed }) => sum + 1 + followed, 0);
  if (results.length === 1 || changed <= findingsFollowingMax) return;
  const message = `The decision would change more than ${findingsFollowingMax} findings, since other versions follow: name fewer`;
  throw new DomainError("invalid_field", message, { field: "findings" });
}

/** A finding may have changed by following another one in the call. */
function viewOf(results: readonly TriageResult[]): TriagedMany {
  const isUpdated = (result: TriageResult) => eventOf(result) !== null;
  return {
    updated: results.filter(isUpdated).map(({ target }) => target.id),
    unchanged: results.filter((result) => !isUpdated(result)).map(({ target }) => target.id),
    also_updated: results.reduce((sum, { followed }) => sum + followed, 0),
  };
}
