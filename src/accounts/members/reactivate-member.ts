import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { DomainError } from "../errors.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { viewMember } from "./list-members.ts";
import { requireRightOver } from "./member-rights.ts";
import { lockMember, updateMember, type MemberRow } from "./member-store.ts";
import type { MemberView } from "../workspaces/schema.ts";
import { requireMember } from "./set-member.ts";

/**
 * Reactivates a member. Their keys stay revoked; they can create new ones.
 * @throws DomainError not_found; conflict for a person who has not accepted, unless the operator answers for them; forbidden except for
 *   admins and the operator
 */
export async function reactivateMember(
  { actor, workspace, email }: { actor: Actor; workspace: WorkspaceId; email: string },
  sources: Sources,
): Promise<MemberView> {
  return change(actor, sources, async (tx) => {
    const before = requireMember(email, await lockMember({ workspace, email: canonicalEmail(email) }, tx));
    requireRightOver({ actor, email: before.email, roles: [before.role], action: "reactivate a member" });
    if (before.active) return { result: viewMember(before), event: null };
    if (actor.kind === "member" && before.consent !== "given") {
      const message = `"${before.email}" has not accepted the membership: invite them again`;
      throw new DomainError("conflict", message, { field: "email" });
    }
    const after: MemberRow = { ...before, active: true, consent: "given" };
    await updateMember(workspace, after, tx);
    const event = { event: "workspace.member.reactivated", workspace, target: before.email, changes: {} };
    return { result: viewMember(after), event };
  });
}
