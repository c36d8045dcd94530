import type { Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { SealError } from "../../kernel/seal-key.ts";
import type { DataKey } from "../../accounts/secrets/data-key.ts";
import { openField, sealField } from "./sealed-credentials.ts";
import { lockFields, updateFields, type OwnedField } from "./store.ts";

/** Seals every field of the workspace's connections again, bound to its connection. Fields that cannot be opened stay. */
export async function bindConnections(workspace: WorkspaceId, key: DataKey, tx: Transaction): Promise<void> {
  const fields = await lockFields(workspace, tx);
  const bound = fields.map((field) => rebound(field, key));
  await updateFields(
    bound.filter((field) => field !== null),
    tx,
  );
}

function rebound(owned: OwnedField, key: DataKey): OwnedField | null {
  try {
    return { ...owned, sealed: sealField(openField(owned, owned, key), { owner: owned, field: owned.field, key }) };
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}
