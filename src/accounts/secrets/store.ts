/** The SQL of sealed data keys. An existing data key of a workspace is never replaced by another one, only sealed again. */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { byteaText } from "../../backing/sql-text.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

/** The sealed data key of a workspace. */
export interface WrappedKey {
  workspace: WorkspaceId;
  wrapped: Uint8Array;
}

export async function selectDataKey(workspace: WorkspaceId, sql: Queries): Promise<Uint8Array | undefined> {
  const [row] = await sql<WrappedKey[]>`SELECT wrapped FROM data_keys WHERE workspace_id = ${workspace}`;
  return row?.wrapped;
}

/** Keeps an existing data key of the workspace. */
export async function insertDataKey({ workspace, wrapped }: WrappedKey, sql: Queries): Promise<void> {
  await sql`
    INSERT INTO data_keys (workspace_id, wrapped) VALUES (${workspace}, ${Buffer.from(wrapped)})
    ON CONFLICT (workspace_id) DO NOTHING`;
}

/** Reads the next data keys in order of workspaces, and locks them until the transaction ends. */
export async function lockDataKeys(
  { after, limit }: { after: WorkspaceId; limit: number },
  tx: Transaction,
): Promise<WrappedKey[]> {
  return tx<WrappedKey[]>`
    SELECT workspace_id AS workspace, wrapped FROM data_keys
    WHERE workspace_id > ${after} ORDER BY workspace_id LIMIT ${limit} FOR UPDATE`;
}

export async function updateDataKeys(keys: WrappedKey[], tx: Transaction): Promise<void> {
  await tx`
    UPDATE data_keys SET wrapped = new.wrapped
    FROM unnest(${keys.map(({ workspace }) => workspace)}::text[],
      ${keys.map(({ wrapped }) => byteaText(wrapped))}::text[]::bytea[]) AS new (workspace, wrapped)
    WHERE data_keys.workspace_id = new.workspace`;
}
