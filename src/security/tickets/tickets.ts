/**
 * The operations that log tickets, and how they are seen: a key's owner sees their own tickets in the key's workspace; in the Console,
 * members see their own and all other roles see everyone's. Admins set the status.
 */
import { Type, type Static } from "@sinclair/typebox";
import { type Actor, authorize, managers, ownerSeenBy } from "../../accounts/audit/actor.ts";
import { change, changedFields, type Sources } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import { nameCharactersMax } from "../../accounts/limits.ts";
import type { Queries } from "../../backing/backing.ts";
import { listRowsMax } from "../../http/limits.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { shortened } from "../../kernel/text.ts";
import { lineOf, choiceField, textField, optionalNumber, listData, pageAnswer, pageFields } from "../fields.ts";
import { type Annotations, operation, reading } from "../operation.ts";
import { ticketTextCharactersMax, feedbackRatingMax, ticketRowsDefault } from "../limits.ts";
import { logTicket } from "./log-ticket.ts";
import { aboutFields, Confirmation, ticketText, TicketRow, ticketStatuses, type TicketStatus, ticketTypes } from "./schema.ts";
import * as store from "./store.ts";

/** The annotations of operations that log a ticket: people outside the service read it, and it deletes nothing. */
const ticketAnnotations: Annotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};

export const reportBug = operation({
  title: "Report a bug",
  description:
    "Reports a bug with what you expected and what happened instead. It logs a ticket, which list_my_tickets shows, and sends an e-mail " +
    "with the reference to the owner of the key.",
  annotations: ticketAnnotations,
  input: Type.Object({
    title: Type.Optional(lineOf({ title: "The bug in one line", min: 1, max: nameCharactersMax })),
    expected_behavior: ticketText("What should have happened"),
    actual_behavior: ticketText("What happened instead"),
    steps_to_reproduce: Type.Optional(textField({ title: "How to see it happen", max: ticketTextCharactersMax })),
    severity: choiceField(["low", "medium", "high", "critical"], { title: "How much it hurts", normal: "medium" }),
    ...aboutFields,
  }),
  data: Confirmation,
  handle(call) {
    const { title, actual_behavior: happened } = call.input;
    return logTicket({ type: "bug", subject: title ?? subjectOf(happened), text: happened }, call);
  },
});

export const submitFeedback = operation({
  title: "Submit feedback",
  description:
    "Sends feedback, a wish, praise or a complaint to the operators of this service. It logs a ticket, and sends an e-mail with the " +
    "reference to the owner of the key.",
  annotations: ticketAnnotations,
  input: Type.Object({
    message: ticketText("What you want to say"),
    type: choiceField(["feedback", "feature_request", "praise", "complaint"], {
      title: "What kind of feedback it is",
      normal: "feedback",
    }),
    rating: Type.Optional(optionalNumber({ title: "Your rating; 5 is best", min: 1, max: feedbackRatingMax })),
    ...aboutFields,
  }),
  data: Confirmation,
  handle: (call) => logTicket({ type: "feedback", subject: subjectOf(call.input.message), text: call.input.message }, call),
});

export const createSupportRequest = operation({
  title: "Create a support request",
  description: "Asks the operators of this service for help. It logs a ticket, which list_my_tickets shows.",
  annotations: ticketAnnotations,
  addition: true,
  input: Type.Object({
    subject: lineOf({ title: "What you need help with, in one line", min: 1, max: nameCharactersMax }),
    message: ticketText("What you need, and what you have tried"),
    priority: choiceField(["low", "normal", "high", "urgent"], { title: "How soon you need it", normal: "normal" }),
    ...aboutFields,
  }),
  data: Confirmation,
  handle: (call) => logTicket({ type: "support", subject: call.input.subject, text: call.input.message }, call),
});

export const listMyTickets = operation({
  title: "List my tickets",
  description: "Lists the tickets that the owner of the key has logged in this workspace, newest first.",
  annotations: reading,
  addition: true,
  input: Type.Object({
    type: choiceField([...ticketTypes, "all"], { title: "Tickets of this type", normal: "all" }),
    status: choiceField([...ticketStatuses, "all"], { title: "Tickets with this status", normal: "all" }),
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
    const total = await store.countTickets(filter, sql);
    const rows = await store.selectTickets({ ...filter, limit, offset }, sql);
    const hint = total === 0 && status !== "all" ? `. None is ${status}: ask again with the status "all"` : "";
    return {
      data: { tickets: rows.map(viewTicket), ...pageAnswer({ limit, offset }, { total, rows: rows.length }) },
      message: `${rows.length} of ${total} tickets${hint}`,
    };
  },
});

export const WorkspaceTicket = Type.Object({
  ...TicketRow.properties,
  owner: Type.String({ description: "E-mail address of the person who logged it" }),
});
export type WorkspaceTicket = Static<typeof WorkspaceTicket>;

/** The tickets of a workspace, newest first. @throws DomainError not_found for an unknown `before` */
export async function listTickets(
  { actor, before, ...rest }: { actor: Actor; before: string | null; limit: number } & Omit<store.WorkspaceTicketFilter, "owner">,
  sql: Queries,
): Promise<WorkspaceTicket[]> {
  const owner = ownerSeenBy(actor);
  if (before !== null && !(await store.ticketExists({ id: before, workspace: rest.workspace, owner }, sql))) {
    throw new DomainError("not_found", `There is no ticket with the id "${before}"`, { field: "before" });
  }
  const rows = await store.selectWorkspaceTickets({ ...rest, owner, before }, sql);
  return rows.map(({ createdAt, updatedAt, ...ticket }) => ({
    ...ticket,
    created_at: isoTime(createdAt.getTime()),
    updated_at: isoTime(updatedAt.getTime()),
  }));
}

export const TicketDetail = Type.Object({
  ...WorkspaceTicket.properties,
  details: Type.Record(Type.String(), Type.Unknown(), { description: "The fields as they were sent, without the attachment" }),
});
type TicketDetail = Static<typeof TicketDetail>;

interface Named {
  actor: Actor;
  workspace: WorkspaceId;
  id: string;
}

/** @throws DomainError not_found, also for a member who does not own it */
export async function showTicket({ actor, workspace, id }: Named, sql: Queries): Promise<TicketDetail> {
  const row = await store.selectTicket({ id, workspace, owner: ownerSeenBy(actor) }, sql);
  if (row === undefined) throw noTicket(id);
  const { createdAt, updatedAt, ...ticket } = row;
  return { ...ticket, created_at: isoTime(createdAt.getTime()), updated_at: isoTime(updatedAt.getTime()) };
}

/** @throws DomainError not_found; forbidden except for admins and the operator */
export async function setTicketStatus(
  { status, ...named }: Named & { status: TicketStatus },
  sources: Sources,
): Promise<TicketDetail> {
  const { actor, workspace, id } = named;
  authorize(actor, { roles: managers, action: "change a ticket" });
  return change(actor, sources, async (tx) => {
    const before = await store.lockTicketStatus({ id, workspace }, tx);
    if (before === undefined) throw noTicket(id);
    if (before === status) return { result: await showTicket(named, tx), event: null };
    await store.updateTicketStatus({ id, status, at: new Date(sources.clock.now()) }, tx);
    const changes = changedFields({ before: { status: before }, after: { status } });
    return { result: await showTicket(named, tx), event: { event: "ticket.updated", workspace, target: id, changes } };
  });
}

function noTicket(id: string): DomainError {
  return new DomainError("not_found", `There is no ticket with the id "${id.slice(0, 100)}"`);
}

const subjectCharactersMax = 80;

/** The beginning of a text as one line, cut at the end of a word. */
function subjectOf(text: string): string {
  return shortened(text, subjectCharactersMax);
}

function viewTicket({ createdAt, updatedAt, ...ticket }: store.TicketRecord): TicketRow {
  return { ...ticket, created_at: isoTime(createdAt.getTime()), updated_at: isoTime(updatedAt.getTime()) };
}
