import type { Database, Transaction } from "../../backing/backing.ts";
import { hashKey } from "../../kernel/ids.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { changedFields } from "../audit/changes.ts";
import { DomainError } from "../errors.ts";
import { emailCharactersMax, oidcSignInMs } from "../limits.ts";
import { recordOwnChange } from "../members/record-own-change.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { openNote } from "../secrets/sealed-note.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { insertIdentity, isActivePerson, selectLinkedEmail, takeSignIn } from "./identity-store.ts";
import type { OidcIdentity, OidcProvider } from "./oidc-provider.ts";
import { signInNotes, type SignInNote } from "./sign-in-note.ts";
import { signInProblem } from "./sign-in-problem.ts";

interface Return {
  /** Of the address to which the browser returned. */
  query: URLSearchParams;
  /** What it kept; null: nothing. */
  note: string | null;
  /** The browser's. */
  network: string;
}

interface Parts {
  sql: Database;
  clock: Clock;
  keyring: Keyring;
  log: Logger;
  oidc: OidcProvider;
}

export interface OidcSignIn {
  email: string;
  next: string;
  /** When the person signed in at the provider, in milliseconds. */
  signedInAt: number;
}

/**
 * Takes the browser's return from the provider. A person is known by the provider's own name for them, which is linked to an account
 * the first time, by an address that the provider verified. It makes no accounts.
 * @throws DomainError unauthorized for a wrong, repeated or late answer, and with one message for everyone who may not sign in; unavailable
 * @throws LimitReachedError
 */
export async function finishOidcSignIn({ query, note, network }: Return, { oidc, ...parts }: Parts): Promise<OidcSignIn> {
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
