/**
 * The data key of a workspace. It seals the secrets of the workspace, and the keyring seals the data key. So a rotation of SECRETS_KEY
 * re-seals small keys and never the data.
 *
 * A key is created when it is first needed, and never changes; only the key that seals it does. Each call here reads and opens it anew;
 * callers that need it for every request cache it.
 */
import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { SealKey } from "../../kernel/seal-key.ts";
import type { Keyring } from "./keyring.ts";
import { insertDataKey, selectDataKey, type WrappedKey } from "./store.ts";

export interface DataKeySources {
  sql: Queries;
  keyring: Keyring;
}

/** @returns null if the workspace has none @throws SealError if the keyring cannot open it */
export async function findDataKey(workspace: WorkspaceId, { sql, keyring }: DataKeySources): Promise<SealKey | null> {
  const wrapped = await selectDataKey(workspace, sql);
  return wrapped === undefined ? null : unwrap({ workspace, wrapped }, keyring);
}

/** The workspace's data key, which this creates if there is none; concurrent callers get the same one. @throws SealError */
export async function dataKeyOf(workspace: WorkspaceId, sources: DataKeySources): Promise<SealKey> {
  const found = await findDataKey(workspace, sources);
  if (found) return found;
  await insertDataKey(wrap(workspace, SealKey.random(), sources.keyring), sources.sql);
  const made = await findDataKey(workspace, sources);
  if (!made) throw new Error(`The data key of "${workspace}" was created and cannot be found`);
  return made;
}

export function wrap(workspace: WorkspaceId, key: SealKey, keyring: Keyring): WrappedKey {
  return { workspace, wrapped: keyring.first.seal(key.reveal(), about(workspace)) };
}

/** @throws SealError */
export function unwrap({ workspace, wrapped }: WrappedKey, keyring: Keyring): SealKey {
  return new SealKey(keyring.open(wrapped, about(workspace)));
}

/**
 * What a wrapped key is bound to. With any other text no stored key opens. The last words say how the key seals the fields of connections:
 * each is bound to its connection.
 */
function about(workspace: WorkspaceId): string {
  return JSON.stringify(["data key", workspace, "binds connections"]);
}
