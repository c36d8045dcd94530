import type { Database } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { sessionUseMs } from "../limits.ts";
import { hasExpired, type Session } from "./session.ts";
import { selectSession, updateUse } from "./session-store.ts";
import { hashToken, isToken } from "./token.ts";

/** @param token the cookie's value @returns null if it is unknown, has expired, or its account is not active */
export async function findSession(token: string, { sql, clock }: { sql: Database; clock: Clock }): Promise<Session | null> {
  if (!isToken(token)) return null;
  const session = await selectSession(hashToken(token), sql);
  const nowMs = clock.now();
  if (session === undefined || hasExpired(session, nowMs)) return null;
  if (nowMs - session.usedAt.getTime() >= sessionUseMs) await updateUse({ id: session.id, at: new Date(nowMs) }, sql);
  return session;
}
