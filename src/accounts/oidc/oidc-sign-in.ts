/**
 * Signs people in at an OpenID Connect provider.
 *
 * Beginning a sign-in writes nothing, so that strangers who begin many fill no table. The browser keeps a sealed note, valid for ten
 * minutes and one sign-in. The provider identifies a person by `iss` and `sub`. The first sign-in links this identity to an account, by an
 * address that the provider verified; from then on only the identity counts. No accounts are created here. Everyone who may not sign in
 * gets the same message, and the log has codes, no addresses and no tokens.
 */
import { randomBytes } from "node:crypto";
import { Type, type Static } from "@sinclair/typebox";
import type { Database, Transaction } from "../../backing/backing.ts";
import { type Clock, DeadlineError } from "../../kernel/clock.ts";
import { hashKey } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { changedFields } from "../audit/change.ts";
import { DomainError, LimitReachedError } from "../errors.ts";
import { emailCharactersMax, oidcSignInMs } from "../limits.ts";
import { recordOwnChange } from "../members/accounts.ts";
import { type Keyring, sealNote, openNote, type NoteKind } from "../secrets/keyring.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { type OidcProvider, type OidcIdentity, ProviderUnavailableError } from "./oidc-provider.ts";
import { insertIdentity, isActivePerson, selectLinkedEmail, takeSignIn } from "./store.ts";

interface Begin {
  /** The path to go to afterwards. */
  next: string;
  /** Whether the sign-in has to be a recent one. */
  again: boolean;
}

interface BeginParts {
  oidc: OidcProvider;
  clock: Clock;
  keyring: Keyring;
  log: Logger;
}

/**
 * Begins a sign-in at the provider.
 * @returns where the browser goes, and the note that it keeps until it returns
 * @throws DomainError unavailable
 */
export async function beginOidcSignIn(
  { next, again }: Begin,
  { oidc, clock, keyring, log }: BeginParts,
): Promise<{ url: string; note: string }> {
  const content = newSignInNote(next);
  try {
    const url = await oidc.signInUrl(content, { again });
    return { url: url.href, note: sealNote(signInNotes, content, { keyring, nowMs: clock.now() }) };
  } catch (error) {
    throw signInProblem(error, { name: oidc.name, log });
  }
}

interface Return {
  /** The query of the address to which the browser returned. */
  query: URLSearchParams;
  /** What the browser kept; null: nothing. */
  note: string | null;
  /** The browser's. */
  network: string;
}

interface FinishParts {
  sql: Database;
  clock: Clock;
  keyring: Keyring;
  log: Logger;
  oidc: OidcProvider;
}

interface OidcSignIn {
  email: string;
  next: string;
  /** When the person signed in at the provider, in milliseconds. */
  signedInAt: number;
}

/**
 * Handles the browser's return from the provider.
 * @throws DomainError unauthorized for a wrong, repeated or late answer, and with one message for everyone who may not sign in; unavailable
 * @throws LimitReachedError
 */
export async function finishOidcSignIn({ query, note, network }: Return, { oidc, ...parts }: FinishParts): Promise<OidcSignIn> {
  const { keyring, clock, log } = parts;
  const kept = openNote(signInNotes, note, { keyring, nowMs: clock.now() });
  if (kept === null) {
    const message = `The sign-in with ${oidc.name} took more than ten minutes, or began in another browser: begin again`;
    throw new DomainError("unauthorized", message);
  }
  const identity = await oidc.redeem(query, { proof: kept, network }).catch((error: unknown) => {
    throw signInProblem(error, { name: oidc.name, log });
  });
  const email = await parts.sql.begin(async (tx) => {
    await requireFirstUse(kept, { tx, clock, name: oidc.name });
    return personOf(identity, { tx, clock });
  });
  if (email !== null) return { email, next: kept.next, signedInAt: Math.min(identity.signedInAt ?? clock.now(), clock.now()) };
  log.warn(
    { event: "oidc.refused", verified: identity.verifiedEmail !== null },
    "The provider signed in a person who may not sign in here",
  );
  const message = `This account of ${oidc.name} cannot sign in here: ask an admin of your workspace to invite its verified e-mail address`;
  throw new DomainError("unauthorized", message);
}

/** What a browser keeps while its person signs in at the provider. */
const SignInNote = Type.Object({
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  /** The path to go to afterwards. */
  next: Type.String(),
});
export type SignInNote = Static<typeof SignInNote>;

export const signInNotes: NoteKind<typeof SignInNote> = {
  about: '["sign-in by OpenID Connect"]',
  content: SignInNote,
  ageMsMax: oidcSignInMs,
};

function newSignInNote(next: string): SignInNote {
  const [state = "", nonce = "", verifier = ""] = Array.from({ length: 3 }, () => randomBytes(32).toString("base64url"));
  return { state, nonce, verifier, next };
}

/** Logs a failure at the provider by its code alone. @returns the error for the person: unavailable, or unauthorized without the cause */
function signInProblem(error: unknown, { name, log }: { name: string; log: Logger }): Error {
  if (error instanceof DomainError || error instanceof LimitReachedError) return error;
  const isAway = [error, causeOf(error)].some((one) => one instanceof ProviderUnavailableError || one instanceof DeadlineError);
  log.warn({ event: "oidc.failed", reason: reasonOf(error), away: isAway }, "A sign-in with the OpenID Connect provider failed");
  if (isAway) return new DomainError("unavailable", `${name} cannot be reached at present: try again shortly`);
  return new DomainError("unauthorized", `Signing in with ${name} did not succeed: begin again`);
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : null;
}

/** Codes come from closed sets of the package and of RFC 6749; its messages may hold what the provider sent. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const words = [
    error.name,
    ...("code" in error ? [String(error.code)] : []),
    ...("error" in error ? [String(error.error)] : []),
  ];
  return words
    .join(" ")
    .replaceAll(/[^\w .-]/g, "")
    .slice(0, 100);
}

async function requireFirstUse(
  { state }: SignInNote,
  { tx, clock, name }: { tx: Transaction; clock: Clock; name: string },
): Promise<void> {
  const at = new Date(clock.now());
  // The note is no longer valid at this time, so its sign-in can be forgotten.
  const until = new Date(at.getTime() + oidcSignInMs);
  if (await takeSignIn({ id: hashKey(state), at, until }, tx)) return;
  throw new DomainError("unauthorized", `This sign-in with ${name} was used already: begin again`);
}

/** @returns the account's address; null: no active member is this person */
async function personOf(
  { issuer, subject, verifiedEmail }: OidcIdentity,
  { tx, clock }: { tx: Transaction; clock: Clock },
): Promise<string | null> {
  const linked = await selectLinkedEmail({ issuer, subject }, tx);
  if (linked !== undefined) return (await isActivePerson(linked, tx)) ? linked : null;
  if (verifiedEmail === null || verifiedEmail.length > emailCharactersMax || verifiedEmail.includes("\u0000")) return null;
  const email = canonicalEmail(verifiedEmail);
  if (!(await isActivePerson(email, tx))) return null;
  if (!(await insertIdentity({ issuer, subject, email, at: new Date(clock.now()) }, tx))) return null;
  const changes = changedFields({ before: {}, after: { issuer } });
  const person = { kind: "person", email, carriedBy: "session" } as const;
  await recordOwnChange({ person, event: "account.oidc.linked", changes }, { tx, clock });
  return email;
}
