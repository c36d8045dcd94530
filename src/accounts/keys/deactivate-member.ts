/**
 * Ends a membership, or takes an invitation back, with all its consequences in one transaction. The keys of the member in the workspace are
 * revoked and stay so after a reactivation. Sessions and other links belong to the person and stay: from its next request on, a session no
 * longer includes this workspace.
 */
import type { Actor } from "../audit/actor.ts";
import { change, type AuditEvent, type Sources, changedFields } from "../audit/change.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { viewMember, requireAnotherSuperAdmin, requireRightOver, requireMember } from "../members/members.ts";
import { deleteInvitationLinks } from "../sessions/store.ts";
import { lockMember, updateMember, type MemberRow } from "../members/store.ts";
import type { MemberView } from "../workspaces/schema.ts";
import { revokeKeysOf } from "./store.ts";

/** @throws DomainError not_found; forbidden except for admins and the operator; conflict for the last super admin */
export async function deactivateMember(
  { actor, workspace, email }: { actor: Actor; workspace: WorkspaceId; email: string },
  sources: Sources,
): Promise<MemberView> {
  return change(actor, sources, async (tx) => {
    const before = requireMember(email, await lockMember({ workspace, email: canonicalEmail(email) }, tx));
    requireRightOver({ actor, email: before.email, roles: [before.role], action: "deactivate a member" });
    if (before.role === "super_admin") await requireAnotherSuperAdmin({ actor, workspace, email: before.email }, tx);
    if (!before.active && before.consent !== "asked") return { result: viewMember(before), event: null };
    const after: MemberRow = { ...before, active: false, consent: before.active ? "given" : "none" };
    await updateMember(workspace, after, tx);
    await deleteInvitationLinks({ email: before.email, workspace }, tx);
    const now = sources.clock.now();
    const keys = await revokeKeysOf({ workspace, owner: before.email, at: new Date(now) }, tx);
    const changes = changedFields({ before: {}, after: { revoked_at: isoTime(now) } });
    const revoked = keys.map((target): AuditEvent => ({ event: "auth.api.key.revoked", workspace, target, changes }));
    const deactivated: AuditEvent = { event: "workspace.member.deactivated", workspace, target: before.email, changes: {} };
    return { result: viewMember(after), event: [deactivated, ...revoked] };
  });
}
