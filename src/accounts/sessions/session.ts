/**
 * A session: what a browser's cookie stands for after a sign-in. It is found by the hash of the cookie's value, which is stored nowhere,
 * and ends by age, by idleness, or with its person's account. For an hour after the person proved who they are, it is recent. Some actions
 * require that, so that they fail in an unattended browser.
 */
import { hash, randomBytes } from "node:crypto";
import { Type, type Static } from "@sinclair/typebox";
import type { Database, Queries } from "../../backing/backing.ts";
import { text, textOrNull } from "../../http/json-schema.ts";
import { type Clock, isoTime } from "../../kernel/clock.ts";
import { Role } from "../audit/actor.ts";
import { DomainError } from "../errors.ts";
import { sessionAgeMsMax, sessionIdleMsMax, recentSignInMs, sessionUseMs } from "../limits.ts";
import type { Principal } from "../members/principal.ts";
import { selectNamedMemberships } from "../members/store.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { selectWorkspaceNames } from "../workspaces/store.ts";
import { type Session, selectSession, updateUse } from "./store.ts";

/** Whether its person recently proved who they are. */
export function isRecent({ provedAt }: Pick<Session, "provedAt">, nowMs: number): boolean {
  return nowMs - provedAt.getTime() < recentSignInMs;
}

/** @param action completes "Cannot …" @throws DomainError sign_in_again */
export function requireRecentSignIn(
  session: Pick<Session, "provedAt">,
  { nowMs, action }: { nowMs: number; action: string },
): void {
  if (isRecent(session, nowMs)) return;
  throw new DomainError("sign_in_again", `Cannot ${action}: your last sign-in is more than an hour ago. Sign in again first`);
}

/**
 * @param token the cookie's value @param isUse whether the session is then used anew; a page that refreshes itself does not keep it from ending
 * @returns null if it is unknown, has expired, or its account is not active
 */
export async function findSession(
  token: string,
  { sql, clock, isUse = true }: { sql: Database; clock: Clock; isUse?: boolean },
): Promise<Session | null> {
  if (!isToken(token)) return null;
  const session = await selectSession(hashToken(token), sql);
  const nowMs = clock.now();
  if (session === undefined || hasExpired(session, nowMs)) return null;
  if (isUse && nowMs - session.usedAt.getTime() >= sessionUseMs) await updateUse({ id: session.id, at: new Date(nowMs) }, sql);
  return session;
}

/** Whose a request's credential is, which workspaces they may see, and which have invited them. */
export async function identityOf(principal: Principal, sql: Queries): Promise<IdentityView> {
  if (principal.kind === "operator") {
    const rows = await selectWorkspaceNames(workspacesMax, sql);
    return { email: null, workspaces: rows.map((row) => ({ ...row, role: "operator" as const })), invitations: [] };
  }
  const email = canonicalEmail(principal.email);
  const memberships = await selectNamedMemberships({ email, limit: workspacesMax }, sql);
  const of = (active: boolean) => memberships.filter((one) => one.active === active);
  return {
    email,
    workspaces: of(true).map(({ id, name, role }) => ({ id, name, role })),
    invitations: of(false).map(({ id, name, role, askedBy }) => ({ id, name, role, invited_by: askedBy })),
  };
}

/** More would make a menu useless. */
const workspacesMax = 500;

/** A session as the control API shows it. */
export const SessionView = Type.Object({
  id: text("The id of the session; not the cookie's value"),
  way: text("How it began: `password`, `link`, `start` (the link of a start in one process), `operator token` or `oidc`"),
  agent: text("The browser, as it calls itself"),
  created_at: text("When it began, ISO 8601 in UTC"),
  used_at: text("When it was last used, to the minute, ISO 8601 in UTC"),
});
export type SessionView = Static<typeof SessionView>;

export const IdentityView = Type.Object({
  email: textOrNull("The person's e-mail address; null: the operator"),
  workspaces: Type.Array(
    Type.Object({
      id: text("The workspace's id"),
      name: text("Its name"),
      role: Type.Union([Role, Type.Literal("operator")], { description: "The caller's role there" }),
    }),
    { description: "The workspaces that the caller may see, by name, with their role in each" },
  ),
  invitations: Type.Array(
    Type.Object({
      id: text("The workspace's id"),
      name: text("Its name"),
      role: Role,
      invited_by: textOrNull("The admin who invited; null: unknown"),
    }),
    { description: "The workspaces that wait for the caller's answer, by name, with the role that each offers" },
  ),
});
export type IdentityView = Static<typeof IdentityView>;

export function viewSession({ id, way, agent, createdAt, usedAt }: Session): SessionView {
  return { id, way, agent, created_at: isoTime(createdAt.getTime()), used_at: isoTime(usedAt.getTime()) };
}

/** A random secret that is given out once and stored as a digest: 32 bytes as 43 characters that need no escaping in URLs and cookies. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

export function hashToken(token: string): Uint8Array {
  return hash("sha256", token, "buffer");
}

export function isToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/** Whether it has ended, because it is too old or was not used for too long. */
function hasExpired({ createdAt, usedAt }: Pick<Session, "createdAt" | "usedAt">, nowMs: number): boolean {
  return nowMs - createdAt.getTime() >= sessionAgeMsMax || nowMs - usedAt.getTime() >= sessionIdleMsMax;
}
