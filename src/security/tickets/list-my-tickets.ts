import { Type } from "@sinclair/typebox";
import { isoTime } from "../../kernel/clock.ts";
import { listRowsMax } from "../../http/limits.ts";
import { ticketRowsDefault } from "../limits.ts";
import { oneOf } from "../api/operations/fields.ts";
import { operation, reading } from "../api/operations/operation.ts";
import { listData, pageAnswer, pageFields } from "../api/operations/page.ts";
import { TicketRow, ticketStatuses, ticketTypes } from "./schema.ts";
import { countTickets, selectTickets, type TicketRecord } from "./store.ts";

export const listMyTickets = operation({
  title: "List my tickets",
  description: "Lists the tickets that the owner of the key has logged in this workspace, newest first.",
  annotations: reading,
  addition: true,
  input: Type.Object({
    type: oneOf([...ticketTypes, "all"], { title: "Tickets of this type", normal: "all" }),
    status: oneOf([...ticketStatuses, "all"], { title: "Tickets with this status", normal: "all" }),
    ...pageFields({ normal: ticketRowsDefault, max: listRowsMax }),
  }),
  data: listData("tickets", TicketRow),
  async handle({ input: { type, status, limit, offset }, caller: { workspace, actor }, parts: { sql } }) {
    const filter = {
      workspace,
      owner: actor.email,
      type: type === "all" ? null : type,
      status: status === "all" ? null : status,
    };
    const total = await countTickets(filter, sql);
    const rows = await selectTickets({ ...filter, limit, offset }, sql);
    const hint = total === 0 && status !== "all" ? `. None is ${status}: ask again with the status "all"` : "";
    return {
      data: { tickets: rows.map(viewTicket), ...pageAnswer({ limit, offset }, { total, rows: rows.length }) },
      message: `${rows.length} of ${total} tickets${hint}`,
    };
  },
});

function viewTicket({ createdAt, updatedAt, ...ticket }: TicketRecord): TicketRow {
  return { ...ticket, created_at: isoTime(createdAt.getTime()), updated_at: isoTime(updatedAt.getTime()) };
}
