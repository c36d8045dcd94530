/** A session: what a browser's cookie stands for after a sign-in. */
import { sessionAgeMsMax, sessionIdleMsMax, recentSignInMs } from "../limits.ts";
import { DomainError } from "../errors.ts";

export type SignInWay = "password" | "link" | "operator token" | "oidc";

export interface Session {
  /** `ses-` and 26 characters; not the cookie's value. */
  id: string;
  /** null: the holder of the operator token. */
  email: string | null;
  way: SignInWay;
  /** The browser, as it calls itself. */
  agent: string;
  /** Whether its person gave a second factor too, or something stood for both: the operator's link or token, or an OpenID Connect provider. */
  bothFactors: boolean;
  createdAt: Date;
  /** When its person last proved who they are. */
  provedAt: Date;
  usedAt: Date;
}

/** Whether it has ended, because it is too old or was not used for too long. */
export function hasExpired({ createdAt, usedAt }: Pick<Session, "createdAt" | "usedAt">, nowMs: number): boolean {
  return nowMs - createdAt.getTime() >= sessionAgeMsMax || nowMs - usedAt.getTime() >= sessionIdleMsMax;
}

/** Whether its person proved lately who they are. */
export function isRecent({ provedAt }: Pick<Session, "provedAt">, nowMs: number): boolean {
  return nowMs - provedAt.getTime() < recentSignInMs;
}

/**
 * Some actions need a recent sign-in, so that a browser that was left open cannot do them.
 * @param action completes "Cannot …"
 * @throws DomainError sign_in_again
 */
export function requireRecentSignIn(
  session: Pick<Session, "provedAt">,
  { nowMs, action }: { nowMs: number; action: string },
): void {
  if (isRecent(session, nowMs)) return;
  throw new DomainError("sign_in_again", `Cannot ${action}: your last sign-in is more than an hour ago. Sign in again first`);
}
