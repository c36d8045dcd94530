/** Changes of members, which concern other people, and mails to those who are invited. */
import type { Actor } from "../accounts/audit/actor.ts";
import { addMember } from "../accounts/members/members.ts";
import { lockMember } from "../accounts/members/store.ts";
import { countAct } from "../accounts/quotas/hourly-acts.ts";
import { lockQuota } from "../accounts/quotas/store.ts";
import { LimitReachedError } from "../accounts/errors.ts";
import { createSignInLink } from "../accounts/sessions/links.ts";
import { canonicalEmail } from "../accounts/workspaces/fields.ts";
import type { MemberForm, MemberView } from "../accounts/workspaces/schema.ts";
import { insertMail } from "../accounts/mails/store.ts";
import type { WorkspaceId } from "../kernel/ids.ts";
import type { Transaction } from "../backing/backing.ts";
import type { Clock } from "../kernel/clock.ts";
import { inviteAgainMs, memberChangesPerHourMax } from "./limits.ts";
import type { ControlParts } from "./parts.ts";

interface Sources {
  sql: Transaction;
  clock: Clock;
}

/** Runs a change of members and counts it with those of the workspace's admins, all or nothing. @throws LimitReachedError */
export function countedChange(
  { actor, workspace }: { actor: Actor; workspace: WorkspaceId },
  { sql, clock }: Pick<ControlParts, "sql" | "clock">,
  work: (sources: Sources) => Promise<MemberView>,
): Promise<MemberView> {
  return sql.begin(async (tx) => {
    const result = await work({ sql: tx, clock });
    if (actor.kind === "member")
      await countAct({ workspace, act: "changes of members", max: memberChangesPerHourMax }, { sql: tx, clock });
    return result;
  });
}

interface Invitation {
  actor: Actor;
  workspace: { id: WorkspaceId; name: string };
  member: MemberForm;
  /** Whether the person gets a mail. */
  mails: boolean;
}

/**
 * Makes a person a member, or asks them to become one. A mail has a link that signs them in, and where they are asked, takes their answer.
 * Only the mail has the link: whoever invites an address that has an account elsewhere must not be able to sign in as its person.
 * @throws DomainError as `addMember` does; LimitReachedError for a person who was asked within the last hour
 */
export function inviteMember({ actor, workspace, member, mails }: Invitation, parts: ControlParts): Promise<MemberView> {
  return countedChange({ actor, workspace: workspace.id }, parts, async (sources) => {
    if (actor.kind === "member") await requireNotAskedLately({ workspace: workspace.id, email: member.email }, sources);
    const view = await addMember({ actor, workspace: workspace.id, member }, sources);
    if (mails) await mailInvitation({ by: actor, workspace, invited: view }, parts.publicUrl, sources);
    return view;
  });
}

async function requireNotAskedLately(
  { workspace, email: typed }: { workspace: WorkspaceId; email: string },
  { sql, clock }: Sources,
): Promise<void> {
  const email = canonicalEmail(typed);
  // Of many at once for a new address only the first finds no row.
  await lockQuota({ workspace, counted: "invitations" }, sql);
  const row = await lockMember({ workspace, email }, sql);
  if (row === undefined || row.consent === "given" || row.askedAt === null) return;
  const retryAfterMs = row.askedAt.getTime() + inviteAgainMs - clock.now();
  if (retryAfterMs <= 0) return;
  const minutes = Math.ceil(retryAfterMs / 60_000);
  const message = `"${email}" was invited within the last hour: invite them again in ${minutes} ${minutes === 1 ? "minute" : "minutes"}`;
  throw new LimitReachedError(message, { status: 429, retryAfterMs });
}

interface Invited {
  by: Actor;
  workspace: { id: WorkspaceId; name: string };
  invited: MemberView;
}

async function mailInvitation({ by, workspace, invited }: Invited, publicUrl: string, { sql, clock }: Sources): Promise<void> {
  const { email, role, state } = invited;
  const { path, expiresAt } = await createSignInLink({ email, purpose: "invitation", workspace: workspace.id }, { sql, clock });
  const name = `the workspace "${workspace.name}"`;
  const words =
    state === "pending"
      ? {
          what: `${by.kind === "member" ? by.email : "The operator"} invites you to ${name} as ${role}.`,
          how: "Accept or decline, once and before",
          else: "Until you accept, nothing changes for you.",
        }
      : {
          what: `The operator made you a member (${role}) of ${name}.`,
          how: "Sign in and choose a password, once and before",
          else: "If you did not expect this, ignore it: nothing happens.",
        };
  const body = `${words.what}\n\n${words.how} ${expiresAt}:\n\n  ${publicUrl}${path}\n\n${words.else}\n`;
  const subject = `You are invited to the workspace "${workspace.name}"`;
  await insertMail({ ticket: null, recipient: email, subject, body, at: new Date(clock.now()) }, sql);
}
