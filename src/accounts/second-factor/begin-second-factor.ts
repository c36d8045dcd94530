import type { Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Keyring } from "../secrets/keyring.ts";
import {
  newAuthenticatorSecret,
  sealAuthenticatorSecret,
  showAuthenticatorSecret,
  type ShownSecret,
} from "./authenticator-secret.ts";
import { upsertPending } from "./second-factor-store.ts";

/**
 * Makes a new secret for a person's app. It counts from its first code on; until then one that is in use stays valid.
 * @param publicUrl where people reach the service; its host tells several services apart in the app
 * @returns the secret, which is shown only now
 */
export async function beginSecondFactor(
  { email, publicUrl }: { email: string; publicUrl: string },
  { sql, clock, keyring }: { sql: Queries; clock: Clock; keyring: Keyring },
): Promise<ShownSecret> {
  const secret = newAuthenticatorSecret();
  await upsertPending({ email, sealed: sealAuthenticatorSecret(secret, email, keyring), at: clock.now() }, sql);
  return showAuthenticatorSecret(secret, { email, issuer: `Weir ${new URL(publicUrl).host}` });
}
