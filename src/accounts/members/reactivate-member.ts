import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { viewMember } from "./list-members.ts";
import { endSessionsOfNewAdmin } from "./new-admin.ts";
import { requireRightOver } from "./member-rights.ts";
import { lockMember, updateMember } from "./member-store.ts";
import type { MemberView } from "../workspaces/schema.ts";
import { requireMember } from "./set-member.ts";

/**
 * Reactivates a member. Their keys stay revoked; they can create new ones.
 * @throws DomainError not_found; forbidden except for admins and the operator
 */
export async function reactivateMember(
  { actor, workspace, email }: { actor: Actor; workspace: WorkspaceId; email: string },
  sources: Sources,
): Promise<MemberView> {
  return change(actor, sources, async (tx) => {
    const before = requireMember(email, await lockMember({ workspace, email: canonicalEmail(email) }, tx));
    requireRightOver({ actor, email: before.email, roles: [before.role], action: "reactivate a member" });
    if (before.active) return { result: viewMember(before), event: null };
    const after = { ...before, active: true };
    await endSessionsOfNewAdmin(after, tx);
    await updateMember(workspace, after, tx);
    const event = { event: "workspace.member.reactivated", workspace, target: before.email, changes: {} };
    return { result: viewMember(after), event };
  });
}
