import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { authorize, operatorOnly } from "../workspaces/authorize.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { viewMember } from "./list-members.ts";
import { lockMember, updateMember } from "./member-store.ts";
import type { MemberView } from "../workspaces/schema.ts";
import { requireMember } from "./set-member.ts";

/**
 * Reactivates a member. Their keys stay revoked; they can create new ones.
 * @throws DomainError not_found; forbidden except for the operator
 */
export async function reactivateMember(
  { actor, workspace, email }: { actor: Actor; workspace: WorkspaceId; email: string },
  sources: Sources,
): Promise<MemberView> {
  authorize(actor, { roles: operatorOnly, action: "reactivate a member" });
  return change(actor, sources, async (tx) => {
    const before = requireMember(email, await lockMember({ workspace, email: canonicalEmail(email) }, tx));
    if (before.active) return { result: viewMember(before), event: null };
    const after = { ...before, active: true };
    await updateMember(workspace, after, tx);
    const event = { event: "workspace.member.reactivated", workspace, target: before.email, changes: {} };
    return { result: viewMember(after), event };
  });
}
