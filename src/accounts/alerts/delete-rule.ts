import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import { authorize, managers } from "../workspaces/authorize.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { auditedRule, findRule, noRule } from "./list-rules.ts";
import { deleteRuleRow } from "./rule-store.ts";
import type { AlertRuleDeleted } from "./schema.ts";

/**
 * Deletes a rule; what it told stays in the list of alerts.
 * @throws DomainError not_found also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function deleteRule(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  sources: Sources,
): Promise<AlertRuleDeleted> {
  authorize(actor, { roles: managers, action: "delete the rule of an alert" });
  return change(actor, sources, async (tx) => {
    const rule = await findRule(id, tx);
    if (rule.workspace !== workspace || !(await deleteRuleRow(id, tx))) throw noRule(id);
    const before = auditedRule(rule);
    const after = Object.fromEntries(Object.keys(before).map((field) => [field, null]));
    const event = { event: "alert.rule.deleted", workspace, target: id, changes: changedFields({ before, after }) };
    return { result: { id, deleted: true }, event };
  });
}
