import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { DomainError } from "../errors.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import type { MemberForm, MemberView } from "../workspaces/schema.ts";
import { insertMember, lockMember, offerAgain } from "./member-store.ts";
import { viewMember } from "./list-members.ts";
import { requireRightOver } from "./member-rights.ts";
import { requireMember } from "./set-member.ts";

/**
 * Makes a person a member, and creates the account for a person's first workspace. An admin asks: the membership is pending until the
 * person accepts it, and a person who has not accepted is asked again. The operator, who runs the service, answers for whom he adds:
 * their membership is in force at once. The answer does not tell whether the address was known.
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
    const askedBy = actor.kind === "member" ? actor.email : null;
    const asked = { workspace, email, role, askedBy, at: new Date(sources.clock.now()) };
    const isNew = await insertMember(asked, tx);
    const row = requireMember(email, await lockMember({ workspace, email }, tx));
    if (!isNew) {
      if (row.consent === "given") {
        const message = row.active
          ? `"${email}" is a member of this workspace already`
          : `"${email}" was deactivated in this workspace: reactivate the member`;
        throw new DomainError("conflict", message, { field: "email" });
      }
      requireRightOver({ actor, email, roles: [row.role, role], action: "add a member" });
      await offerAgain(asked, tx);
    }
    const changes = changedFields({ before: {}, after: { role } });
    const event = { event: "workspace.member.added", workspace, target: email, changes };
    return { result: viewMember(requireMember(email, await lockMember({ workspace, email }, tx))), event };
  });
}
