/** A stored own key: sealed with the workspace's data key, and bound to its workspace, provider and id. */
import type { OwnKey } from "../../accounts/keys/record.ts";
import { unwrap } from "../../accounts/secrets/data-key.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import { SealError, type SealKey } from "../../kernel/seal-key.ts";
import { Secret } from "../../kernel/secret.ts";

type Owner = Pick<OwnKey, "workspace" | "provider" | "id">;

export function sealOwnKey(secret: Secret, owner: Owner, dataKey: SealKey): Uint8Array {
  return dataKey.seal(Buffer.from(secret.reveal()), about(owner));
}

/** @throws SealError if its data key is missing or needs a key that is not in SECRETS_KEY, or for bytes that were sealed for another use */
export function openOwnKey(key: Pick<OwnKey, "sealed" | "dataKey"> & Owner, keyring: Keyring): Secret {
  if (key.dataKey === null) throw new SealError("The data key of its workspace is missing");
  const dataKey = unwrap({ workspace: key.workspace, wrapped: Buffer.from(key.dataKey, "base64") }, keyring);
  return new Secret(Buffer.from(dataKey.open(Buffer.from(key.sealed, "base64"), about(key))).toString());
}

function about({ workspace, provider, id }: Owner): string {
  return JSON.stringify([workspace, "own_key", provider, id]);
}
