/** Credentials as they are stored: each field sealed by itself, and bound to its workspace, connector and key. */
import type { WorkspaceId } from "../kernel/ids.ts";
import type { SealKey } from "../kernel/seal-key.ts";
import type { Credentials } from "./check-credentials.ts";

export interface Owner {
  workspace: WorkspaceId;
  connector: string;
}

export interface SealedField {
  field: string;
  sealed: Uint8Array;
}

export function sealCredentials(credentials: Credentials, owner: Owner, key: SealKey): SealedField[] {
  return [...credentials].map(([field, value]) => ({ field, sealed: key.seal(Buffer.from(value), about(owner, field)) }));
}

/** @throws SealError when a field was sealed with another key, was changed, or comes from elsewhere */
export function openCredentials(fields: SealedField[], owner: Owner, key: SealKey): Credentials {
  return new Map(fields.map(({ field, sealed }) => [field, Buffer.from(key.open(sealed, about(owner, field))).toString()]));
}

function about({ workspace, connector }: Owner, field: string): string {
  return JSON.stringify([workspace, connector, field]);
}
