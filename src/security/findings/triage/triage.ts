/**
 * Stores what a person decides about a finding.
 *
 * A decision is stored for the issue in this package of the project, so it applies to all versions and survives a new SBOM. The findings of
 * all present versions follow at once, up to the caller's limit if there is one. Repeating a decision changes nothing, and the answer says
 * so. A finding that is gone can be ignored or resolved, but not reopened: it reopens by itself when it returns. A decision about several
 * findings is one transaction: it applies to all of them or to none.
 *
 * A transaction of a scan or an import locks the project; triage waits for that lock, but no longer than a call may take.
 */
import { Type, type Static } from "@sinclair/typebox";
import { type Actor, authorize, writers } from "../../../accounts/audit/actor.ts";
import { change, type AuditEvent, type Sources, changedFields } from "../../../accounts/audit/change.ts";
import type { Changes } from "../../../accounts/audit/store.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { type Transaction, allowLocks, allowStatements } from "../../../backing/backing.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { decisionWaitMs } from "../../limits.ts";
import { findingsFollowingMax } from "../limits.ts";
import { insertEvents } from "../scan/scan-store.ts";
import { findingNotFound, type FindingStatus } from "../schema.ts";
import type { Decision } from "../transitions.ts";
import * as store from "../triage-store.ts";

interface TriageRequest {
  finding: string;
  status?: FindingStatus | undefined;
  falsePositive?: boolean | undefined;
  /** An empty note removes the note. */
  note?: string | undefined;
}

export interface TriageResult {
  target: store.Target;
  status: FindingStatus;
  falsePositive: boolean;
  note: string | null;
  /** Changes to the named finding and the note; empty: nothing changed. */
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
}

/** Triages one finding in the caller's transaction. @throws DomainError not_found, conflict */
export async function triageIn(
  tx: Transaction,
  { workspace, decided, by, at, followersMax = Infinity }: TriageWork,
): Promise<TriageResult> {
  const target = await store.selectTarget({ workspace, id: decided.finding }, tx);
  if (target === undefined) throw findingNotFound(decided.finding);
  // A transaction of a scan or an import locks the project.
  await allowLocks(decisionWaitMs, tx);
  await allowStatements(decisionWaitMs, tx);
  await store.lockDecisions(target.project, tx);
  const versions = await store.selectVersions(target, tx);
  const named = versions.find(({ id }) => id === target.id);
  if (named === undefined) throw findingNotFound(decided.finding);
  const [standing] = await store.selectDecisions({ project: target.project, pairs: [target] }, tx);
  const before = standing ?? { status: named.present ? named.status : "open", falsePositive: named.falsePositive, note: null };
  const after = decisionAfter({ before, named, decided });
  const own = updatedBy(named, after);
  const changes = { ...own.changes, ...decisionChanges({ before, after, own }) };
  const others = versions.filter(({ id, present }) => present && id !== target.id).map((version) => updatedBy(version, after));
  const following = others.filter((one) => isChange(one.changes));
  const followed = following.slice(0, followersMax);
  const { status, falsePositive } = own;
  const made = {
    target,
    status,
    falsePositive,
    note: after.note,
    changes,
    followed: followed.length,
    left: following.length - followed.length,
  };
  if (!isChange(changes) && followed.length === 0) return made;
  await store.upsertDecision({ ...target, ...after, by, at }, tx);
  await store.updateDecided([own, ...followed], tx);
  const updated = [{ ...own, changes }, ...followed].filter((one) => isChange(one.changes));
  const events = updated.map((one) => ({ finding: one.id, cause: "decided" as const, changes: one.changes }));
  await insertEvents(events, { actor: by, at }, tx);
  return made;
}

interface TriageManyRequest extends Omit<TriageRequest, "finding"> {
  actor: Actor;
  workspace: WorkspaceId;
  findings: readonly string[];
}

export const TriagedMany = Type.Object({
  updated: Type.Array(Type.String(), { description: "Ids of the findings that changed" }),
  unchanged: Type.Array(Type.String(), { description: "Ids of those to which the decision already applied" }),
  also_updated: Type.Integer({ description: "Findings of other versions of the same packages that followed" }),
});
export type TriagedMany = Static<typeof TriagedMany>;

/**
 * Stores one decision about several findings in one transaction.
 * @throws DomainError not_found for an unknown finding; conflict for one that is gone and cannot be reopened; forbidden for auditors;
 *   invalid_field for no decision, or one that would change too many findings
 */
export async function triageMany(
  { actor, workspace, findings, ...decided }: TriageManyRequest,
  sources: Sources,
): Promise<TriagedMany> {
  authorize(actor, { roles: writers, action: "decide about findings" });
  if (Object.values(decided).every((value) => value === undefined)) {
    throw new DomainError(
      "invalid_field",
      'Cannot triage findings without a decision: one of "status", "false_positive" and "note" is needed',
      {
        field: "status",
      },
    );
  }
  return change(actor, sources, async (tx) => {
    const ids = [...new Set(findings)];
    const targets = await Promise.all(ids.map((id) => store.selectTarget({ workspace, id }, tx)));
    const unknown = targets.findIndex((target) => target === undefined);
    if (unknown !== -1) throw findingNotFound(ids[unknown] ?? "");
    // Each decision locks its project. All calls lock projects in the same order, so they wait for each other and never deadlock.
    const inOrder = targets.flatMap((target) => target ?? []).toSorted((one, other) => compare(one.project, other.project));
    const by = authorOf(actor);
    const at = new Date(sources.clock.now());
    const results: TriageResult[] = [];
    for (const { id } of inOrder) {
      results.push(await triageIn(tx, { workspace, decided: { ...decided, finding: id }, by, at }));
      requireFew(results);
    }
    return { result: viewOf(results), event: results.flatMap((result) => eventOf(result) ?? []) };
  });
}

function isChange(changes: Changes): boolean {
  return Object.keys(changes).length > 0;
}

interface NotedDecision extends Decision {
  note: string | null;
}

/** @throws DomainError conflict if the call reopens a finding that is gone */
function decisionAfter({
  before,
  named,
  decided,
}: {
  before: NotedDecision;
  named: store.VersionRow;
  decided: TriageRequest;
}): NotedDecision {
  const { status, falsePositive = before.falsePositive, note } = decided;
  if (!named.present && (status === "open" || status === "in_progress")) {
    throw new DomainError(
      "conflict",
      `The finding "${decided.finding}" is gone from its project, so its status cannot be ${status}: it opens by itself when it returns`,
    );
  }
  // A gone finding is already resolved: setting `resolved` only reverses `ignored`, and does not set its status for a return.
  const kept = status === "resolved" && before.status === "ignored" ? "open" : before.status;
  const holds = status === undefined || (!named.present && status === "resolved") ? kept : status;
  return { status: holds, falsePositive, note: note === undefined ? before.note : note === "" ? null : note };
}

interface UpdatedFinding extends Decision {
  id: string;
  changes: Changes;
}

/** A gone finding stays resolved or becomes ignored; a present one follows the decision. */
function updatedBy(version: store.VersionRow, { status: decided, falsePositive }: Decision): UpdatedFinding {
  const status = version.present || decided === "ignored" ? decided : "resolved";
  const changes = changedFields({
    before: { status: version.status, false_positive: version.falsePositive },
    after: { status, false_positive: falsePositive },
  });
  return { id: version.id, status, falsePositive, changes };
}

/** What changes besides the finding itself: the note, and the status that a gone finding gets when it returns. */
function decisionChanges({ before, after, own }: { before: NotedDecision; after: NotedDecision; own: UpdatedFinding }): Changes {
  const { decision, ...rest } = changedFields({
    before: { note: before.note, decision: before.status },
    after: { note: after.note, decision: after.status },
  });
  return decision === undefined || own.changes["status"] !== undefined ? rest : { ...rest, decision };
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
