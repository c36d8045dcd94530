import type { Transaction } from "../../backing/backing.ts";
import { sealedBy } from "../../kernel/seal-key.ts";
import { dataKeysAtOnce } from "../limits.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { openAuthenticatorSecret, sealAuthenticatorSecret } from "./authenticator-secret.ts";
import { lockSecondFactors, updateSealed, type ResealedRow } from "./second-factor-store.ts";

/**
 * Seals the secrets of all second factors under the first key of SECRETS_KEY. Part of `secrets rotate`.
 * @returns how many accounts' secrets another key had sealed, and how many were sealed by it already
 * @throws SealError if a key is missing
 */
export async function resealSecondFactors(keyring: Keyring, tx: Transaction): Promise<{ rewrapped: number; unchanged: number }> {
  const result = { rewrapped: 0, unchanged: 0 };
  let after = "";
  for (;;) {
    const rows = await lockSecondFactors({ after, limit: dataKeysAtOnce }, tx);
    const last = rows.at(-1);
    if (!last) return result;
    after = last.email;
    const old = rows.filter((row) => [row.sealed, row.pendingSealed].some((sealed) => !isSealedByFirst(sealed, keyring)));
    result.rewrapped += old.length;
    result.unchanged += rows.length - old.length;
    await updateSealed(
      old.map((row) => resealed(row, keyring)),
      tx,
    );
  }
}

function isSealedByFirst(sealed: Uint8Array | null, keyring: Keyring): boolean {
  return sealed === null || sealedBy(sealed) === keyring.first.id;
}

function resealed({ email, sealed, pendingSealed }: ResealedRow, keyring: Keyring): ResealedRow {
  const again = (bytes: Uint8Array | null) =>
    bytes === null ? null : sealAuthenticatorSecret(openAuthenticatorSecret(bytes, email, keyring), email, keyring);
  return { email, sealed: again(sealed), pendingSealed: again(pendingSealed) };
}
