import type { Database } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { DomainError } from "../errors.ts";
import { passwordCharactersMax, emailCharactersMax } from "../limits.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { openKnownBrowser } from "./known-browser.ts";
import { selectPasswordHash } from "./password-store.ts";
import type { Passwords } from "./passwords.ts";
import { countTry, forgetTries } from "./sign-in-tries.ts";

interface Credentials {
  email: string;
  password: string;
  /** Of the browser, as `networkOf` gives it. */
  network: string;
  /** What the browser kept from a sign-in before; null: nothing. */
  note: string | null;
}

/**
 * Checks an address and its password.
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
