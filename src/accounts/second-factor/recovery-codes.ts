/** Codes for a lost app. Each has 80 random bits, so a fast digest protects it, and opens the account once. */
import { randomBytes } from "node:crypto";
import { recoveryCodesCount } from "../limits.ts";
import { hashKey } from "../../kernel/ids.ts";
import { base32 } from "./base32.ts";

const codeBytes = 10;

/** Such as `abcd-efgh-2345-ijkl`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodesCount }, () => {
    const text = base32(randomBytes(codeBytes)).toLowerCase();
    return (text.match(/.{4}/g) ?? []).join("-");
  });
}

/** @param typed spaces, hyphens and capitals do not matter @returns null if it has not the form of a code */
export function hashRecoveryCode(typed: string): string | null {
  const text = typed.toLowerCase().replaceAll(/[\s-]/g, "");
  return /^[a-z2-7]{16}$/.test(text) ? hashKey(text) : null;
}
