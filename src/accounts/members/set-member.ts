import type { Actor, Role } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { DomainError } from "../errors.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { viewMember } from "./list-members.ts";
import { endSessionsOfNewAdmin } from "./new-admin.ts";
import { requireAnotherSuperAdmin, requireRightOver } from "./member-rights.ts";
import { lockMember, updateMember, type MemberRow } from "./member-store.ts";
import type { MemberView } from "../workspaces/schema.ts";

/**
 * Changes the role of a member in a workspace. Setting the same role records nothing.
 * @throws DomainError not_found; forbidden except for admins and the operator; conflict for the last super admin
 */
export async function setMember(
  { actor, workspace, email, role }: { actor: Actor; workspace: WorkspaceId; email: string; role: Role },
  sources: Sources,
): Promise<MemberView> {
  return change(actor, sources, async (tx) => {
    const before = requireMember(email, await lockMember({ workspace, email: canonicalEmail(email) }, tx));
    const after = { ...before, role };
    requireRightOver({ actor, email: before.email, roles: [before.role, role], action: "change a member" });
    if (before.role === "super_admin") await requireAnotherSuperAdmin({ actor, workspace, email: before.email }, tx);
    if (role === before.role) return { result: viewMember(before), event: null };
    await endSessionsOfNewAdmin({ email: before.email, role }, tx);
    await updateMember(workspace, after, tx);
    const changes = changedFields({ before: { role: before.role }, after: { role } });
    return {
      result: viewMember(after),
      event: { event: "workspace.member.updated", workspace, target: before.email, changes },
    };
  });
}

/** @throws DomainError not_found */
export function requireMember(email: string, row: MemberRow | undefined): MemberRow {
  if (row) return row;
  throw new DomainError("not_found", `There is no member "${email}" in this workspace`, { field: "email" });
}
