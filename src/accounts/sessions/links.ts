/**
 * Links that sign a person in once: mailed with invitations and for new passwords, or given out by the operator. Only a link's hash is
 * stored. Of several uses at once, one succeeds. The operator's link counts as both factors, since the operator made it and hands it over.
 * Where no mail server is set up and there is one workspace, an admin may hand over the link of an invitation.
 */
import { Type } from "@sinclair/typebox";
import type { Queries, Transaction } from "../../backing/backing.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Actor, Operator } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { DomainError } from "../errors.ts";
import { invitationLinkMsMax, passwordLinkMsMax, signInLinkMsMax } from "../limits.ts";
import { accountEvents } from "../members/accounts.ts";
import { requireMember, requireRightOver } from "../members/members.ts";
import { hasSeveralWorkspaces, isEstablished, lockAccount, lockMember, selectMemberships } from "../members/store.ts";
import { canonicalEmail, emailOf } from "../workspaces/fields.ts";
import { hashToken, isToken, newToken } from "./session.ts";
import { deleteInvitationLinks, deleteLink, insertLink, selectLink, type LinkPurpose, type SignInLink } from "./store.ts";

/**
 * Creates a link for the operator to hand over. Each workspace that the person has joined gets an audit row.
 * @throws DomainError not_found; conflict for an account that is not active
 */
export function createLink({ actor, email: typed }: { actor: Operator; email: string }, sources: Sources) {
  const email = canonicalEmail(typed);
  return change(actor, sources, async (tx) => {
    const state = await lockAccount(email, tx);
    if (state === undefined) throw new DomainError("not_found", `There is no account "${email}"`, { field: "email" });
    if (state !== "active") throw new DomainError("conflict", `The account "${email}" is ${state}`, { field: "email" });
    const result = await createSignInLink({ email, purpose: "sign in" }, { sql: tx, clock: sources.clock });
    const memberships = await selectMemberships(email, tx);
    return { result, event: accountEvents(memberships, { event: "account.link.created", target: email, changes: {} }) };
  });
}

/**
 * Creates a link by which an invited person accepts and signs in, for an admin to hand over where no mail can carry it. Earlier links of
 * the invitation end. Whoever opens it becomes that person, so it exists only where this reaches nothing else: in a service with one
 * workspace, for a person who has never accepted a membership and has no way to sign in. Everywhere else the operator creates links.
 * @throws DomainError not_found; conflict where a mail carries the invitation, none waits, or the link would reach more; forbidden except for
 *   admins and the operator
 */
export function createInvitationLink(
  { actor, workspace, email: typed }: { actor: Actor; workspace: WorkspaceId; email: string },
  { sendsMail, ...sources }: Sources & { sendsMail: boolean },
) {
  const email = canonicalEmail(typed);
  const refuse = (cause: string) =>
    new DomainError("conflict", `Cannot create a link for "${email}": ${cause}`, { field: "email" });
  return change(actor, sources, async (tx) => {
    const { role, consent, account } = requireMember(typed, await lockMember({ workspace, email }, tx));
    requireRightOver({ actor, email, roles: [role], action: "create an invitation link" });
    if (sendsMail) throw refuse("the service sends mails; invite them again");
    if (consent !== "asked" || account !== "active") throw refuse("no invitation waits for their answer");
    const more = await reachesMore(email, tx);
    if (more !== null) throw refuse(more);
    await deleteInvitationLinks({ email, workspace }, tx);
    const result = await createSignInLink({ email, purpose: "handed", workspace }, { sql: tx, clock: sources.clock });
    return { result, event: { event: "account.link.created", workspace, target: email, changes: {} } };
  });
}

/** How long a link is valid, by its purpose. */
const linkMsMax: Record<LinkPurpose, number> = {
  start: signInLinkMsMax,
  "sign in": signInLinkMsMax,
  invitation: invitationLinkMsMax,
  handed: invitationLinkMsMax,
  password: passwordLinkMsMax,
};

interface LinkSources {
  sql: Queries;
  clock: Clock;
}

interface NewLink extends Omit<SignInLink, "workspace"> {
  /** The workspace of an invitation. */
  workspace?: WorkspaceId;
}

/** @returns the path of the link, which is given out once and not stored, and when it expires (ISO 8601) */
export async function createSignInLink(
  { email, purpose, workspace }: NewLink,
  { sql, clock }: LinkSources,
): Promise<{ path: string; expiresAt: string }> {
  const token = newToken();
  const nowMs = clock.now();
  const expiresMs = nowMs + linkMsMax[purpose];
  const times = { createdAt: new Date(nowMs), expiresAt: new Date(expiresMs) };
  await insertLink({ tokenHash: hashToken(token), email, purpose, workspace: workspace ?? null, ...times }, sql);
  return { path: `/console/link/${token}`, expiresAt: isoTime(expiresMs) };
}

/** Reads a link and leaves it usable. @returns null if it is unknown, used or expired, or its account is not active */
export async function findSignInLink(token: string, { sql, clock }: LinkSources): Promise<SignInLink | null> {
  if (!isToken(token)) return null;
  const link = await selectLink({ tokenHash: hashToken(token), now: new Date(clock.now()) }, sql);
  if (link === undefined) return null;
  // What did not hold when an admin got the link may hold by now.
  return link.purpose === "handed" && (await reachesMore(link.email, sql)) !== null ? null : link;
}

/** Why a link in an admin's hands would reach more than the admin's workspace; null: it would not. */
async function reachesMore(email: string, sql: Queries): Promise<string | null> {
  if (await hasSeveralWorkspaces(sql)) return "the service has several workspaces, so only the operator creates links";
  return (await isEstablished(email, sql)) ? "they have signed in before; they accept on the page Invitations" : null;
}

/** Uses up a link. @returns null as `findSignInLink` does; of several uses at once, one succeeds */
export async function takeSignInLink(
  token: string,
  { sql, clock }: { sql: Transaction; clock: Clock },
): Promise<SignInLink | null> {
  const link = await findSignInLink(token, { sql, clock });
  if (link === null) return null;
  return (await deleteLink(hashToken(token), sql)) ? link : null;
}

export const LinkForm = Type.Object({ email: emailOf("The person's address") });

export const LinkView = Type.Object({
  url: Type.String({ description: "Signs the person in, once" }),
  expires_at: Type.String({ description: "When it expires, ISO 8601 in UTC" }),
});
