import type { Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { newSessionId } from "../../kernel/ids.ts";
import { agentCharactersMax, sessionAgeMsMax, sessionIdleMsMax, sessionsMax, signInTriesMs } from "../limits.ts";
import type { Session, SignInWay } from "./session.ts";
import { deleteExpired, deleteOldSessions, insertSession } from "./session-store.ts";
import { hashToken, newToken } from "./token.ts";

interface Start {
  /** null: the holder of the operator token. */
  email: string | null;
  way: SignInWay;
  /** The header `User-Agent`. */
  agent: string;
  /** As `Session` has it. */
  bothFactors: boolean;
  /** When they proved it, in milliseconds; absent: now. */
  provedAt?: number;
}

/** Starts a session of somebody who has proved who they are. @returns the cookie's value, which is stored nowhere */
export async function startSession(
  { email, way, agent, bothFactors, provedAt }: Start,
  { sql, clock }: { sql: Queries; clock: Clock },
): Promise<{ token: string; session: Session }> {
  const nowMs = clock.now();
  const now = new Date(nowMs);
  await deleteExpired(
    {
      created: new Date(nowMs - sessionAgeMsMax),
      used: new Date(nowMs - sessionIdleMsMax),
      tried: new Date(nowMs - signInTriesMs),
      now,
    },
    sql,
  );
  await deleteOldSessions({ email, kept: sessionsMax - 1 }, sql);
  const token = newToken();
  const session: Session = {
    id: newSessionId(nowMs),
    email,
    way,
    agent: agent.slice(0, agentCharactersMax),
    bothFactors,
    createdAt: now,
    provedAt: provedAt === undefined ? now : new Date(provedAt),
    usedAt: now,
  };
  await insertSession({ ...session, tokenHash: hashToken(token) }, sql);
  return { token, session };
}
