/**
 * Codes for a lost app. Each has 80 random bits, so a fast digest protects it. Each works once. Spaces, hyphens and case of a typed code do
 * not matter.
 */
import { randomBytes } from "node:crypto";
import type { Transaction } from "../../backing/backing.ts";
import { hashKey } from "../../kernel/ids.ts";
import { type Sources, changedFields } from "../audit/change.ts";
import { recoveryCodesCount } from "../limits.ts";
import { recordOwnChange } from "../members/accounts.ts";
import type { Person } from "../members/principal.ts";
import { base32 } from "./totp.ts";
import { deleteRecoveryCode, recordRightCode, selectStatus } from "./store.ts";

const codeBytes = 10;

/** Such as `abcd-efgh-2345-ijkl`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodesCount }, () => {
    const text = base32(randomBytes(codeBytes)).toLowerCase();
    return (text.match(/.{4}/g) ?? []).join("-");
  });
}

/** @param typed spaces, hyphens and case do not matter @returns null if it does not have the form of a code */
export function hashRecoveryCode(typed: string): string | null {
  const text = typed.toLowerCase().replaceAll(/[\s-]/g, "");
  return /^[a-z2-7]{16}$/.test(text) ? hashKey(text) : null;
}

/** Uses up a recovery code. @returns how many are left; null: the person has no such code */
export async function useRecoveryCode(
  { person, code }: { person: Person; code: string },
  { tx, clock }: { tx: Transaction; clock: Sources["clock"] },
): Promise<{ recoveryCodesLeft: number } | null> {
  const hash = hashRecoveryCode(code);
  if (hash === null || !(await deleteRecoveryCode({ email: person.email, hash }, tx))) return null;
  await recordRightCode({ email: person.email, step: null }, tx);
  const { recoveryCodesLeft } = await selectStatus(person.email, tx);
  const changes = changedFields({
    before: { recovery_codes: recoveryCodesLeft + 1 },
    after: { recovery_codes: recoveryCodesLeft },
  });
  await recordOwnChange({ person, event: "account.recovery.used", changes }, { tx, clock });
  return { recoveryCodesLeft };
}
