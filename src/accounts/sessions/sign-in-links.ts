/** Links that sign a person in once: for invitations, new passwords, and where an operator gives one out. */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { invitationLinkMsMax, passwordLinkMsMax, signInLinkMsMax } from "../limits.ts";
import { deleteLink, insertLink, selectLink, type LinkPurpose, type SignInLink } from "./link-store.ts";
import { hashToken, isToken, newToken } from "./token.ts";

const linkMsMax: Record<LinkPurpose, number> = {
  "sign in": signInLinkMsMax,
  invitation: invitationLinkMsMax,
  password: passwordLinkMsMax,
};

interface Sources {
  sql: Queries;
  clock: Clock;
}

interface NewLink extends Omit<SignInLink, "workspace"> {
  /** Of an invitation. */
  workspace?: WorkspaceId;
}

/** @returns the path of the link, which is given out once and not stored, and when it expires (ISO 8601) */
export async function createSignInLink(
  { email, purpose, workspace }: NewLink,
  { sql, clock }: Sources,
): Promise<{ path: string; expiresAt: string }> {
  const token = newToken();
  const nowMs = clock.now();
  const expiresMs = nowMs + linkMsMax[purpose];
  const times = { createdAt: new Date(nowMs), expiresAt: new Date(expiresMs) };
  await insertLink({ tokenHash: hashToken(token), email, purpose, workspace: workspace ?? null, ...times }, sql);
  return { path: `/console/link/${token}`, expiresAt: isoTime(expiresMs) };
}

/** Reads a link and leaves it usable. @returns null if it is unknown, used or expired, or its account is not active */
export async function findSignInLink(token: string, { sql, clock }: Sources): Promise<SignInLink | null> {
  if (!isToken(token)) return null;
  return (await selectLink({ tokenHash: hashToken(token), now: new Date(clock.now()) }, sql)) ?? null;
}

/** Uses a link up. @returns null as `findSignInLink` does; of several at once one gets it */
export async function takeSignInLink(
  token: string,
  { sql, clock }: { sql: Transaction; clock: Clock },
): Promise<SignInLink | null> {
  const link = await findSignInLink(token, { sql, clock });
  if (link === null) return null;
  return (await deleteLink(hashToken(token), sql)) ? link : null;
}
