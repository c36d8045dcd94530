/**
 * Seals every data key, second factor and provider's key under the first key of SECRETS_KEY, all or none, for `weir secrets rotate`. The
 * data that data keys seal stays as it is. A missing key stops the rotation, so that it leaves nothing unreadable.
 */
import { Type, type Static } from "@sinclair/typebox";
import { type Actor, authorize, operatorOnly } from "../audit/actor.ts";
import { change, type Sources, changedFields } from "../audit/change.ts";
import type { Transaction } from "../../backing/backing.ts";
import { sealedBy, SealError, type SealKey } from "../../kernel/seal-key.ts";
import { dataKeysAtOnce } from "../limits.ts";
import { DomainError } from "../errors.ts";
import { unwrap, wrap } from "./data-key.ts";
import type { Keyring } from "./keyring.ts";
import { lockDataKeys, updateDataKeys, type WrappedKey } from "./store.ts";

export const Rotation = Type.Object({
  key_id: Type.String({ description: "Id of the key that seals all of them now" }),
  rewrapped: Type.Integer({ description: "How many were sealed by an older key" }),
  unchanged: Type.Integer({ description: "How many that key had sealed already" }),
});
export type Rotation = Static<typeof Rotation>;

interface RotationParts extends Sources {
  keyring: Keyring;
  /** Re-seal what SECRETS_KEY seals directly. They throw SealError if a key is missing. */
  reseals: readonly ((keyring: Keyring, tx: Transaction) => Promise<Pick<Rotation, "rewrapped" | "unchanged">>)[];
}

/**
 * Seals every data key, second factor and provider's key under the first key of SECRETS_KEY, all or none.
 * @throws DomainError conflict if a data key cannot be opened because its key is missing; forbidden except for the operator
 */
export async function rotateSecrets(actor: Actor, { keyring, reseals, ...sources }: RotationParts): Promise<Rotation> {
  authorize(actor, { roles: operatorOnly, action: "rotate secrets" });
  return change(actor, sources, async (tx) => {
    const result: Rotation = { key_id: keyring.first.id, rewrapped: 0, unchanged: 0 };
    let after = "";
    for (;;) {
      const keys = await lockDataKeys({ after, limit: dataKeysAtOnce }, tx);
      const last = keys.at(-1);
      if (!last) break;
      after = last.workspace;
      const rewrapped = await rewrap(keys, keyring, tx);
      result.rewrapped += rewrapped;
      result.unchanged += keys.length - rewrapped;
    }
    for (const reseal of reseals) {
      const others = await reseal(keyring, tx).catch(refuseMissingKey);
      result.rewrapped += others.rewrapped;
      result.unchanged += others.unchanged;
    }
    if (result.rewrapped === 0) return { result, event: null };
    const changes = changedFields({ before: {}, after: { key_id: result.key_id, rewrapped: result.rewrapped } });
    return { result, event: { event: "secrets.rotated", workspace: null, target: result.key_id, changes } };
  });
}

/** @returns how many another key had sealed */
async function rewrap(keys: WrappedKey[], keyring: Keyring, tx: Transaction): Promise<number> {
  const renewed = keys
    .filter(({ wrapped }) => sealedBy(wrapped) !== keyring.first.id)
    .map((stored) => wrap(stored.workspace, opened(stored, keyring), keyring));
  await updateDataKeys(renewed, tx);
  return renewed.length;
}

function opened(key: WrappedKey, keyring: Keyring): SealKey {
  try {
    return unwrap(key, keyring);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    const message = `Cannot open the data key of the workspace "${key.workspace}": ${error.message}`;
    throw new DomainError("conflict", message);
  }
}

/** @throws DomainError conflict */
function refuseMissingKey(error: unknown): never {
  if (!(error instanceof SealError)) throw error;
  throw new DomainError("conflict", `Cannot open a second factor or a provider's key: ${error.message}`);
}
