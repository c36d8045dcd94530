import { Type } from "@sinclair/typebox";
import { nameCharactersMax } from "../../accounts/limits.ts";
import { ticketTextCharactersMax } from "../limits.ts";
import { lineOf, oneOf, text } from "../api/operations/fields.ts";
import { operation } from "../api/operations/operation.ts";
import { ticketAnnotations } from "./ticket-annotations.ts";
import { logTicket } from "./log-ticket.ts";
import { aboutFields, Confirmation, ticketText } from "./schema.ts";
import { subjectOf } from "./subject.ts";

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
    steps_to_reproduce: Type.Optional(text({ title: "How to see it happen", max: ticketTextCharactersMax })),
    severity: oneOf(["low", "medium", "high", "critical"], { title: "How much it hurts", normal: "medium" }),
    ...aboutFields,
  }),
  data: Confirmation,
  handle(call) {
    const { title, actual_behavior: happened } = call.input;
    return logTicket({ type: "bug", subject: title ?? subjectOf(happened), text: happened }, call);
  },
});
