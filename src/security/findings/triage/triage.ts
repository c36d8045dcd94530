/**
 * What a person decides about a finding. It is kept for the issue in this package of the project, whatever its version, so that a new
 * document cannot lose it, and every version that is there follows at once.
 */
import type { Actor } from "../../../accounts/audit/actor.ts";
import { change, type Sources } from "../../../accounts/audit/change.ts";
import { changedFields, type Changes } from "../../../accounts/audit/changes.ts";
import type { Transaction } from "../../../backing/backing.ts";
import { allowLocks, allowStatements } from "../../../backing/statement-time.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { decisionWaitMs } from "../../limits.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { authorize, writers } from "../../../accounts/workspaces/authorize.ts";
import { findingNotFound } from "../finding-not-found.ts";
import { insertEvents } from "../scan/scan-store.ts";
import type { FindingStatus } from "../schema.ts";
import {
  lockDecisions,
  selectDecisions,
  selectTarget,
  selectVersions,
  updateDecided,
  upsertDecision,
  type Target,
  type VersionRow,
} from "../triage-store.ts";
import type { Decision } from "../transitions.ts";

export interface TriageRequest {
  finding: string;
  status?: FindingStatus | undefined;
  falsePositive?: boolean | undefined;
  /** Empty: none. */
  note?: string | undefined;
}

export interface TriageResult {
  target: Target;
  status: FindingStatus;
  falsePositive: boolean;
  note: string | null;
  /** Of the finding that was named, and of the note; empty: all was so already. */
  changes: Changes;
  /** How many findings of other versions followed. */
  followed: number;
}

interface Noted extends Decision {
  note: string | null;
}

/** @throws DomainError not_found; conflict for a finding that is gone and cannot be opened; forbidden for auditors */
export async function decide(
  { actor, workspace, decided }: { actor: Actor; workspace: WorkspaceId; decided: TriageRequest },
  sources: Sources,
): Promise<TriageResult> {
  authorize(actor, { roles: writers, action: "decide about findings" });
  return change(actor, sources, async (tx) => {
    const by = actor.kind === "member" ? actor.email : actor.kind;
    const made = await decideIn(tx, { workspace, decided, by, at: new Date(sources.clock.now()) });
    const { changes, followed, target } = made;
    const event =
      !isChange(changes) && followed === 0
        ? null
        : { event: "finding.updated", workspace: target.workspace, target: target.id, changes };
    return { result: made, event };
  });
}

async function decideIn(
  tx: Transaction,
  { workspace, decided, by, at }: { workspace: WorkspaceId; decided: TriageRequest; by: string; at: Date },
): Promise<TriageResult> {
  const target = await selectTarget({ workspace, id: decided.finding }, tx);
  if (target === undefined) throw findingNotFound(decided.finding);
  // A scan or an import has the project for the time of a transaction.
  await allowLocks(decisionWaitMs, tx);
  await allowStatements(decisionWaitMs, tx);
  await lockDecisions(target.project, tx);
  const versions = await selectVersions(target, tx);
  const named = versions.find(({ id }) => id === target.id);
  if (named === undefined) throw findingNotFound(decided.finding);
  const [standing] = await selectDecisions({ project: target.project, pairs: [target] }, tx);
  const before = standing ?? { status: named.present ? named.status : "open", falsePositive: named.falsePositive, note: null };
  const after = decisionAfter({ before, named, decided });
  const own = movedBy(named, after);
  const changes = { ...own.changes, ...decisionChanges({ before, after, own }) };
  const others = versions.filter(({ id, present }) => present && id !== target.id).map((version) => movedBy(version, after));
  const followed = others.filter((moved) => isChange(moved.changes));
  const { status, falsePositive } = own;
  const made = { target, status, falsePositive, note: after.note, changes, followed: followed.length };
  if (!isChange(changes) && followed.length === 0) return made;
  await upsertDecision({ ...target, ...after, by, at }, tx);
  await updateDecided([own, ...followed], tx);
  const moved = [{ ...own, changes }, ...followed].filter((one) => isChange(one.changes));
  const events = moved.map((one) => ({ finding: one.id, cause: "decided" as const, changes: one.changes }));
  await insertEvents(events, { actor: by, at }, tx);
  return made;
}

function isChange(changes: Changes): boolean {
  return Object.keys(changes).length > 0;
}

/** What changed beside the finding itself: the note, and what is to hold when a finding that is gone comes back. */
function decisionChanges({ before, after, own }: { before: Noted; after: Noted; own: Moved }): Changes {
  const { decision, ...rest } = changedFields({
    before: { note: before.note, decision: before.status },
    after: { note: after.note, decision: after.status },
  });
  return decision === undefined || own.changes["status"] !== undefined ? rest : { ...rest, decision };
}

/** @throws DomainError conflict where the caller opens a finding that is gone */
function decisionAfter({ before, named, decided }: { before: Noted; named: VersionRow; decided: TriageRequest }): Noted {
  const { status, falsePositive = before.falsePositive, note } = decided;
  if (!named.present && (status === "open" || status === "in_progress")) {
    throw new DomainError(
      "conflict",
      `The finding "${decided.finding}" is gone from its project, so that its status cannot be ${status}: it opens by itself when it is back`,
    );
  }
  // What is gone is resolved: to say so takes back that it was ignored, and says nothing else of what is to hold when it is back.
  const kept = status === "resolved" && before.status === "ignored" ? "open" : before.status;
  const holds = status === undefined || (!named.present && status === "resolved") ? kept : status;
  return { status: holds, falsePositive, note: note === undefined ? before.note : note === "" ? null : note };
}

interface Moved extends Decision {
  id: string;
  changes: Changes;
}

/** What is gone stays resolved, or is ignored; what is there follows the decision. */
function movedBy(version: VersionRow, { status: decided, falsePositive }: Decision): Moved {
  const status = version.present || decided === "ignored" ? decided : "resolved";
  const changes = changedFields({
    before: { status: version.status, false_positive: version.falsePositive },
    after: { status, false_positive: falsePositive },
  });
  return { id: version.id, status, falsePositive, changes };
}
