/**
 * What a person must prove before a password or an app changes, and what a browser keeps between the first factor and the second. A stolen
 * or unattended session must not be enough to take over the account.
 *
 * A new password requires the current one, or a fresh link or sign-in at the provider. Without a current one, it requires a code of an app
 * that was set up before the sign-in. Replacing an app requires one of its codes, or a recovery code. The note after the first factor
 * grants nothing: a session starts after both. A new password invalidates the note.
 */
import { hash } from "node:crypto";
import { Type, type Static } from "@sinclair/typebox";
import type { Database, Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { DomainError } from "../errors.ts";
import { freshProofMs, passwordCharactersMax, firstStepMs } from "../limits.ts";
import type { Person } from "../members/principal.ts";
import { type Keyring, openNote, sealNote, type NoteKind } from "../secrets/keyring.ts";
import type { Passwords } from "../sessions/passwords.ts";
import { selectPasswordHash, type Session } from "../sessions/store.ts";
import { countTry, forgetTries } from "../sessions/sign-in.ts";
import { checkSecondFactor, hasSecondFactor } from "./second-factor.ts";
import { selectStatus, selectHashOfAccount } from "./store.ts";

/**
 * fresh: the session has just begun with a link, or at the provider if there is no password. password: the current one. code: without a
 * password, a code of an app that was there before the sign-in. link: the person has nothing to prove it with, so they must first follow a
 * new link.
 */
type PasswordProof = "fresh" | "password" | "code" | "link";

interface Proving {
  person: Person;
  session: Pick<Session, "way" | "provedAt">;
}

/** What a person gives before they set a new password. */
export async function passwordProofOf(
  { person: { email }, session: { way, provedAt } }: Proving,
  { sql, clock }: { sql: Database; clock: Clock },
): Promise<PasswordProof> {
  const isFresh = clock.now() - provedAt.getTime() < freshProofMs;
  // A link is for a person who forgot the password. Someone still signed in at the provider gets another session without being asked.
  if (isFresh && way === "link") return "fresh";
  if ((await selectPasswordHash(email, sql)) !== null) return "password";
  if (isFresh && way === "oidc") return "fresh";
  // Someone at a stolen session may have set up their own app there, which proves nothing.
  const { since } = await selectStatus(email, sql);
  return since !== null && since < provedAt ? "code" : "link";
}

interface Parts {
  sql: Database;
  clock: Clock;
  keyring: Keyring;
  passwords: Passwords;
}

/** @param given what was typed @throws DomainError invalid_field for a wrong proof; forbidden where a link is needed; LimitReachedError */
export async function requirePasswordProof(
  { given, ...proving }: Proving & { given: { present: string; code: string } },
  { passwords, ...sources }: Parts,
): Promise<void> {
  const { person } = proving;
  const proof = await passwordProofOf(proving, sources);
  if (proof === "fresh") return;
  if (proof === "code") return void (await checkSecondFactor({ person, code: given.code.slice(0, 100) }, sources));
  if (proof === "link") throw new DomainError("forbidden", linkNeeded);
  // A stolen session must not be enough to guess the password. Tries are bounded per person, wherever the session is used.
  const tried = { kind: "password", email: person.email, network: `account ${person.email}`, known: null } as const;
  await countTry(tried, sources);
  const hash = await selectPasswordHash(person.email, sources.sql);
  const isPossible = given.present.length <= passwordCharactersMax * 4;
  if (!isPossible || !(await passwords.verify(given.present, { hash, holder: person.email })))
    throw new DomainError("invalid_field", "This is not your current password", { field: "present_password" });
  await forgetTries(tried, sources);
}

export const linkNeeded =
  "Your account has no password yet: sign out, ask for a link under “Forgot the password, or none yet?”, and set it right after following it";

/** A person who has an app replaces it, or turns it off, with one of its codes or a recovery code. @throws DomainError as `checkSecondFactor` does */
export async function requirePresentCode(
  { person, code }: { person: Person; code: string },
  sources: Omit<Parts, "passwords">,
): Promise<void> {
  if (await hasSecondFactor(person.email, sources.sql)) await checkSecondFactor({ person, code: code.slice(0, 100) }, sources);
}

/** The content of the note of a first factor. */
const FirstStep = Type.Object({
  email: Type.String(),
  way: Type.Union([Type.Literal("password"), Type.Literal("link")]),
  /** A digest of the password's hash: a new password invalidates the note. */
  password: Type.String(),
  /** The path to go to afterwards. */
  next: Type.String(),
});
export type FirstStep = Omit<Static<typeof FirstStep>, "password">;

const kind: NoteKind<typeof FirstStep> = { about: '["first step of a sign-in"]', content: FirstStep, ageMsMax: firstStepMs };

interface NoteSources {
  sql: Queries;
  clock: Clock;
  keyring: Keyring;
}

/** The note of a person who gave a right password, or followed a link of a mail. @throws DomainError unauthorized for an inactive account */
export async function sealFirstStep(step: FirstStep, { sql, clock, keyring }: NoteSources): Promise<string> {
  const password = await passwordDigest(step.email, sql);
  if (password === null) throw tooLate();
  return sealNote(kind, { ...step, password }, { keyring, nowMs: clock.now() });
}

/** @throws DomainError unauthorized for a note that is missing, older than ten minutes or of another password, and for an inactive account */
export async function openFirstStep(note: string | null, { sql, clock, keyring }: NoteSources): Promise<FirstStep> {
  const step = openNote(kind, note, { keyring, nowMs: clock.now() });
  if (step === null || step.password !== (await passwordDigest(step.email, sql))) throw tooLate();
  return step;
}

/** null: there is no such active account. */
async function passwordDigest(email: string, sql: Queries): Promise<string | null> {
  const row = await selectHashOfAccount(email, sql);
  return row === undefined ? null : hash("sha256", row.hash ?? "none", "base64url");
}

function tooLate(): DomainError {
  return new DomainError("unauthorized", "Too much time has passed since the first step: begin to sign in again");
}
