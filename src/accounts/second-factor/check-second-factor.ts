import type { Transaction } from "../../backing/backing.ts";
import type { Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import type { Person } from "../members/principal.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { openAuthenticatorSecret } from "./authenticator-secret.ts";
import { checkedCode, digitsOf } from "./checked-code.ts";
import { hashRecoveryCode } from "./recovery-codes.ts";
import { recordOwnChange } from "../members/record-own-change.ts";
import { deleteRecoveryCode, recordRightCode, selectStatus, type SecondFactorRow } from "./second-factor-store.ts";
import { matchingStep } from "./totp.ts";

type CheckSources = Sources & { keyring: Keyring };

/**
 * Takes a code of the person's app or a recovery code, each once.
 * @returns how many recovery codes are left if it was one; null: it was a code of the app
 * @throws DomainError invalid_field for a wrong or used code; conflict where no second factor is set up; rate_limited
 */
export async function checkSecondFactor(
  { person, code }: { person: Person; code: string },
  { keyring, ...sources }: CheckSources,
): Promise<{ recoveryCodesLeft: number | null }> {
  return checkedCode(person.email, sources, async (row, tx) => {
    const digits = digitsOf(code);
    if (digits === null) return useRecoveryCode({ person, code }, { tx, clock: sources.clock });
    const step = row.sealed === null ? null : stepOf(row, digits, { keyring, nowMs: sources.clock.now() });
    if (step === null) return null;
    await recordRightCode({ email: person.email, step }, tx);
    return { recoveryCodesLeft: null };
  });
}

function stepOf(row: SecondFactorRow, code: string, { keyring, nowMs }: { keyring: Keyring; nowMs: number }): number | null {
  if (row.sealed === null) return null;
  const secret = openAuthenticatorSecret(row.sealed, row.email, keyring);
  return matchingStep(secret, { code, nowMs, after: row.lastStep });
}

async function useRecoveryCode(
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
