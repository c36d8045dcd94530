import type { Actor } from "../accounts/audit/actor.ts";
import { addMember } from "../accounts/members/add-member.ts";
import { countMembersSince } from "../accounts/members/member-store.ts";
import { LimitReachedError } from "../accounts/quotas/limit-reached.ts";
import { createSignInLink } from "../accounts/sessions/sign-in-links.ts";
import type { MemberForm, MemberView } from "../accounts/workspaces/schema.ts";
import { insertMail } from "../accounts/mails/store.ts";
import type { WorkspaceId } from "../kernel/ids.ts";
import type { Queries } from "../backing/backing.ts";
import type { Clock } from "../kernel/clock.ts";
import { invitedPerHourMax, invitedPerMs } from "./limits.ts";
import type { ControlParts } from "./parts.ts";

interface Invitation {
  actor: Actor;
  workspace: { id: WorkspaceId; name: string };
  member: MemberForm;
}

/**
 * Makes a person a member and sends them a mail with a link that signs them in, all or nothing. Only the mail has the link: whoever
 * invites an address that has an account elsewhere must not be able to sign in as its person.
 * @throws DomainError as `addMember` does; LimitReachedError for an admin whose workspace has got many members in the last hour
 */
export function inviteMember(
  { actor, workspace, member }: Invitation,
  { sql, clock, publicUrl }: ControlParts,
): Promise<MemberView> {
  return sql.begin(async (tx) => {
    if (actor.kind === "member") await requireFewInvited(workspace.id, { sql: tx, clock });
    const view = await addMember({ actor, workspace: workspace.id, member }, { sql: tx, clock });
    const { path, expiresAt } = await createSignInLink({ email: view.email, purpose: "invitation" }, { sql: tx, clock });
    const by = actor.kind === "member" ? actor.email : "The operator";
    const body = `${by} made you a member (${view.role}) of the workspace "${workspace.name}".

Sign in and choose a password, once and before ${expiresAt}:

  ${publicUrl}${path}

If you did not expect this, ignore it: nothing happens.
`;
    const subject = `You are invited to the workspace "${workspace.name}"`;
    await insertMail({ ticket: null, recipient: view.email, subject, body, at: new Date(clock.now()) }, tx);
    return view;
  });
}

async function requireFewInvited(workspace: WorkspaceId, { sql, clock }: { sql: Queries; clock: Clock }): Promise<void> {
  const since = new Date(clock.now() - invitedPerMs);
  if ((await countMembersSince({ workspace, since }, sql)) < invitedPerHourMax) return;
  const message = `Cannot invite more than ${invitedPerHourMax} people in an hour: try again later`;
  throw new LimitReachedError(message, { status: 429, retryAfterMs: invitedPerMs });
}
