/** Stored credentials: each field is sealed separately, and bound to its workspace, connection, connector and field key. */
import type { WorkspaceId } from "../../kernel/ids.ts";
import { SealError } from "../../kernel/seal-key.ts";
import type { DataKey } from "../../accounts/secrets/data-key.ts";
import type { Credentials } from "./check-credentials.ts";

export interface Owner {
  workspace: WorkspaceId;
  /** Of the connection. */
  id: string;
  connector: string;
}

export interface SealedField {
  field: string;
  sealed: Uint8Array;
}

export function sealCredentials(credentials: Credentials, owner: Owner, key: DataKey): SealedField[] {
  return [...credentials].map(([field, value]) => ({ field, sealed: sealField(value, { owner, field, key }) }));
}

export function sealField(value: string, { owner, field, key }: { owner: Owner; field: string; key: DataKey }): Uint8Array {
  return key.seal(Buffer.from(value), about(owner, field));
}

/** @throws SealError for a field that was sealed with another key, changed, or copied from elsewhere */
export function openCredentials(fields: SealedField[], owner: Owner, key: DataKey): Credentials {
  return new Map(fields.map((sealed) => [sealed.field, openField(sealed, owner, key)]));
}

/** @throws SealError */
export function openField({ field, sealed }: SealedField, owner: Owner, key: DataKey): string {
  try {
    return Buffer.from(key.open(sealed, about(owner, field))).toString();
  } catch (error) {
    if (key.bindsConnections || !(error instanceof SealError)) throw error;
    return Buffer.from(key.open(sealed, aboutConnector(owner, field))).toString();
  }
}

function about({ workspace, id, connector }: Owner, field: string): string {
  return JSON.stringify([workspace, connector, field, id]);
}

/** The binding of earlier versions, under which two connections of one connector could exchange fields. */
function aboutConnector({ workspace, connector }: Owner, field: string): string {
  return JSON.stringify([workspace, connector, field]);
}
