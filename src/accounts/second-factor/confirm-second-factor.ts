import type { Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import { secondFactorPendingMs } from "../limits.ts";
import type { Person } from "../members/principal.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { openAuthenticatorSecret } from "./authenticator-secret.ts";
import { checkedCode, digitsOf } from "./checked-code.ts";
import { hashRecoveryCode, newRecoveryCodes } from "./recovery-codes.ts";
import { recordOwnChange } from "../members/record-own-change.ts";
import { confirmPending } from "./second-factor-store.ts";
import { matchingStep } from "./totp.ts";

/**
 * Puts the new secret into use by its first code, in place of an earlier one and all its recovery codes.
 * @returns ten recovery codes, which are shown only now
 * @throws DomainError invalid_field for a wrong code; conflict where none waits, or it waited too long; rate_limited
 */
export async function confirmSecondFactor(
  { person, code }: { person: Person; code: string },
  { keyring, ...sources }: Sources & { keyring: Keyring },
): Promise<string[]> {
  const { email } = person;
  return checkedCode(email, sources, async (row, tx) => {
    const nowMs = sources.clock.now();
    const digits = digitsOf(code);
    if (row.pendingSealed === null || row.pendingAt === null || digits === null) return null;
    if (nowMs - row.pendingAt.getTime() > secondFactorPendingMs) return null;
    const secret = openAuthenticatorSecret(row.pendingSealed, email, keyring);
    const step = matchingStep(secret, { code: digits, nowMs, after: 0 });
    if (step === null) return null;
    const codes = newRecoveryCodes();
    const hashes = codes.flatMap((one) => hashRecoveryCode(one) ?? []);
    await confirmPending({ email, step, hashes, at: nowMs }, tx);
    const changes = changedFields({
      before: { second_factor: row.sealed === null ? null : "app" },
      after: { second_factor: "app" },
    });
    const event = row.sealed === null ? "account.factor.enabled" : "account.factor.replaced";
    await recordOwnChange({ person, event, changes }, { tx, clock: sources.clock });
    return codes;
  });
}
