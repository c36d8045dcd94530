/** The secret that an account shares with an app: how it is made, sealed, and shown once. */
import { randomBytes } from "node:crypto";
import type { Keyring } from "../secrets/keyring.ts";
import { totpSecretBytes } from "../limits.ts";
import { base32 } from "./base32.ts";

/** What an app needs, as text and as the address in a QR code. */
export interface ShownSecret {
  secret: string;
  uri: string;
}

export function newAuthenticatorSecret(): Uint8Array {
  return randomBytes(totpSecretBytes);
}

/** Bound to the account: copied to another account's row, it does not open. */
export function sealAuthenticatorSecret(secret: Uint8Array, email: string, keyring: Keyring): Uint8Array {
  return keyring.first.seal(secret, about(email));
}

/** @throws SealError */
export function openAuthenticatorSecret(sealed: Uint8Array, email: string, keyring: Keyring): Uint8Array {
  return keyring.open(sealed, about(email));
}

/** @param issuer the service's name, which the app shows beside the address */
export function showAuthenticatorSecret(secret: Uint8Array, { email, issuer }: { email: string; issuer: string }): ShownSecret {
  const text = base32(secret);
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  // SHA-1, six digits and 30 seconds are what apps assume. Without their fields the QR code is coarser, and so easier to scan.
  return { secret: text, uri: `otpauth://totp/${label}?secret=${text}&issuer=${encodeURIComponent(issuer)}` };
}

function about(email: string): string {
  return JSON.stringify(["second factor", email]);
}
