import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { TicketStatus, TicketType } from "./schema.ts";
import type { TicketRecord } from "./store.ts";

export interface WorkspaceTicketFilter {
  workspace: WorkspaceId;
  /** null: of everyone. */
  owner: string | null;
  type: TicketType | null;
  status: TicketStatus | null;
}

interface Page {
  /** The id of the ticket before the page; null: the first page. */
  before: string | null;
  limit: number;
}

export type OwnedTicket = TicketRecord & { owner: string };

/** Newest first. @param before a ticket that `ticketExists` has found */
export async function selectWorkspaceTickets(
  { workspace, owner, type, status, before, limit }: WorkspaceTicketFilter & Page,
  sql: Queries,
): Promise<OwnedTicket[]> {
  return sql<OwnedTicket[]>`
    SELECT id, reference, owner_email AS owner, type, subject, status, created_at AS "createdAt", updated_at AS "updatedAt"
    FROM tickets
    WHERE workspace_id = ${workspace}
      ${owner === null ? sql`` : sql`AND owner_email = ${owner}`}
      ${type === null ? sql`` : sql`AND type = ${type}`}
      ${status === null ? sql`` : sql`AND status = ${status}`}
      ${before === null ? sql`` : sql`AND (created_at, id) < (SELECT created_at, id FROM tickets WHERE id = ${before})`}
    ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

export async function ticketExists(
  { id, workspace, owner }: Pick<WorkspaceTicketFilter, "workspace" | "owner"> & { id: string },
  sql: Queries,
): Promise<boolean> {
  const rows = await sql`
    SELECT FROM tickets WHERE id = ${id} AND workspace_id = ${workspace} ${owner === null ? sql`` : sql`AND owner_email = ${owner}`}`;
  return rows.length > 0;
}
