import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { sealNote } from "../secrets/sealed-note.ts";
import { signInProblem } from "./sign-in-problem.ts";
import { newSignInNote, signInNotes } from "./sign-in-note.ts";
import type { OidcProvider } from "./oidc-provider.ts";

interface Begin {
  /** The path to go to afterwards. */
  next: string;
  /** Whether the sign-in has to be a recent one. */
  again: boolean;
}

interface Parts {
  oidc: OidcProvider;
  clock: Clock;
  keyring: Keyring;
  log: Logger;
}

/**
 * Begins a sign-in at the provider. It writes nothing, so that strangers who begin many fill no table.
 * @returns where the browser goes, and the note that it keeps until it returns
 * @throws DomainError unavailable
 */
export async function beginOidcSignIn(
  { next, again }: Begin,
  { oidc, clock, keyring, log }: Parts,
): Promise<{ url: string; note: string }> {
  const content = newSignInNote(next);
  try {
    const url = await oidc.signInUrl(content, { again });
    return { url: url.href, note: sealNote(signInNotes, content, { keyring, nowMs: clock.now() }) };
  } catch (error) {
    throw signInProblem(error, { name: oidc.name, log });
  }
}
