import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { changedFields, type Fields } from "../audit/changes.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd } from "../../kernel/money.ts";
import { DomainError } from "../errors.ts";
import { canonicalEmail, parseAmount } from "../workspaces/fields.ts";
import { viewMember } from "./list-members.ts";
import { requireAnotherSuperAdmin, requireRightOver } from "./member-rights.ts";
import { lockMember, updateMember, type MemberRow } from "./member-store.ts";
import type { MemberEdit, MemberView } from "../workspaces/schema.ts";

/**
 * Changes the role of a member in a workspace, or what they may spend in a month. Setting the same values records nothing.
 * @throws DomainError not_found; invalid_field; forbidden except for admins and the operator; conflict for the last super admin
 */
export async function setMember(
  { actor, workspace, email, edit }: { actor: Actor; workspace: WorkspaceId; email: string; edit: MemberEdit },
  sources: Sources,
): Promise<MemberView> {
  return change(actor, sources, async (tx) => {
    const before = requireMember(email, await lockMember({ workspace, email: canonicalEmail(email) }, tx));
    const after = edited(before, edit);
    const { role } = after;
    requireRightOver({ actor, email: before.email, roles: [before.role, role], action: "change a member" });
    if (before.role === "super_admin" && edit.role !== undefined)
      await requireAnotherSuperAdmin({ actor, workspace, email: before.email }, tx);
    const changes = changedFields({ before: audited(before), after: audited(after) });
    if (Object.keys(changes).length === 0) return { result: viewMember(before), event: null };
    await updateMember(workspace, after, tx);
    return {
      result: viewMember(after),
      event: { event: "workspace.member.updated", workspace, target: before.email, changes },
    };
  });
}

function edited(before: MemberRow, { role = before.role, monthly_spend_limit_usd: text }: MemberEdit): MemberRow {
  if (text === undefined) return { ...before, role };
  const field = "monthly_spend_limit_usd";
  return { ...before, role, monthlyLimit: text === null ? null : parseAmount({ field, text, decimalsMax: 2 }) };
}

/** The fields by their names in the control API. */
function audited({ role, monthlyLimit }: MemberRow): Fields {
  return { role, monthly_spend_limit_usd: monthlyLimit === null ? null : formatUsd(monthlyLimit) };
}

/** @throws DomainError not_found */
export function requireMember(email: string, row: MemberRow | undefined): MemberRow {
  if (row) return row;
  throw new DomainError("not_found", `There is no member "${email}" in this workspace`, { field: "email" });
}
