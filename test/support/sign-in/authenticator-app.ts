/** What an app for one-time codes does with the secret that it scanned. */
import { totpCode, totpStep } from "../../../src/accounts/second-factor/totp.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** @param secret in base 32 */
export function appCode(secret: string, nowMs: number): string {
  return totpCode(secretBytes(secret), totpStep(nowMs));
}

export function secretBytes(secret: string): Buffer {
  const bits = [...secret].map((digit) => alphabet.indexOf(digit).toString(2).padStart(5, "0")).join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
