/**
 * The data key of a workspace. It seals the secrets of the workspace, and the keyring seals the data key. So a rotation of SECRETS_KEY
 * seals small keys anew and never the data. A key is created when it is first needed; concurrent callers get the same one.
 */
import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { SealError, SealKey } from "../../kernel/seal-key.ts";
import type { Keyring } from "./keyring.ts";
import { insertDataKey, selectDataKey, type WrappedKey } from "./store.ts";

/** A data key, and a fact about all that it sealed. */
export class DataKey extends SealKey {
  /**
   * Whether every field of a connection is bound to its connection. Earlier versions bound fields only to the connector, until
   * `secrets rotate` seals them again. The seal of the key itself includes this flag, so that an attacker who writes to the database
   * cannot restore the old state.
   */
  readonly bindsConnections: boolean;

  constructor(bytes: Uint8Array, { bindsConnections }: { bindsConnections: boolean }) {
    super(bytes);
    this.bindsConnections = bindsConnections;
  }
}

export interface DataKeySources {
  sql: Queries;
  keyring: Keyring;
}

/** @returns null if the workspace has none @throws SealError if the keyring cannot open it */
export async function findDataKey(workspace: WorkspaceId, { sql, keyring }: DataKeySources): Promise<DataKey | null> {
  const wrapped = await selectDataKey(workspace, sql);
  return wrapped === undefined ? null : unwrap({ workspace, wrapped }, keyring);
}

/** The workspace's data key, which this creates if there is none; concurrent callers get the same one. @throws SealError */
export async function dataKeyOf(workspace: WorkspaceId, sources: DataKeySources): Promise<DataKey> {
  const found = await findDataKey(workspace, sources);
  if (found) return found;
  await insertDataKey(wrap(workspace, newDataKey(), sources.keyring), sources.sql);
  const made = await findDataKey(workspace, sources);
  if (!made) throw new Error(`The data key of "${workspace}" was created and cannot be found`);
  return made;
}

export function wrap(workspace: WorkspaceId, key: DataKey, keyring: Keyring): WrappedKey {
  return { workspace, wrapped: keyring.first.seal(key.reveal(), about(workspace, key.bindsConnections)) };
}

/** @throws SealError */
export function unwrap({ workspace, wrapped }: WrappedKey, keyring: Keyring): DataKey {
  try {
    return new DataKey(keyring.open(wrapped, about(workspace, true)), { bindsConnections: true });
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return new DataKey(keyring.open(wrapped, about(workspace, false)), { bindsConnections: false });
  }
}

function newDataKey(): DataKey {
  return new DataKey(SealKey.random().reveal(), { bindsConnections: true });
}

function about(workspace: WorkspaceId, bindsConnections: boolean): string {
  return JSON.stringify(["data key", workspace, ...(bindsConnections ? ["binds connections"] : [])]);
}
