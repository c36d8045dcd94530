/** The words and fields of tickets in the tools API: types, statuses, what a ticket may be about, and the confirmation. */
import { Type, type Static } from "@sinclair/typebox";
import * as limits from "../limits.ts";
import { lineOf, textField } from "../fields.ts";

export const ticketTypes = ["feedback", "bug", "support"] as const;
export type TicketType = (typeof ticketTypes)[number];

export const ticketStatuses = ["open", "in_progress", "resolved", "closed"] as const;
export type TicketStatus = (typeof ticketStatuses)[number];

const literals = <Word extends string>(words: readonly Word[], description: string) =>
  Type.Unsafe<Word>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      { description },
    ),
  );

const TicketTypeView = literals(ticketTypes, "Type of the ticket");
const TicketStatusView = literals(ticketStatuses, "Status of the ticket");

/** Fields that every ticket may have. */
export const aboutFields = {
  tool_name: Type.Optional(
    lineOf({ title: "Name of the operation that the ticket is about", min: 1, max: limits.toolNameCharactersMax }),
  ),
  context: Type.Optional(
    textField({
      title: "What you were doing, in one sentence, without secrets or personal data",
      max: limits.ticketContextCharactersMax,
    }),
  ),
  attachment_path: Type.Optional(
    lineOf({
      title: "Path of one file of at most 50 MB; read only where the MCP server runs on your machine, over stdio",
      min: 1,
      max: limits.attachmentPathCharactersMax,
    }),
  ),
};

export const ticketText = (title: string) => textField({ title, min: 1, max: limits.ticketTextCharactersMax });

export const Confirmation = Type.Object({
  ticket_id: Type.String({ description: "The ticket's id" }),
  reference: Type.String({ description: "Its reference for people, which is in every email about it" }),
  type: TicketTypeView,
  status: TicketStatusView,
  acknowledgement_email: Type.Union([Type.Literal("queued"), Type.Null()], {
    description: "Whether an email with the reference is sent to the key's owner; null: this type has no email",
  }),
  attachment: Type.Union(
    [
      Type.Object({
        name: Type.String({ description: "Name of the file" }),
        size: Type.Integer({ description: "Its size in bytes" }),
      }),
      Type.Null(),
    ],
    { description: "The attached file; null: none" },
  ),
});
export type Confirmation = Static<typeof Confirmation>;

export const TicketRow = Type.Object({
  id: Type.String({ description: "The ticket's id" }),
  reference: Type.String({ description: "Its reference for people" }),
  type: TicketTypeView,
  subject: Type.String({ description: "Its subject, in one line" }),
  status: TicketStatusView,
  created_at: Type.String({ description: "When it was logged, ISO 8601 in UTC" }),
  updated_at: Type.String({ description: "When it changed last, ISO 8601 in UTC" }),
});
export type TicketRow = Static<typeof TicketRow>;
