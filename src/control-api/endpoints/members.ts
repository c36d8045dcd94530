/**
 * Endpoints for members of a workspace. Inviting and changing roles require a recent sign-in, so that someone at an unattended browser
 * cannot add their own address. They count against the workspace's hourly changes, since each invitation is a mail. A mailed link signs its
 * person in and takes their answer; the person who invites never sees it.
 */
import { Type } from "@sinclair/typebox";
import { type Actor, managers } from "../../accounts/audit/actor.ts";
import { LimitReachedError } from "../../accounts/errors.ts";
import { deactivateMember } from "../../accounts/keys/deactivate-member.ts";
import { selectCallers } from "../../accounts/keys/store.ts";
import { insertMail } from "../../accounts/mails/store.ts";
import { listMembers, memberWithReserved, reactivateMember, setMember, addMember } from "../../accounts/members/members.ts";
import { selectMembers, lockMember } from "../../accounts/members/store.ts";
import { countAct } from "../../accounts/quotas/hourly-acts.ts";
import { lockQuota } from "../../accounts/quotas/store.ts";
import { createInvitationLink, createSignInLink, LinkView } from "../../accounts/sessions/links.ts";
import { canonicalEmail, emailOf, line } from "../../accounts/workspaces/fields.ts";
import { ListedMember, MemberEdit, MemberForm, MemberView } from "../../accounts/workspaces/schema.ts";
import type { Transaction } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { inWorkspace, listOf, NamedWorkspace, NoFields, parseRowLimit, rowLimit } from "../fields.ts";
import { endpoint } from "../endpoint.ts";
import { memberRowsMax, inviteAgainMs, memberChangesPerHourMax } from "../limits.ts";
import type { ControlParts } from "../parts.ts";

export const memberEndpoints = {
  add: endpoint({
    method: "POST",
    path: "/members",
    command: { name: "member add", flags: { invite: { bare: true } } },
    summary:
      "Invite a person to a workspace: an admin's invitation is pending until they accept, and the operator's is in force at once",
    fields: Type.Composite([
      inWorkspace(MemberForm),
      Type.Object({
        invite: Type.Optional(
          Type.Boolean({
            title: "Whether the person gets a mail with a link to answer and sign in",
            description: "true or false",
          }),
        ),
      }),
    ]),
    view: MemberView,
    status: 201,
    async handle({ input: { workspace: named, invite = false, ...member }, actors, parts }) {
      // Someone at an unattended browser must not be able to add their own address.
      if (managers.includes(member.role)) actors.requireRecentSignIn("add an admin");
      const { actor, workspace } = await actors.inWorkspace(named);
      return inviteMember({ actor, workspace, member, mails: invite }, parts);
    },
  }),
  list: endpoint({
    method: "GET",
    path: "/members",
    command: "member list",
    summary: "List the members of a workspace, by address",
    fields: Type.Object({
      workspace: NamedWorkspace,
      email: Type.Optional(emailOf("Only this one")),
      text: Type.Optional(line("a part of an address", { title: "Only those with this text in their address", minLength: 1 })),
      limit: rowLimit({ normal: memberRowsMax, max: memberRowsMax }),
      after: Type.Optional(emailOf("Only addresses after this one, for the next page")),
    }),
    view: listOf(ListedMember),
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const page = {
        email: input.email ?? null,
        text: input.text ?? null,
        after: input.after ?? null,
        limit: parseRowLimit(input.limit, { normal: memberRowsMax, max: memberRowsMax }),
      };
      const members = await listMembers({ actor, workspace: workspace.id, page }, parts);
      const reserved = await reservedByMember(workspace.id, parts);
      const described = members.map((one) => memberWithReserved(one, reserved && (reserved.get(one.email) ?? 0n)));
      return { data: described };
    },
  }),
  edit: endpoint({
    method: "PATCH",
    path: "/members/:id",
    command: { name: "member set", flags: { id: "email", monthly_spend_limit_usd: "limit" } },
    summary: "Change a member's role or monthly spend limit; omitted ones stay",
    fields: inWorkspace(MemberEdit),
    view: MemberView,
    async handle({ input, id: email, actors, parts }) {
      const { workspace: named, ...edit } = input;
      const { actor, workspace } = await actors.inWorkspace(named);
      if (edit.role !== undefined) actors.requireRecentSignIn("change a role");
      const place = { actor, workspace: workspace.id };
      return countedChange(place, parts, (sources) => setMember({ ...place, email, edit }, sources));
    },
  }),
  createLink: endpoint({
    method: "POST",
    path: "/members/:id/link",
    command: { name: "member link", flags: { id: "email" } },
    summary: "Create a link by which an invited person accepts, once and within a day, where no mail server is set up",
    fields: inWorkspace(NoFields),
    view: LinkView,
    status: 201,
    async handle({ input, id: email, actors, parts }) {
      actors.requireRecentSignIn("create an invitation link");
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const asked = { actor, workspace: workspace.id, email };
      const create = (sources: Sources) => createInvitationLink(asked, { ...sources, sendsMail: parts.sendsMail });
      const { path, expiresAt } = await countedChange(asked, parts, create);
      return { url: parts.publicUrl + path, expires_at: expiresAt };
    },
  }),
  deactivate: endpoint({
    method: "POST",
    path: "/members/:id/deactivate",
    command: { name: "member deactivate", flags: { id: "email" } },
    summary: "End a membership, or take an invitation back, and revoke the member's keys in the workspace, irrevocably",
    fields: inWorkspace(NoFields),
    view: MemberView,
    async handle({ input, id: email, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      // Not counted: otherwise an intruder could use up the hourly changes, and then could not be removed.
      return deactivateMember({ actor, workspace: workspace.id, email }, parts);
    },
  }),
  reactivate: endpoint({
    method: "POST",
    path: "/members/:id/reactivate",
    command: { name: "member reactivate", flags: { id: "email" } },
    summary: "Reactivate a member; revoked keys stay revoked",
    fields: inWorkspace(NoFields),
    view: MemberView,
    async handle({ input, id: email, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      // As for a new admin.
      const [member] = await selectMembers({ workspace: workspace.id, email: canonicalEmail(email) }, parts.sql);
      if (member && managers.includes(member.role)) actors.requireRecentSignIn("reactivate an admin");
      const place = { actor, workspace: workspace.id };
      return countedChange(place, parts, (sources) => reactivateMember({ ...place, email }, sources));
    },
  }),
};

/** What open requests reserve, by the address of the person behind them; null: not known. */
async function reservedByMember(
  workspace: WorkspaceId,
  { reservedByKey, sql }: Pick<ControlParts, "reservedByKey" | "sql">,
): Promise<ReadonlyMap<string, NanoUsd> | null> {
  const byKey = await reservedByKey(workspace);
  if (byKey === null || byKey.size === 0) return byKey;
  const sums = new Map<string, NanoUsd>();
  for (const { id, email } of await selectCallers([...byKey.keys()], sql))
    sums.set(email, (sums.get(email) ?? 0n) + (byKey.get(id) ?? 0n));
  return sums;
}

/** What a change of members needs. */
interface Sources {
  sql: Transaction;
  clock: Clock;
}

/** Runs a change of members and counts it in the hourly changes of the workspace's admins, both or neither. @throws LimitReachedError */
async function countedChange<Result>(
  { actor, workspace }: { actor: Actor; workspace: WorkspaceId },
  { sql, clock }: Pick<ControlParts, "sql" | "clock">,
  work: (sources: Sources) => Promise<Result>,
): Promise<Result> {
  const { result } = await sql.begin(async (tx) => {
    const done = await work({ sql: tx, clock });
    if (actor.kind === "member")
      await countAct({ workspace, act: "changes of members", max: memberChangesPerHourMax }, { sql: tx, clock });
    return { result: done };
  });
  return result;
}

interface Invitation {
  actor: Actor;
  workspace: { id: WorkspaceId; name: string };
  member: MemberForm;
  /** Whether the person gets a mail. */
  mails: boolean;
}

/**
 * Adds a person as a member, or invites them. No answer has the link: inviting an address that has an account elsewhere must not allow
 * signing in as its person.
 * @throws DomainError as `addMember` does; LimitReachedError for a person who was invited within the last hour
 */
function inviteMember({ actor, workspace, member, mails }: Invitation, parts: ControlParts): Promise<MemberView> {
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
  // If many invite a new address at once, only the first finds no row.
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
