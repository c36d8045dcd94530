/** Stores one decision about several findings, in one transaction: either about all of them, or about none. */
import { Type, type Static } from "@sinclair/typebox";
import type { Actor } from "../../../accounts/audit/actor.ts";
import { change, type Sources } from "../../../accounts/audit/change.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { authorize, writers } from "../../../accounts/workspaces/authorize.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { findingsFollowingMax } from "../limits.ts";
import { findingNotFound } from "../finding-not-found.ts";
import { selectTarget } from "../triage-store.ts";
import { authorOf, eventOf, triageIn, type TriageRequest, type TriageResult } from "./triage.ts";

export interface TriageManyRequest extends Omit<TriageRequest, "finding"> {
  actor: Actor;
  workspace: WorkspaceId;
  findings: readonly string[];
}

export const TriagedMany = Type.Object({
  updated: Type.Array(Type.String(), { description: "Ids of the findings that changed" }),
  unchanged: Type.Array(Type.String(), { description: "Ids of those to which the decision applied already" }),
  also_updated: Type.Integer({ description: "Findings of other versions of the same packages that followed" }),
});
export type TriagedMany = Static<typeof TriagedMany>;

/**
 * @throws DomainError not_found for an unknown finding; conflict for one that is gone and cannot be opened; forbidden for auditors;
 *   invalid_field without a decision, or with one that would change too many findings
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
    const targets = await Promise.all(ids.map((id) => selectTarget({ workspace, id }, tx)));
    const unknown = targets.findIndex((target) => target === undefined);
    if (unknown !== -1) throw findingNotFound(ids[unknown] ?? "");
    // Each decision locks its project: two calls that lock projects in one order wait for each other and never both.
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

/** Other versions follow, of which a package has up to a thousand: one call would change all findings of a project at once. */
function requireFew(results: readonly TriageResult[]): void {
  const changed = results.reduce((sum, { followed }) => sum + 1 + followed, 0);
  if (results.length === 1 || changed <= findingsFollowingMax) return;
  const message = `The decision would change more than ${findingsFollowingMax} findings, since other versions follow: name fewer`;
  throw new DomainError("invalid_field", message, { field: "findings" });
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** A finding may have followed one that was named before it: then it changed too. */
function viewOf(results: readonly TriageResult[]): TriagedMany {
  const isUpdated = (result: TriageResult) => eventOf(result) !== null;
  return {
    updated: results.filter(isUpdated).map(({ target }) => target.id),
    unchanged: results.filter((result) => !isUpdated(result)).map(({ target }) => target.id),
    also_updated: results.reduce((sum, { followed }) => sum + followed, 0),
  };
}
