/** Endpoints for the tickets of a workspace: members see their own, everyone else all of them. Admins set the status. */
import { Type } from "@sinclair/typebox";
import { line } from "../../accounts/workspaces/fields.ts";
import { listRowsMax } from "../../http/limits.ts";
import { ticketRowsDefault } from "../../security/limits.ts";
import { ticketStatuses, ticketTypes } from "../../security/tickets/schema.ts";
import { listTickets, setTicketStatus, showTicket, TicketDetail, WorkspaceTicket } from "../../security/tickets/tickets.ts";
import { listOf, NamedWorkspace, parseRowLimit, rowLimit, wordOf } from "../fields.ts";
import { endpoint } from "../endpoint.ts";

export const ticketEndpoints = {
  list: endpoint({
    method: "GET",
    path: "/tickets",
    command: "ticket list",
    summary: "List the tickets of a workspace, newest first; a member sees their own",
    fields: Type.Object({
      workspace: NamedWorkspace,
      type: Type.Optional(wordOf(ticketTypes, { title: "Only those of this type" })),
      status: Type.Optional(wordOf(ticketStatuses, { title: "Only those of this status" })),
      text: Type.Optional(
        line("a part of a reference or subject", {
          title: "Only those with this text in their reference or subject",
          minLength: 1,
        }),
      ),
      limit: rowLimit({ normal: ticketRowsDefault, max: listRowsMax }),
      before: Type.Optional(line("the id of a ticket", { title: "Only those older than this ticket", minLength: 1 })),
    }),
    view: listOf(WorkspaceTicket),
    async handle({ input: { workspace: named, limit, ...filter }, actors, parts: { sql } }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const { type = null, status = null, text = null, before = null } = filter;
      const rows = parseRowLimit(limit, { normal: ticketRowsDefault, max: listRowsMax });
      return { data: await listTickets({ actor, workspace: workspace.id, type, status, text, limit: rows, before }, sql) };
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/tickets/:id",
    command: "ticket show",
    summary: "Show a ticket with its fields; a member sees their own",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: TicketDetail,
    async handle({ id, input, actors, parts: { sql } }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      return showTicket({ actor, workspace: workspace.id, id }, sql);
    },
  }),
  edit: endpoint({
    method: "PATCH",
    path: "/tickets/:id",
    command: "ticket set",
    summary: "Set the status of a ticket",
    fields: Type.Object({ workspace: NamedWorkspace, status: wordOf(ticketStatuses, { title: "Its new status" }) }),
    view: TicketDetail,
    async handle({ id, input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      return setTicketStatus({ actor, workspace: workspace.id, id, status: input.status }, parts);
    },
  }),
};
