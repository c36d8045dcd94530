import { Type } from "@sinclair/typebox";
import { nameCharactersMax } from "../../accounts/limits.ts";
import { lineOf, oneOf } from "../api/operations/fields.ts";
import { operation } from "../api/operations/operation.ts";
import { ticketAnnotations } from "./ticket-annotations.ts";
import { logTicket } from "./log-ticket.ts";
import { aboutFields, Confirmation, ticketText } from "./schema.ts";

export const createSupportRequest = operation({
  title: "Create a support request",
  description: "Asks the operators of this service for help. It logs a ticket, which list_my_tickets shows.",
  annotations: ticketAnnotations,
  addition: true,
  input: Type.Object({
    subject: lineOf({ title: "What you need help with, in one line", min: 1, max: nameCharactersMax }),
    message: ticketText("What you need, and what you have tried"),
    priority: oneOf(["low", "normal", "high", "urgent"], { title: "How soon you need it", normal: "normal" }),
    ...aboutFields,
  }),
  data: Confirmation,
  handle: (call) => logTicket({ type: "support", subject: call.input.subject, text: call.input.message }, call),
});
