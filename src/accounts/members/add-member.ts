import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { DomainError } from "../errors.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import type { MemberForm, MemberView } from "../workspaces/schema.ts";
import { insertMember, selectMembers } from "./member-store.ts";
import { endSessionsOfNewAdmin } from "./new-admin.ts";
import { viewMember } from "./list-members.ts";
import { requireRightOver } from "./member-rights.ts";

/**
 * Makes a person a member, and creates the account for a person's first workspace.
 * @throws DomainError conflict for a person who is a member already; forbidden except for admins and the operator
 */
export async function addMember(
  { actor, workspace, member }: { actor: Actor; workspace: WorkspaceId; member: MemberForm },
  sources: Sources,
): Promise<MemberView> {
  const email = canonicalEmail(member.email);
  const role = member.role;
  requireRightOver({ actor, email, roles: [role], action: "add a member" });
  return change(actor, sources, async (tx) => {
    await endSessionsOfNewAdmin({ email, role }, tx);
    const added = await insertMember({ workspace, email, role, at: sources.clock.now() }, tx);
    const [row] = await selectMembers({ workspace, email }, tx);
    if (!added || !row) {
      throw new DomainError("conflict", `"${email}" is a member of this workspace already`, { field: "email" });
    }
    const changes = changedFields({ before: {}, after: { role } });
    return { result: viewMember(row), event: { event: "workspace.member.added", workspace, target: email, changes } };
  });
}
