import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

/** What a workspace stores: the number of documents, and the characters of all their rows. */
export async function selectUsage(workspace: WorkspaceId, sql: Queries): Promise<{ documents: number; characters: number }> {
  const [row] = await sql<{ documents: number; characters: number }[]>`
    SELECT count(*)::integer AS documents, coalesce(sum(row_characters), 0)::double precision AS characters
    FROM sboms WHERE workspace_id = ${workspace}`;
  return row ?? { documents: 0, characters: 0 };
}

/** When the document at `offset` was stored, counting from the newest after a time; undefined if there are fewer. */
export async function selectStoredAt(
  { workspace, after, offset }: { workspace: WorkspaceId; after: Date; offset: number },
  sql: Queries,
): Promise<Date | undefined> {
  const [row] = await sql<{ at: Date }[]>`
    SELECT created_at AS at FROM sboms WHERE workspace_id = ${workspace} AND created_at > ${after}
    ORDER BY created_at DESC LIMIT 1 OFFSET ${offset}`;
  return row?.at;
}

/** @param sha256 of the document, in hexadecimal */
export async function hasSbom({ workspace, sha256 }: { workspace: WorkspaceId; sha256: string }, sql: Queries): Promise<boolean> {
  const rows = await sql`SELECT 1 FROM sboms WHERE workspace_id = ${workspace} AND sha256 = decode(${sha256}, 'hex') LIMIT 1`;
  return rows.length > 0;
}
