/**
 * Time-based one-time passwords (RFC 6238): HMAC-SHA1 over the number of the time step, shortened to six digits, as apps assume. The
 * secret is sealed and bound to its account: copied to another account's row, it does not open. All steps are compared, so that the
 * time reveals nothing about which one matches.
 */
import { createHmac, timingSafeEqual, randomBytes } from "node:crypto";
import { totpStepMs, totpStepsAround, totpSecretBytes } from "../limits.ts";
import type { Keyring } from "../secrets/keyring.ts";

const digits = 6;

/** The number of the step that holds a time. */
export function totpStep(nowMs: number): number {
  return Math.floor(nowMs / totpStepMs);
}

export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac("sha1", secret).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 0xf;
  const number = digest.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

/**
 * @param code six digits
 * @param after the last accepted step; no step up to it counts
 * @returns the step of the code, which is now accepted; null: the code is wrong or was used
 */
export function matchingStep(
  secret: Uint8Array,
  { code, nowMs, after }: { code: string; nowMs: number; after: number },
): number | null {
  const given = Buffer.from(code);
  let matching: number | null = null;
  // Every step is compared, whichever one matches.
  for (let step = totpStep(nowMs) - totpStepsAround; step <= totpStep(nowMs) + totpStepsAround; step++) {
    const expected = Buffer.from(totpCode(secret, step));
    const isEqual = given.length === expected.length && timingSafeEqual(given, expected);
    if (isEqual && step > after) matching = step;
  }
  return matching;
}

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

/** @param issuer the service's name, which the app shows with the address */
export function showAuthenticatorSecret(secret: Uint8Array, { email, issuer }: { email: string; issuer: string }): ShownSecret {
  const text = base32(secret);
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  // SHA-1, six digits and 30 seconds are what apps assume. Without these fields the QR code is coarser, and so easier to scan.
  return { secret: text, uri: `otpauth://totp/${label}?secret=${text}&issuer=${encodeURIComponent(issuer)}` };
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Base 32 of RFC 4648 without padding, the form in which apps take secrets. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(held >> bits) & 31] ?? "";
    }
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + (alphabet[(held << (5 - bits)) & 31] ?? "");
}

function about(email: string): string {
  return JSON.stringify(["second factor", email]);
}
