/**
 * Checks an address and its password, and starts sessions. All causes of a refusal have one message, and unknown people take as long as
 * known ones. A person has a bounded number of sessions; another one ends the least recently used.
 *
 * Tries are bounded for the whole fleet: by address with its network, and by network. A try counts before it is checked, so that many at
 * once do not get around the bound. A browser in which a person has signed in before has its own tries, so that strangers in its network,
 * or behind the same proxy, cannot use them up. It keeps a sealed note of that, which proves nothing else and grants nothing. Mails for a
 * new password are counted separately, so that requesting them blocks no sign-in.
 */
import { hash } from "node:crypto";
import { Type, type Static } from "@sinclair/typebox";
import type { Database, Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { newSessionId } from "../../kernel/ids.ts";
import { DomainError, LimitReachedError } from "../errors.ts";
import * as limits from "../limits.ts";
import { type Keyring, openNote, sealNote, type NoteKind } from "../secrets/keyring.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import type { Passwords } from "./passwords.ts";
import { hashToken, newToken } from "./session.ts";
import * as store from "./store.ts";

interface Credentials {
  email: string;
  password: string;
  /** The network of the browser, as `networkOf` gives it. */
  network: string;
  /** What the browser kept from an earlier sign-in; null: nothing. */
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
  const email = canonicalEmail(typed.trim()).slice(0, limits.emailCharactersMax);
  const tried = { kind: "sign in", email, network, known: openKnownBrowser({ note, email }, sources) } as const;
  await countTry(tried, sources);
  const hash = await store.selectPasswordHash(email.replaceAll("\u0000", ""), sources.sql);
  const isRight =
    password.length <= limits.passwordCharactersMax * 4 && (await passwords.verify(password, { hash, holder: network }));
  if (!isRight) throw new DomainError("unauthorized", "The address or the password is wrong");
  await forgetTries(tried, sources);
  return email;
}

interface Start {
  /** null: the holder of the operator token. */
  email: string | null;
  way: store.SignInWay;
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
): Promise<{ token: string; session: store.Session }> {
  const nowMs = clock.now();
  const now = new Date(nowMs);
  await store.deleteExpired(
    {
      created: new Date(nowMs - limits.sessionAgeMsMax),
      used: new Date(nowMs - limits.sessionIdleMsMax),
      tried: new Date(nowMs - limits.signInTriesMs),
      now,
    },
    sql,
  );
  await store.deleteOldSessions({ email, kept: limits.sessionsMax - 1 }, sql);
  const token = newToken();
  const session: store.Session = {
    id: newSessionId(nowMs),
    email,
    way,
    agent: agent.slice(0, limits.agentCharactersMax),
    bothFactors,
    createdAt: now,
    provedAt: provedAt === undefined ? now : new Date(provedAt),
    usedAt: now,
  };
  await store.insertSession({ ...session, tokenHash: hashToken(token) }, sql);
  return { token, session };
}

// How many tries are left.

interface Try {
  /** Counted separately, so that requesting mails blocks no sign-in. */
  kind: "sign in" | "reset" | "password";
  /** What was typed. */
  email: string;
  network: string;
  /** The browser, if the person signed in there before: then it has its own tries. */
  known: KnownBrowser | null;
}

interface Sources {
  sql: Database;
  clock: Clock;
}

/** @throws LimitReachedError 429 after ten tries in fifteen minutes for an address from a network or known browser, or a hundred from a network */
export async function countTry({ kind, email, network, known }: Try, sources: Sources): Promise<void> {
  if (known !== null) return count({ subject: subjectOf({ kind, email, network, known }), max: limits.signInTriesMax }, sources);
  const ofNetwork = { subject: hash("sha256", `${kind}\n\n${network}`, "buffer"), max: limits.signInTriesOfNetworkMax };
  await requireTriesLeft(ofNetwork, sources);
  await count({ subject: subjectOf({ kind, email, network, known }), max: limits.signInTriesMax }, sources);
  await count(ofNetwork, sources);
}

/** After a success the address has all its tries again. */
export async function forgetTries(tried: Try, { sql }: Sources): Promise<void> {
  await store.deleteTries(subjectOf(tried), sql);
}

/** The part of an address that belongs to one holder: all of IPv4, the first 64 bits of IPv6. @param address null: unknown */
export function networkOf(address: string | null): string {
  if (address === null || !address.includes(":")) return address ?? "";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = address.toLowerCase().split("%", 1).join("").split("::", 2);
  const first = head.split(":").filter(Boolean);
  const last = (tail ?? "").split(":").filter(Boolean);
  const gap = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => "0");
  return [...first, ...gap, ...last].slice(0, 4).join(":");
}

interface Bound {
  subject: Uint8Array;
  max: number;
}

/** Runs before an address is counted, so that a network without tries left fills no table with invented addresses. */
async function requireTriesLeft({ subject, max }: Bound, { sql, clock }: Sources): Promise<void> {
  const nowMs = clock.now();
  const counted = await store.selectTries({ subject, over: new Date(nowMs - limits.signInTriesMs) }, sql);
  if (counted !== undefined && counted.tries >= max) throw tooMany(counted.since, nowMs);
}

async function count({ subject, max }: Bound, { sql, clock }: Sources): Promise<void> {
  const nowMs = clock.now();
  const over = new Date(nowMs - limits.signInTriesMs);
  const { tries, since } = await store.countOne({ subject, now: new Date(nowMs), over, max }, sql);
  if (tries > max) throw tooMany(since, nowMs);
}

function tooMany(since: Date, nowMs: number): LimitReachedError {
  const retryAfterMs = since.getTime() + limits.signInTriesMs - nowMs;
  const minutes = Math.max(1, Math.ceil(retryAfterMs / 60_000));
  const message = `Too many tries to sign in: try again in ${minutes} ${minutes === 1 ? "minute" : "minutes"}`;
  return new LimitReachedError(message, { status: 429, retryAfterMs });
}

/** The address with its network or known browser. */
function subjectOf({ kind, email, network, known }: Try): Uint8Array {
  return hash("sha256", `${kind}\n${email}\n${known === null ? network : `known ${known.id}`}`, "buffer");
}

// The note of a browser in which a person has signed in

const KnownBrowser = Type.Object({
  email: Type.String(),
  /** Tries are counted under this id. */
  id: Type.String(),
});
type KnownBrowser = Static<typeof KnownBrowser>;

const knownBrowserKind: NoteKind<typeof KnownBrowser> = {
  about: '["known browser"]',
  content: KnownBrowser,
  ageMsMax: limits.knownBrowserMsMax,
};

interface SealingSources {
  keyring: Keyring;
  clock: Clock;
}

/** The note that a browser keeps after a sign-in. */
export function sealKnownBrowser(email: string, { keyring, clock }: SealingSources): string {
  return sealNote(knownBrowserKind, { email, id: newToken() }, { keyring, nowMs: clock.now() });
}

/** @param note what the browser kept; null: nothing @returns null if it is not of this person, or too old */
export function openKnownBrowser(
  { note, email }: { note: string | null; email: string },
  { keyring, clock }: SealingSources,
): KnownBrowser | null {
  const known = openNote(knownBrowserKind, note, { keyring, nowMs: clock.now() });
  return known?.email === email ? known : null;
}
