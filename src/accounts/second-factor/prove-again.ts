/** Before a password or an app changes: somebody at a stolen or open session must not be able to keep the account. */
import type { Database } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { DomainError } from "../errors.ts";
import { freshProofMs, passwordCharactersMax } from "../limits.ts";
import type { Person } from "../members/principal.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { selectPasswordHash } from "../sessions/password-store.ts";
import type { Passwords } from "../sessions/passwords.ts";
import type { Session } from "../sessions/session.ts";
import { countTry, forgetTries } from "../sessions/sign-in-tries.ts";
import { checkSecondFactor } from "./check-second-factor.ts";
import { hasSecondFactor } from "./second-factor-of.ts";
import { selectStatus } from "./second-factor-store.ts";

/**
 * fresh: the session has just begun by a link, or without a password at the provider, which stands for it. password: the present one. code: of
 * an app that was there before the sign-in, where there is no password. link: there is nothing to ask for, so a new link has to be followed first.
 */
export type PasswordProof = "fresh" | "password" | "code" | "link";

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
  // A link came to who forgot the password. Whoever is signed in at the provider gets another session without being asked.
  if (isFresh && way === "link") return "fresh";
  if ((await selectPasswordHash(email, sql)) !== null) return "password";
  if (isFresh && way === "oidc") return "fresh";
  // Whoever sits at the session may have set up an app of their own there, which proves nothing.
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
  // Whoever has the session must not be able to guess the password here. The bound is the person's, wherever the session is used.
  const tried = { kind: "password", email: person.email, network: `account ${person.email}`, known: null } as const;
  await countTry(tried, sources);
  const hash = await selectPasswordHash(person.email, sources.sql);
  const isPossible = given.present.length <= passwordCharactersMax * 4;
  if (!isPossible || !(await passwords.verify(given.present, { hash, holder: person.email })))
    throw new DomainError("invalid_field", "This is not your present password", { field: "present_password" });
  await forgetTries(tried, sources);
}

export const linkNeeded =
  "Your account has no password yet: sign out, ask for a link under “Forgot the password, or none yet?”, and set it right after following it";

/** Whoever has an app replaces it, or turns it off, by one of its codes or a recovery code. @throws DomainError as `checkSecondFactor` does */
export async function requirePresentCode(
  { person, code }: { person: Person; code: string },
  sources: Omit<Parts, "passwords">,
): Promise<void> {
  if (await hasSecondFactor(person.email, sources.sql)) await checkSecondFactor({ person, code: code.slice(0, 100) }, sources);
}
