/**
 * Checks an address and its password, and starts sessions. A try counts before it is checked. All causes of a refusal have one message,
 * and unknown people take as long as known ones. A person has a bounded number of sessions; a further one ends the one that was used
 * longest ago.
 */
import type { Database, Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { newSessionId } from "../../kernel/ids.ts";
import { DomainError } from "../errors.ts";
import {
  passwordCharactersMax,
  emailCharactersMax,
  agentCharactersMax,
  sessionAgeMsMax,
  sessionIdleMsMax,
  sessionsMax,
  signInTriesMs,
} from "../limits.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { openKnownBrowser, countTry, forgetTries } from "./tries.ts";
import type { Passwords } from "./passwords.ts";
import { hashToken, newToken } from "./session.ts";
import { selectPasswordHash, type Session, type SignInWay, deleteExpired, deleteOldSessions, insertSession } from "./store.ts";

interface Credentials {
  email: string;
  password: string;
  /** The network of the browser, as `networkOf` gives it. */
  network: string;
  /** What the browser kept from a sign-in before; null: nothing. */
  note: string | null;
}

/**
 * @returns the address of the account
 * @throws DomainError unauthorized, with one message for all causes; LimitReachedError after too many tries
 */
export async function checkPassword(
  { email: typed, password, network, note }: Credentials,
  { passwords, ...sources }: { sql: Database; clock: Clock; keyring: Keyring; passwords: Passwords },
): Promise<string> {
  const email = canonicalEmail(typed.trim()).slice(0, emailCharactersMax);
  const tried = { kind: "sign in", email, network, known: openKnownBrowser({ note, email }, sources) } as const;
  await countTry(tried, sources);
  const hash = await selectPasswordHash(email.replaceAll("\u0000", ""), sources.sql);
  const isRight = password.length <= passwordCharactersMax * 4 && (await passwords.verify(password, { hash, holder: network }));
  if (!isRight) throw new DomainError("unauthorized", "The address or the password is wrong");
  await forgetTries(tried, sources);
  return email;
}

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

/** Starts a session of a person who has proved who they are. @returns the cookie's value, which is stored nowhere */
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
