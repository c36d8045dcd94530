/** Time-based one-time passwords (RFC 6238): HMAC-SHA1 over the number of the time step, shortened to six digits. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { totpStepMs, totpStepsAround } from "../limits.ts";

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
  // Every step is compared, so that the time tells nothing about which one matches.
  for (let step = totpStep(nowMs) - totpStepsAround; step <= totpStep(nowMs) + totpStepsAround; step++) {
    const expected = Buffer.from(totpCode(secret, step));
    const isEqual = given.length === expected.length && timingSafeEqual(given, expected);
    if (isEqual && step > after) matching = step;
  }
  return matching;
}
