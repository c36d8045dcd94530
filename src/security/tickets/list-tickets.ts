/** The tickets of a workspace, newest first: for members their own, for everyone else those of all members. */
import { Type, type Static } from "@sinclair/typebox";
import type { Actor } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import { ownerSeenBy } from "../../accounts/workspaces/authorize.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import { TicketRow } from "./schema.ts";
import { selectWorkspaceTickets, ticketExists, type WorkspaceTicketFilter } from "./workspace-tickets-store.ts";

export const WorkspaceTicket = Type.Object({
  ...TicketRow.properties,
  owner: Type.String({ description: "E-mail address of the person who logged it" }),
});
export type WorkspaceTicket = Static<typeof WorkspaceTicket>;

/** @throws DomainError not_found for an unknown `before` */
export async function listTickets(
  { actor, before, ...rest }: { actor: Actor; before: string | null; limit: number } & Omit<WorkspaceTicketFilter, "owner">,
  sql: Queries,
): Promise<WorkspaceTicket[]> {
  const owner = ownerSeenBy(actor);
  if (before !== null && !(await ticketExists({ id: before, workspace: rest.workspace, owner }, sql))) {
    throw new DomainError("not_found", `There is no ticket with the id "${before}"`, { field: "before" });
  }
  const rows = await selectWorkspaceTickets({ ...rest, owner, before }, sql);
  return rows.map(({ createdAt, updatedAt, ...ticket }) => ({
    ...ticket,
    created_at: isoTime(createdAt.getTime()),
    updated_at: isoTime(updatedAt.getTime()),
  }));
}
