/** The one data key of a workspace: it seals what the workspace stores, and is itself stored sealed by the keyring. */
import type { Queries } from "../backing/backing.ts";
import type { WorkspaceId } from "../kernel/ids.ts";
import { SealKey } from "../kernel/seal-key.ts";
import type { Keyring } from "./keyring.ts";
import { insertDataKey, selectDataKey, type WrappedKey } from "./store.ts";

export interface DataKeySources {
  sql: Queries;
  keyring: Keyring;
}

/** @returns null: the workspace has none yet @throws SealError when the keyring cannot open it */
export async function findDataKey(workspace: WorkspaceId, { sql, keyring }: DataKeySources): Promise<SealKey | null> {
  const wrapped = await selectDataKey(workspace, sql);
  return wrapped === undefined ? null : unwrap({ workspace, wrapped }, keyring);
}

/** The workspace's data key, made where it has none: whoever was first, there is one. @throws SealError */
export async function dataKeyOf(workspace: WorkspaceId, sources: DataKeySources): Promise<SealKey> {
  const found = await findDataKey(workspace, sources);
  if (found) return found;
  await insertDataKey(wrap(workspace, SealKey.random(), sources.keyring), sources.sql);
  const made = await findDataKey(workspace, sources);
  if (!made) throw new Error(`The data key of "${workspace}" was made and is not there`);
  return made;
}

export function wrap(workspace: WorkspaceId, key: SealKey, keyring: Keyring): WrappedKey {
  return { workspace, wrapped: keyring.first.seal(key.reveal(), about(workspace)) };
}

/** @throws SealError */
export function unwrap({ workspace, wrapped }: WrappedKey, keyring: Keyring): SealKey {
  return new SealKey(keyring.open(wrapped, about(workspace)));
}

function about(workspace: WorkspaceId): string {
  return JSON.stringify(["data key", workspace]);
}
